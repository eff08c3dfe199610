package ops_test

import (
	"bytes"
	"testing"

	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestConcatOfManyInputs joins more inputs than a plan ever has outputs or scratch
// buffers, so that a mistaken number of an operand shows.
func TestConcatOfManyInputs(t *testing.T) {
	const inputs, each = 1001, 3
	dev := device(t)
	r := runner(t, dev)
	var want []byte
	var in []exec.Operand
	for i := range inputs {
		data := []byte{byte(i), byte(i >> 8), 0xaa}
		want = append(want, data...)
		in = append(in, exec.Operand{Buffer: testgpu.Load(t, dev, data), Desc: tensor.Contiguous(tensor.U8, each)})
	}
	out := exec.Operand{Buffer: testgpu.Load(t, dev, make([]byte, inputs*each)), Desc: tensor.Contiguous(tensor.U8, inputs*each)}
	if err := r.Run(t.Context(), ops.Concat{}, in, []exec.Operand{out}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, inputs*each)
	if err := r.Read(t.Context(), out.Buffer, 0, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the output is not the inputs one after the other")
	}
}
