package convolution_test

import (
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPointwiseBias plans convolutions 1×1 with a bias for a CPU driver. The kernels of products add it, unless they make one
// row at a time, or there are several groups. It is then written to the result first.
func TestPointwiseBias(t *testing.T) {
	target := &spec.Target{
		CPU: true, MaxBinding: 1 << 30, MaxTexels: 1 << 26, OffsetAlign: 16, TexelAlign: 16, TexelBuffers: true,
		MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024,
	}
	for _, c := range []struct {
		batch, in, out, group, side int
		last                        string // kernel of the last step
		steps                       int
	}{
		{1, 256, 64, 1, 56, "blas/matmul_panel.f32.wide.bias", 1},
		{3, 256, 256, 1, 8, "blas/matmul_panel.f32.tall.bias", 1},
		{2, 16, 12, 1, 6, "blas/matmul_panel.f32.bias", 1},
		{1, 16, 4, 1, 8, "blas/matmul_panel.f32.row.add", 3},
		{1, 64, 32, 2, 8, "blas/matmul_panel.f32.add", 3},
	} {
		call := spec.WithDefaults(ops.Conv{Group: c.group})
		in := []tensor.Desc{
			tensor.Contiguous(tensor.F32, c.batch, c.in, c.side, c.side), tensor.Contiguous(tensor.F32, c.out, c.in/c.group, 1, 1), tensor.Contiguous(tensor.F32, c.out),
		}
		out, err := call.Spec().Shape(call, in)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := call.Spec().Plan(call, target, in, out)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range plan.Steps {
			names = append(names, s.Name())
		}
		if len(names) != c.steps || !slices.Contains(names, c.last) || names[len(names)-1] != c.last {
			t.Errorf("%+v: steps %q", c, names)
		}
	}
}
