package gpu_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
)

// Any SPIR-V runs on any device. This shader computes y = a·x + y (shaders/demo/saxpy.comp).
func ExampleDispatchCompute() {
	ctx := context.Background()
	dev, err := cpu.Open(cpu.Options{NoCache: true})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	code, err := os.ReadFile("../internal/extra/demo/saxpy.f32.spv")
	if err != nil {
		log.Fatal(err)
	}
	var buffers []gpu.Handle
	for _, v := range []float32{3, 100} {
		h, err := dev.Alloc(4)
		if err != nil {
			log.Fatal(err)
		}
		if err := dev.Write(ctx, h, 0, binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))); err != nil {
			log.Fatal(err)
		}
		buffers = append(buffers, h)
	}
	push := binary.LittleEndian.AppendUint32(nil, 1)                             // uint n
	push = binary.LittleEndian.AppendUint32(push, math.Float32bits(2))           // float a
	err = gpu.DispatchCompute(ctx, dev, code, buffers, push, [3]uint32{1, 1, 1}) // one workgroup
	if err != nil {
		log.Fatal(err)
	}
	y := make([]byte, 4)
	err = dev.Read(ctx, buffers[1], 0, y) // waits
	fmt.Println(math.Float32frombits(binary.LittleEndian.Uint32(y)), err)
	// Output:
	// 106 <nil>
}
