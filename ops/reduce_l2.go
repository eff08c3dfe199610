package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// ReduceL2 returns the root of the sum of the squares along dimensions. That of no elements is 0. Where
// a square of floats overflows in the type of the arithmetic, the result is infinite.
//
// The root of integers is rounded down, and no larger than the largest integer of their type. It is exact: the sum of
// squares has 64 bits without a sign, which hold those of 2^32 elements of I32. Only squares and sums of I64 and U64 may
// wrap, modulo 2^64.
type ReduceL2 struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceL2) Spec() *spec.Op { return reduceL2Op.Op() }

var reduceL2Op = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMath()
	return reduction.Define(reduction.Reduction[*ReduceL2]{
		Name: "reduce_l2", ONNX: []string{"ReduceL2"},
		Doc:        "The root of the sum of the squares along dimensions. Where a square of floats overflows, the result is infinite. That of integers is rounded down, and no larger than the largest integer of the dtype. The sum has 64 bits, in which only squares of i64 and u64 may wrap.",
		Call:       func(dims []int, keep bool) *ReduceL2 { return &ReduceL2{dims, keep} },
		Attributes: func(a *ReduceL2) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		Shader:     "reduce/reduce_sum_square", Combine: "reduce/reduce_sum", Final: "math/sqrt",
		DTypes: slices.Concat(planner.Floats, planner.Integers), Empty: true,
		Rows: reduction.SumOf(square), Finally: math.Sqrt,
		Sum64: reduction.RootOfSquares, Integers: planner.IntegerRange,
		Low: -1, High: 1, Tolerance: reduction.RootTolerance,
	})
}}
