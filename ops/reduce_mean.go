package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ReduceMean returns the mean of the elements along dimensions. The mean of no elements is
// NaN. That of integers is the sum, which wraps, divided and rounded towards zero. It is 0 of no
// elements.
type ReduceMean struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceMean) Spec() *spec.Op { return reduceMeanOp.Op() }

// Gradient declares the gradient, dy over the number of elements for each element.
func (c ReduceMean) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	if dy == spec.NoValue {
		return
	}
	dy = kept(t, dy, x, c.Dims)
	t.SetGradient(0, t.Expand(scaled(t, dy, 1/float64(elements(t, x, c.Dims))), t.Shape(x)...))
}

var reduceMeanOp = spec.Declaration{Define: func() *spec.Op {
	return reduction.Define(reduction.Reduction[*ReduceMean]{
		Name: "reduce_mean", Shader: "reduce/reduce_sum", ONNX: []string{"ReduceMean"},
		Doc:        "The mean of the elements along dimensions. The mean of no elements is NaN. That of integers is the wrapped sum, divided and rounded towards zero, and 0 of no elements.",
		Call:       func(dims []int, keep bool) *ReduceMean { return &ReduceMean{dims, keep} },
		Attributes: func(a *ReduceMean) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		DTypes:     []tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.F64, tensor.I32, tensor.I64, tensor.U32, tensor.U64}, Empty: true, Mean: true,
		F: func(a, b float64) float64 { return a + b }, Sum: true,
		Low: -1, High: 1, Tolerance: reduction.MeanTolerance,
	})
}}
