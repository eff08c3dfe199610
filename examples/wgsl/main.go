// Wgsl runs a compute shader that is written in WGSL, saxpy.wgsl, which computes
// y = a·x + y. A compiler in pure Go makes SPIR-V of it when the program runs:
//
//	go run -C examples/wgsl .
//
// It is a module of its own, so that Lathe does not require the compiler.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"

	"github.com/gogpu/naga"
	"github.com/lathe-gpu/lathe"
)

//go:embed saxpy.wgsl
var source string

// params are the push constants: the members of the shader's struct, in its order.
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
	code, err := naga.Compile(source)
	if err != nil {
		return nil, err
	}
	kernel, err := dev.LoadKernel(code)
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
