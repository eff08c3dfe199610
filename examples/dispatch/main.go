// Dispatch runs a compute shader of one's own. Any SPIR-V will do, from any
// compiler; this one computes y = a·x + y (shaders/demo/saxpy.comp):
//
//	go run ./examples/dispatch internal/extra/demo/saxpy.f32.spv
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/tensor"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: dispatch file.spv")
	}
	spirv, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	y, err := saxpy(context.Background(), spirv, 2, []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(y) // [12 24 36 48]
}

// saxpy returns a·x + y, computed by the shader.
func saxpy(ctx context.Context, spirv []byte, a float32, x, y []float32) ([]float32, error) {
	dev, err := lathe.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer dev.Close()

	var bindings []*lathe.Tensor // binding i of the shader is tensor i
	for _, values := range [][]float32{x, y} {
		t, err := dev.NewTensor(tensor.Contiguous(tensor.F32, len(values)))
		if err != nil {
			return nil, err
		}
		if err := dev.Write(ctx, t, encode(values)); err != nil {
			return nil, err
		}
		bindings = append(bindings, t)
	}

	// The push-constant block, as the shader declares it: uint n; float a.
	push := binary.LittleEndian.AppendUint32(nil, uint32(len(x)))
	push = binary.LittleEndian.AppendUint32(push, math.Float32bits(a))

	// 64 invocations a workgroup, so that many groups for n elements.
	groups := [3]uint32{uint32(len(x)+63) / 64, 1, 1}
	if err := dev.DispatchCompute(ctx, spirv, bindings, push, groups); err != nil {
		return nil, err
	}
	result, err := dev.Read(ctx, bindings[1])
	return decode(result), err
}

func encode(values []float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func decode(b []byte) []float32 {
	values := make([]float32, len(b)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return values
}
