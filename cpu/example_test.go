package cpu_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lathe-gpu/lathe/cpu"
)

// A device holds buffers and runs shaders. This one needs no driver.
func Example() {
	ctx := context.Background()
	dev, err := cpu.Open(cpu.Options{NoCache: true})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	h, err := dev.Alloc(8) // zeros
	if err != nil {
		log.Fatal(err)
	}
	if err := dev.Write(ctx, h, 2, []byte{1, 2, 3}); err != nil {
		log.Fatal(err)
	}
	data := make([]byte, 8)
	fmt.Println(dev.Read(ctx, h, 0, data), data)
	// Output:
	// <nil> [0 0 1 2 3 0 0 0]
}
