package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// ReduceMax returns the largest element along dimensions. The result is NaN if one of the
// elements is NaN. A reduction over no elements is refused with ErrInvalidArgument.
// Of Bool, it is true if any element is.
type ReduceMax struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceMax) Spec() *spec.Op { return reduceMaxOp.Op() }

// Gradient declares the gradient: dy goes to the elements that are the result, in equal parts.
func (c ReduceMax) Gradient(t *spec.Tape) {
	extremes(t, c.Dims)
}

var reduceMaxOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return reduction.Define(reduction.Reduction[*ReduceMax]{
		Name: "reduce_max", Shader: "reduce/reduce_max", ONNX: []string{"ReduceMax"},
		Doc:        "The largest element along dimensions, or NaN if one of the elements is NaN. A reduction over no elements is refused.",
		Call:       func(dims []int, keep bool) *ReduceMax { return &ReduceMax{dims, keep} },
		Attributes: func(a *ReduceMax) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		DTypes:     slices.Concat(planner.Floats, planner.Integers, []tensor.DType{tensor.Bool}),
		From:       math.Inf(-1), F: maxNaN,
		Low: -4, High: 4, Tolerance: reduction.ExactTolerance,
	})
}}

// maxNaN returns the larger of two numbers, or NaN if one of them is NaN, even if the other
// is infinite.
func maxNaN(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	return math.Max(a, b)
}
