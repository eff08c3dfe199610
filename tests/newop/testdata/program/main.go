// A user's program, which calls the operations of testdata by the methods that
// tools/genapi writes for them.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/backend"
)

// Package backend has a method for each operation, those on pictures too.
var (
	_ func(d *backend.Device, in, out backend.TensorHandle) error              = (*backend.Device).Cube
	_ func(d *backend.Device, in, out backend.TensorHandle, dims ...int) error = (*backend.Device).ReduceSquareTotal
	_ func(d *backend.Device, in, out backend.TensorHandle) error              = (*backend.Device).Box
)

func main() {
	ctx := context.Background()
	dev := must(lathe.Open(ctx))
	defer dev.Close()
	x := must(lathe.FromSlice(ctx, dev, []float32{1, -3, 2}))
	cubes := must(dev.Cube(x))
	total := must(dev.ReduceSquareTotal(cubes))
	fmt.Println(must(lathe.ToSlice[float32](ctx, cubes)), must(lathe.ToSlice[float32](ctx, total)))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
