package reduction_test

import (
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/vk"
)

// squares is a call of a sum of squares.
type squares struct{ Dims []int }

func (squares) Spec() *spec.Op { return squaresOp }

// squaresOp is not registered, because nn/rms_norm_stat only has kernels for rows. The calls
// below launch no others.
var squaresOp = ownKernels(reduction.Define(reduction.Reduction[squares]{
	Name: "squares", Shader: "nn/rms_norm_stat", Combine: "reduce/reduce_sum",
	Call:       func(dims []int, _ bool) squares { return squares{dims} },
	Attributes: func(a squares) (dims []int, keep bool) { return a.Dims, false },
	DTypes:     []tensor.DType{tensor.F32, tensor.F16}, Empty: true,
	F: func(a, b float64) float64 { return a + b*b },
}))

// ownKernels returns an operation that is no part of the ABI.
func ownKernels(op *spec.Op) *spec.Op {
	spirv.LinkNN()
	op.Kernels = nil
	return op
}

// TestCombine checks that a sum of squares over dimensions that are not neighbours squares
// each element once. The passes after the first one combine results.
func TestCombine(t *testing.T) {
	backend, err := vk.Open(t.Context(), vk.Options{NoCache: true})
	dev := testkit.Device(t, backend, err)
	r, err := exec.New(dev)
	run := testkit.Device(t, r, err)
	for _, c := range []struct {
		dtype       tensor.DType
		shape, dims []int
	}{
		{tensor.F32, []int{3, 4, 50}, []int{0, 2}},
		{tensor.F16, []int{3, 4, 50}, []int{0, 2}},
		{tensor.F32, []int{3, 2, 5, 2, 70}, []int{0, 2, 4}}, // needs three passes
		{tensor.F32, []int{3, 4, 50}, []int{2}},
		{tensor.F32, []int{3, 4, 50}, []int{1, 2}}, // neighbours
	} {
		call := squares{c.dims}
		in := tensor.NewHost(tensor.Contiguous(c.dtype, c.shape...))
		values := make([]float64, in.Elems())
		for i := range values {
			values[i] = float64(i%7) - 3
		}
		in.SetFloats(values)
		descs, err := call.Spec().Shape(call, []tensor.Desc{in.Desc})
		if err != nil {
			t.Fatal(err)
		}
		want, got := tensor.NewHost(descs[0]), tensor.NewHost(descs[0])
		call.Spec().Reference(call, []*tensor.Host{in}, []*tensor.Host{want})
		operand := func(d tensor.Desc) exec.Operand {
			t.Helper()
			h, err := dev.Alloc(d.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			return exec.Operand{Buffer: h, Desc: d}
		}
		from, to := operand(in.Desc), operand(want.Desc)
		if err := dev.Write(t.Context(), from.Buffer, 0, in.Data); err != nil {
			t.Fatal(err)
		}
		if err := run.Run(t.Context(), call, []exec.Operand{from}, []exec.Operand{to}); err != nil {
			t.Fatal(err)
		}
		if err := run.Read(t.Context(), to.Buffer, 0, got.Data); err != nil {
			t.Fatal(err)
		}
		if slices.Max(want.Floats()) == 0 {
			t.Fatal("a sum of nothing but zeros shows nothing")
		}
		// The sums are of small integers, and so exact.
		if !slices.Equal(got.Floats(), want.Floats()) {
			t.Errorf("%v%v along %v: %v, want %v", c.dtype, c.shape, c.dims, got.Floats(), want.Floats())
		}
	}
}
