package backend_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"

	"github.com/lathe-gpu/lathe/backend"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/value"
)

// A language runtime names tensors by handles, and operations by text.
func Example() {
	ctx := context.Background()
	dev, err := cpu.Open(cpu.Options{NoCache: true})
	if err != nil {
		log.Fatal(err)
	}
	b, err := backend.New(dev) // backend.Open opens a device by the name of its backend
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()

	x, err := b.AllocTensor([]int{4}, tensor.I32)
	if err != nil {
		log.Fatal(err)
	}
	var data []byte
	for _, v := range []uint32{10, 20, 30, 40} {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	if err := b.WriteTensor(ctx, x, data); err != nil {
		log.Fatal(err)
	}
	out, err := b.Call("reduce_sum", backend.Attributes{"dims": value.Array(value.Integer(0))}, x)
	if err != nil {
		log.Fatal(err)
	}
	sum, err := b.ReadTensor(ctx, out[0])
	fmt.Println(binary.LittleEndian.Uint32(sum), err)
	// Output:
	// 100 <nil>
}
