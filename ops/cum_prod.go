package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/spec"
)

// CumProd returns the products of the elements up to each element along a dimension. With Exclusive, a product
// leaves out the element itself, and the first one is 1. With Reverse, products begin at the last
// element. Products of integers wrap.
type CumProd struct {
	Dim       int  `attr:"dim,required" doc:"the dimension; a negative number counts from the end"`
	Exclusive bool `attr:"exclusive" doc:"leave out the element itself"`
	Reverse   bool `attr:"reverse" doc:"begin at the last element"`
}

// Spec returns the declaration.
func (CumProd) Spec() *spec.Op { return cumProdOp.Op() }

// Gradient declares the gradient: the sums of dy·y in the other direction, over x. It is NaN where x is 0.
func (c CumProd) Gradient(t *spec.Tape) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		sums := t.Call(CumSum{Dim: c.Dim, Exclusive: c.Exclusive, Reverse: !c.Reverse}, times(t, dy, t.Out(0)))
		t.SetGradient(0, over(t, sums, t.In(0)))
	}
}

var cumProdOp = spec.Declaration{Define: func() *spec.Op {
	return reduction.DefineScan(reduction.Scan[*CumProd]{
		Name: "cum_prod", Shader: "reduce/cum_prod",
		Doc:        "The products of the elements up to each element along a dimension. Integers wrap.",
		Call:       func(dim int, exclusive, reverse bool) *CumProd { return &CumProd{dim, exclusive, reverse} },
		Attributes: func(a *CumProd) (dim int, exclusive, reverse bool) { return a.Dim, a.Exclusive, a.Reverse },
		Identity:   1, Step: func(a, b float64) float64 { return a * b }, Whole: func(a, b int64) int64 { return a * b },
		Low: 0.75, High: 1.25, Spread: 60, Integers: factors, Tolerance: reduction.ProductTolerance,
	})
}}
