package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ReduceProd multiplies the elements along dimensions, in no particular order. If the
// product of some of the elements overflows, the result may overflow too. The product of no
// elements is 1.
type ReduceProd struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions that are reduced; negative ones count from the end; an empty list means all dimensions"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep the reduced dimensions, with size 1"`
}

// Spec returns the declaration.
func (ReduceProd) Spec() *spec.Op { return reduceProdOp.Op() }

var reduceProdOp = spec.Declaration{Define: func() *spec.Op {
	return reduction.Define(reduction.Reduction[*ReduceProd]{
		Name: "reduce_prod", Shader: "reduce/reduce_prod", ONNX: []string{"ReduceProd"},
		Doc:        "The product of the elements along dimensions. The product of no elements is 1.",
		Call:       func(dims []int, keep bool) *ReduceProd { return &ReduceProd{dims, keep} },
		Attributes: func(a *ReduceProd) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		DTypes:     planner.Floats, Empty: true,
		From: 1, F: func(a, b float64) float64 { return a * b },
		Low: 0.75, High: 1.25, Spread: 60, Tolerance: reduction.ProductTolerance,
	})
}}
