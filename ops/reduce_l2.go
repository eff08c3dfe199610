package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// ReduceL2 returns the root of the sum of the squares along dimensions. That of no elements is 0. Where
// a square overflows in the type of the arithmetic, the result is infinite.
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
		Doc:        "The root of the sum of the squares along dimensions. Where a square overflows, the result is infinite.",
		Call:       func(dims []int, keep bool) *ReduceL2 { return &ReduceL2{dims, keep} },
		Attributes: func(a *ReduceL2) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		Shader:     "reduce/reduce_sum_square", Combine: "reduce/reduce_sum", Final: "math/sqrt",
		DTypes: planner.Floats, Empty: true,
		Rows: reduction.SumOf(square), Finally: math.Sqrt,
		Low: -1, High: 1, Tolerance: reduction.RootTolerance,
	})
}}
