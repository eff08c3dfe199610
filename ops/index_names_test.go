package ops_test

import (
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestIndexErrorsNameOperands gives operations an index that is out of range, and reads in the error which operation and which operand it was, and what the
// index is and may be.
func TestIndexErrorsNameOperands(t *testing.T) {
	f := func(shape ...int) tensor.Desc { return tensor.Contiguous(tensor.F32, shape...) }
	i := func(shape ...int) tensor.Desc { return tensor.Contiguous(tensor.I32, shape...) }
	cases := []struct {
		call    spec.Call
		in      []tensor.Desc
		indices int // the number of the input
		names   string
		range_  string
	}{
		{ops.Embedding{}, []tensor.Desc{i(3), f(50, 4)}, 0, "embedding: indices: ", "0 to 49"},
		{ops.Embedding{}, []tensor.Desc{i(3001), f(50, 4)}, 0, "embedding: indices: ", "0 to 49"},
		{ops.Gather{Axis: 0}, []tensor.Desc{f(7, 5), i(3)}, 1, "gather: indices: ", "-7 to 6"},
		{ops.Gather{Axis: 1}, []tensor.Desc{f(7, 5), i(3)}, 1, "gather: indices: ", "-5 to 4"},
		{ops.GatherElements{Axis: 1}, []tensor.Desc{f(7, 5), i(7, 2)}, 1, "gather_elements: indices: ", "-5 to 4"},
		{ops.TensorScatter{Axis: -2}, []tensor.Desc{f(2, 9, 3), f(2, 4, 3), i(2)}, 2, "tensor_scatter: write_indices: ", "0 to 5"},
		{ops.RotaryEmbedding{}, []tensor.Desc{f(3, 4), i(3), f(11, 2), f(11, 2)}, 1, "rotary_embedding: position_ids: ", "0 to 10"},
		{ops.ScatterAdd{Size: 6}, []tensor.Desc{i(3), f(3, 2)}, 0, "scatter_add: indices: ", "-6 to 5"},
	}
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range cases {
			var in []exec.Operand
			for k, d := range c.in {
				h := tensor.NewHost(d)
				if values := make([]float64, d.Elems()); k == c.indices {
					values[1] = 1000
					h.SetFloats(values)
				}
				in = append(in, exec.Operand{Buffer: testgpu.Load(t, dev, h.Data), Desc: d})
			}
			shapes, err := c.call.Spec().Shape(c.call, c.in)
			if err != nil {
				t.Fatal(err)
			}
			out := exec.Operand{Buffer: testgpu.Load(t, dev, make([]byte, shapes[0].Bytes())), Desc: shapes[0]}
			if err := r.Run(t.Context(), c.call, in, []exec.Operand{out}); err != nil {
				t.Fatal(err)
			}
			err = r.Sync(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.names) || !strings.Contains(err.Error(), "index 1000 at position 1 (want "+c.range_+")") {
				t.Errorf("%v: %v (want it to name %q, and %s)", spec.FormatCall(c.call), err, c.names, c.range_)
			}
		}
	})
}
