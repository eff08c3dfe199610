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

// ReduceL2 returns the root of the sum of the squares along dimensions. That of no elements is 0. Where
// a square of floats overflows in the type of the arithmetic, the result is infinite.
//
// The root of integers is rounded down, and no larger than the largest integer of their type. That of I64 and U64 is no larger
// than 2^32 − 1, because the sum of squares has 64 bits, and does not wrap. Below these bounds it is exact.
type ReduceL2 struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceL2) Spec() *spec.Op { return reduceL2Op.Op() }

// Gradient declares the gradient, dy·x/y, and 0 where y is 0.
func (c ReduceL2) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	if dy == spec.NoValue {
		return
	}
	dy = kept(t, dy, x, c.Dims)
	y := kept(t, t.Out(0), x, c.Dims)
	t.SetGradient(0, unless(t, t.Call(Equal{}, y, t.Scalar(0, y)), over(t, times(t, dy, x), y)))
}

var reduceL2Op = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMath()
	return reduction.Define(reduction.Reduction[*ReduceL2]{
		Name: "reduce_l2", ONNX: []string{"ReduceL2"},
		Doc:        "The root of the sum of the squares along dimensions. Where a square of floats overflows, the result is infinite. That of integers is exact, rounded down, and no larger than the largest integer of the dtype, nor than 2^32 − 1.",
		Call:       func(dims []int, keep bool) *ReduceL2 { return &ReduceL2{dims, keep} },
		Attributes: func(a *ReduceL2) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		Shader:     "reduce/reduce_sum_square", Combine: "reduce/reduce_sum", Final: "math/sqrt",
		DTypes: slices.Concat(planner.Floats, planner.Integers), Empty: true,
		Rows: reduction.SumOf(square), Finally: math.Sqrt,
		Sum64: reduction.RootOfSquares, Integers: rootIntegers,
		Low: -1, High: 1, Tolerance: reduction.RootTolerance,
	})
}}

// rootIntegers returns bounds of integers whose roots are below the largest result, and not far from it.
func rootIntegers(d tensor.DType) (low, high float64) {
	switch d {
	case tensor.I32, tensor.I64:
		return -1 << 28, 1 << 28
	case tensor.U64:
		return 0, 1 << 31
	}
	return planner.IntegerRange(d)
}
