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

// Gradient declares the gradient: dy times the product of the other elements, which are those before and those after an element.
func (c ReduceProd) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	if dy == spec.NoValue {
		return
	}
	shape := t.Shape(x)
	dims := reducedDims(c.Dims, len(shape))
	if len(dims) == 0 {
		t.SetGradient(0, dy)
		return
	}
	// The dimensions that are multiplied come last, as one.
	var order, sizes []int
	for d, n := range shape {
		if !slices.Contains(dims, d) {
			order, sizes = append(order, d), append(sizes, n)
		}
	}
	order = append(order, dims...)
	row := t.Reshape(t.Transpose(x, order...), append(sizes, elements(t, x, c.Dims))...)
	others := times(t, t.Call(CumProd{Dim: -1, Exclusive: true}, row), t.Call(CumProd{Dim: -1, Exclusive: true, Reverse: true}, row))
	moved, back := make([]int, len(order)), make([]int, len(order))
	for i, d := range order {
		moved[i], back[d] = shape[d], i
	}
	t.SetGradient(0, times(t, kept(t, dy, x, c.Dims), t.Transpose(t.Reshape(others, moved...), back...)))
}

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
