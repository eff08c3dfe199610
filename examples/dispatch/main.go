// Dispatch runs a compute shader of one's own, saxpy.comp, which computes y = a·x + y:
//
//	go run ./examples/dispatch
//
// docs/own-shaders.md explains it.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"

	"github.com/lathe-gpu/lathe"
)

//go:generate glslc saxpy.comp -o saxpy.spv

//go:embed saxpy.spv
var code []byte

// params are the push constants: the members of the shader's block, in its order.
type params struct {
	n uint32
	a float32
}

func main() {
	log.SetFlags(0)
	ctx := context.Background()
	dev, err := lathe.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	y, err := saxpy(ctx, dev, 2, []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(y) // [12 24 36 48]
}

// saxpy returns a·x + y, computed by the shader.
func saxpy(ctx context.Context, dev *lathe.Device, a float32, x, y []float32) ([]float32, error) {
	kernel, err := dev.LoadKernel(code) // once; it can run many times
	if err != nil {
		return nil, err
	}
	tx, err := lathe.FromSlice(ctx, dev, x)
	if err != nil {
		return nil, err
	}
	ty, err := lathe.FromSlice(ctx, dev, y)
	if err != nil {
		return nil, err
	}
	n := len(x)
	if err := kernel.Run(ctx, []int{n}, params{uint32(n), a}, tx, ty); err != nil {
		return nil, err
	}
	return lathe.ToSlice[float32](ctx, ty)
}
