package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// CumSum returns the sums of the elements up to each element along a dimension. With Exclusive, a sum leaves
// out the element itself, and the first one is 0. With Reverse, sums begin at the last element. Sums of
// integers wrap.
type CumSum struct {
	Dim       int  `attr:"dim,required" doc:"the dimension; a negative number counts from the end"`
	Exclusive bool `attr:"exclusive" onnx:"exclusive" doc:"leave out the element itself"`
	Reverse   bool `attr:"reverse" onnx:"reverse" doc:"begin at the last element"`
}

// Spec returns the declaration.
func (CumSum) Spec() *spec.Op { return cumSumOp.Op() }

// Gradient declares the gradient: the sums of dy in the other direction.
func (c CumSum) Gradient(t *spec.Tape) {
	linear(t, 0, CumSum{Dim: c.Dim, Exclusive: c.Exclusive, Reverse: !c.Reverse})
}

var cumSumOp = spec.Declaration{Define: func() *spec.Op {
	return reduction.DefineScan(reduction.Scan[*CumSum]{
		Name: "cum_sum", Shader: "reduce/cum_sum", ONNX: []string{"CumSum"},
		Doc:        "The sums of the elements up to each element along a dimension. Integers wrap.",
		Call:       func(dim int, exclusive, reverse bool) *CumSum { return &CumSum{dim, exclusive, reverse} },
		Attributes: func(a *CumSum) (dim int, exclusive, reverse bool) { return a.Dim, a.Exclusive, a.Reverse },
		Step:       func(a, b float64) float64 { return a + b }, Whole: func(a, b int64) int64 { return a + b }, Sum: true,
		Low: -1, High: 1, Integers: planner.IntegerRange, Tolerance: reduction.RunningSumTolerance,
	})
}}
