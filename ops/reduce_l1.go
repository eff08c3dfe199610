package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ReduceL1 adds the magnitudes of the elements along dimensions. The sum of no elements is 0.
type ReduceL1 struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceL1) Spec() *spec.Op { return reduceL1Op.Op() }

var reduceL1Op = spec.Declaration{Define: func() *spec.Op {
	return reduction.Define(reduction.Reduction[*ReduceL1]{
		Name: "reduce_l1", ONNX: []string{"ReduceL1"},
		Doc:        "The sum of the magnitudes along dimensions. The sum of no elements is 0.",
		Call:       func(dims []int, keep bool) *ReduceL1 { return &ReduceL1{dims, keep} },
		Attributes: func(a *ReduceL1) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		Shader:     "reduce/reduce_l1", Combine: "reduce/reduce_sum",
		DTypes: planner.Floats, Empty: true,
		Rows: reduction.SumOf(math.Abs),
		Low:  -1, High: 1, Tolerance: reduction.MagnitudesTolerance,
	})
}}
