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

// ReduceMin returns the smallest element along dimensions. The result is NaN if one of the
// elements is NaN. A reduction over no elements is refused with ErrInvalidArgument.
// Of Bool, it is true if each element is.
type ReduceMin struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceMin) Spec() *spec.Op { return reduceMinOp.Op() }

// Gradient declares the gradient: dy goes to the elements that are the result, in equal parts.
func (c ReduceMin) Gradient(t *spec.Tape) {
	extremes(t, c.Dims)
}

var reduceMinOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return reduction.Define(reduction.Reduction[*ReduceMin]{
		Name: "reduce_min", Shader: "reduce/reduce_max", ONNX: []string{"ReduceMin"},
		Doc:        "The smallest element along dimensions, or NaN if one of the elements is NaN. A reduction over no elements is refused.",
		Call:       func(dims []int, keep bool) *ReduceMin { return &ReduceMin{dims, keep} },
		Attributes: func(a *ReduceMin) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		DTypes:     slices.Concat(planner.Floats, planner.Integers, []tensor.DType{tensor.Bool}), Sign: -1,
		From: math.Inf(1), F: func(a, b float64) float64 { return -maxNaN(-a, -b) },
		Low: -4, High: 4, Tolerance: reduction.ExactTolerance,
	})
}}
