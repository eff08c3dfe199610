package guard_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
)

// A device in a guard is used as any other. Sync says whether a shader has written outside of its
// buffers.
func Example() {
	ctx := context.Background()
	inner, err := cpu.Open(cpu.Options{NoCache: true})
	if err != nil {
		log.Fatal(err)
	}
	dev := guard.New(inner) // lathe.WithGPU(dev) makes a lathe.Device of it
	defer dev.Close()

	h, err := dev.Alloc(4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dev.Poison(ctx, h)) // what no shader writes stays NaN
	data := make([]byte, 4)
	fmt.Println(dev.Read(ctx, h, 0, data), data)
	fmt.Println(errors.Is(dev.Sync(ctx), guard.ErrViolated))
	// Output:
	// <nil>
	// <nil> [255 255 255 255]
	// false
}
