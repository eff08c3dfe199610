package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// ReduceProd multiplies the elements along dimensions, in no particular order. If the
// product of some of the elements overflows, the result may overflow too. The product of no
// elements is 1. Products of integers wrap in the type of the elements.
type ReduceProd struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceProd) Spec() *spec.Op { return reduceProdOp.Op() }

var reduceProdOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return reduction.Define(reduction.Reduction[*ReduceProd]{
		Name: "reduce_prod", Shader: "reduce/reduce_prod", ONNX: []string{"ReduceProd"},
		Doc:        "The product of the elements along dimensions. The product of no elements is 1. Integers wrap.",
		Call:       func(dims []int, keep bool) *ReduceProd { return &ReduceProd{dims, keep} },
		Attributes: func(a *ReduceProd) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		DTypes:     slices.Concat(planner.Floats, planner.Integers), Empty: true,
		Signless: true, Integers: factors,
		Whole: func(a, b int64) int64 { return a * b },
		From:  1, F: func(a, b float64) float64 { return a * b },
		Low: 0.75, High: 1.25, Spread: 60, Tolerance: reduction.ProductTolerance,
	})
}}

// factors bounds the integers of cases of products. They are not 0.
func factors(d tensor.DType) (low, high float64) {
	switch {
	case d == tensor.I32 || d == tensor.I64:
		return -3, 3
	case planner.Signed(d) != d:
		return 1, 3
	}
	return -3, -1
}
