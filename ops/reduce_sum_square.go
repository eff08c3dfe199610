package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// ReduceSumSquare adds the squares of the elements along dimensions. The sum of no elements is 0.
// Squares and sums of integers wrap in the type of the elements.
type ReduceSumSquare struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceSumSquare) Spec() *spec.Op { return reduceSumSquareOp.Op() }

// Gradient declares the gradient, 2·dy·x.
func (c ReduceSumSquare) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	if dy == spec.NoValue {
		return
	}
	dy = kept(t, dy, x, c.Dims)
	t.SetGradient(0, scaled(t, times(t, dy, x), 2))
}

var reduceSumSquareOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return reduction.Define(reduction.Reduction[*ReduceSumSquare]{
		Name: "reduce_sum_square", ONNX: []string{"ReduceSumSquare"},
		Doc:        "The sum of the squares along dimensions. The sum of no elements is 0. Integers wrap.",
		Call:       func(dims []int, keep bool) *ReduceSumSquare { return &ReduceSumSquare{dims, keep} },
		Attributes: func(a *ReduceSumSquare) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		Shader:     "reduce/reduce_sum_square", Combine: "reduce/reduce_sum",
		DTypes: slices.Concat(planner.Floats, planner.Integers), Signless: true, Empty: true,
		Rows: reduction.SumOf(square), Whole: func(a, b int64) int64 { return a + b*b }, Integers: planner.IntegerRange,
		Low: -1, High: 1, Tolerance: reduction.MagnitudesTolerance,
	})
}}

// square is the function that ReduceSumSquare and ReduceL2 add.
func square(x float64) float64 { return x * x }
