package conformance_test

import (
	"math"
	"slices"
	"testing"

	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestTraits compares the traits of operations with what the operations do.
func TestTraits(t *testing.T) {
	onnx := map[string]string{}
	for _, op := range spec.All() {
		for _, name := range op.ONNX {
			if other := onnx[name]; other != "" {
				t.Errorf("%s and %s both say that they are %s of ONNX", other, op.Name, name)
			}
			onnx[name] = op.Name
		}
		for _, a := range op.Attrs() {
			if a.ONNX != "" && len(op.ONNX) == 0 && op.Name != "rms_norm" {
				t.Errorf("%s: attribute %s has a name in ONNX, and the operation has none", op.Name, a.Name)
			}
		}
		for _, a := range op.Out {
			for _, in := range a.InPlace {
				if in < 0 || in >= len(op.In) {
					t.Errorf("%s: output %s may overwrite input %d, of %d", op.Name, a.Name, in, len(op.In))
				}
			}
		}
		for _, a := range op.In {
			if len(a.InPlace) > 0 {
				t.Errorf("%s: input %s overwrites something", op.Name, a.Name)
			}
		}
		if (op.Strategies == nil) != (op.SizeClass == nil) {
			t.Errorf("%s: strategies and size classes go together", op.Name)
		}
		if op.Class == spec.Elementwise && op.Scalar == nil && len(op.Out) == 1 && len(op.In) > 0 && op.Group == "math" {
			t.Errorf("%s is elementwise and has no scalar function", op.Name)
		}
		if op.Scalar != nil {
			checkScalar(t, op)
		}
	}
}

// checkScalar compares an operation's scalar function with its reference.
func checkScalar(t *testing.T, op *spec.Op) {
	t.Helper()
	d := op.Cases.DTypes[0]
	values := []float64{0.5, 1, 2, 3.25, math.Inf(1), math.NaN()}
	in, x := make([]*tensor.Host, len(op.In)), make([]float64, len(op.In))
	for i := range in {
		in[i] = tensor.NewHost(tensor.Contiguous(d, len(values)))
		turned := slices.Concat(values[i%len(values):], values[:i%len(values)])
		in[i].SetFloats(turned)
	}
	out := tensor.NewHost(tensor.Contiguous(d, len(values)))
	op.Reference(op.Defaults, in, []*tensor.Host{out})
	got := out.Floats()
	for k := range values {
		for i := range in {
			x[i] = in[i].Floats()[k]
		}
		stored := tensor.NewHost(tensor.Contiguous(d, 1))
		stored.SetFloats([]float64{op.Scalar(op.Defaults, x)})
		// The reference rounds attributes to F32, as the kernels have them.
		if want := stored.Floats()[0]; got[k] != want && !(math.Abs(got[k]-want) <= 0x1p-22*math.Abs(want)) && !(math.IsNaN(got[k]) && math.IsNaN(want)) {
			t.Errorf("%s of %v: the scalar function gives %v, the reference %v", op.Name, x, want, got[k])
		}
	}
}
