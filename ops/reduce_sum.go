package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// ReduceSum adds the elements along dimensions. The sum of no elements is 0. The result
// has the type of the elements: sums of integers wrap in it. Cast elements of 8 bits to I32 before, if their sum may be larger.
type ReduceSum struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceSum) Spec() *spec.Op { return reduceSumOp.Op() }

// Gradient declares the gradient, dy for each element.
func (c ReduceSum) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	if dy == spec.NoValue {
		return
	}
	dy = kept(t, dy, x, c.Dims)
	t.SetGradient(0, t.Expand(dy, t.Shape(x)...))
}

var reduceSumOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return reduction.Define(reduction.Reduction[*ReduceSum]{
		Name: "reduce_sum", Shader: "reduce/reduce_sum", ONNX: []string{"ReduceSum"},
		Doc:        "The sum of the elements along dimensions. The sum of no elements is 0. Sums of integers wrap.",
		Call:       func(dims []int, keep bool) *ReduceSum { return &ReduceSum{dims, keep} },
		Attributes: func(a *ReduceSum) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		DTypes:     slices.Concat(planner.Floats, planner.Integers),
		Empty:      true,
		F:          func(a, b float64) float64 { return a + b }, Sum: true, Signless: true,
		Low: -1, High: 1, Tolerance: reduction.SumTolerance,
	})
}}
