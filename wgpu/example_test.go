package wgpu_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lathe-gpu/lathe/wgpu"
)

// Open takes the best device of this backend. To have another backend where there is none, use
// lathe.Open.
func ExampleOpen() {
	dev, err := wgpu.Open(context.Background(), wgpu.Options{})
	if err != nil {
		log.Fatal(err) // it says what was looked for, and how to get a device
	}
	defer dev.Close()
	fmt.Println(dev.Info().Name)
}
