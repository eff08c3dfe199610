package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// ReduceLogSum returns the natural logarithm of the sum along dimensions: −∞ of no elements, and NaN of a
// sum below 0.
//
// The logarithm of integers is rounded down, and exact: no sum has a logarithm that is an integer, but that of 1. The sum has 64
// bits, in which only integers of 64 bits may wrap. In place of −∞ there is the lowest integer of the type, and in place of NaN
// 0, as Cast makes them.
type ReduceLogSum struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceLogSum) Spec() *spec.Op { return reduceLogSumOp.Op() }

// Gradient declares the gradient, dy over the sum for each element.
func (c ReduceLogSum) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	if dy == spec.NoValue {
		return
	}
	dy = kept(t, dy, x, c.Dims)
	total := t.Call(ReduceSum{Dims: reducedDims(c.Dims, len(t.Shape(x))), KeepDims: true}, x)
	t.SetGradient(0, t.Expand(over(t, dy, total), t.Shape(x)...))
}

var reduceLogSumOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMath()
	return reduction.Define(reduction.Reduction[*ReduceLogSum]{
		Name: "reduce_log_sum", ONNX: []string{"ReduceLogSum"},
		Doc:        "The natural logarithm of the sum along dimensions: −∞ of no elements, and NaN of a sum below 0. That of integers is rounded down, with the lowest integer in place of −∞ and 0 in place of NaN. Their sum has 64 bits, in which only those of 64 bits may wrap.",
		Call:       func(dims []int, keep bool) *ReduceLogSum { return &ReduceLogSum{dims, keep} },
		Attributes: func(a *ReduceLogSum) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		Shader:     "reduce/reduce_sum", Final: "math/log",
		DTypes: slices.Concat(planner.Floats, planner.Integers), Empty: true,
		F: func(a, b float64) float64 { return a + b }, Sum: true, Finally: math.Log,
		Sum64: reduction.LogOfSum, Integers: planner.IntegerRange,
		Low: 0.1, High: 1, Tolerance: reduction.LogTolerance,
	})
}}
