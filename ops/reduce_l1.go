package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// ReduceL1 adds the magnitudes of the elements along dimensions. The sum of no elements is 0.
// Sums of integers wrap in the type of the elements, and so does the magnitude of the least integer.
type ReduceL1 struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceL1) Spec() *spec.Op { return reduceL1Op.Op() }

// Gradient declares the gradient, dy·sign x.
func (c ReduceL1) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	if dy == spec.NoValue {
		return
	}
	dy = kept(t, dy, x, c.Dims)
	t.SetGradient(0, times(t, dy, t.Call(Sign{}, x)))
}

var reduceL1Op = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return reduction.Define(reduction.Reduction[*ReduceL1]{
		Name: "reduce_l1", ONNX: []string{"ReduceL1"},
		Doc:        "The sum of the magnitudes along dimensions. The sum of no elements is 0. Integers wrap.",
		Call:       func(dims []int, keep bool) *ReduceL1 { return &ReduceL1{dims, keep} },
		Attributes: func(a *ReduceL1) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		Shader:     "reduce/reduce_l1", Unsigned: "reduce/reduce_sum", Combine: "reduce/reduce_sum",
		DTypes: slices.Concat(planner.Floats, planner.Integers), Empty: true,
		Rows: reduction.SumOf(math.Abs), Whole: func(a, b int64) int64 { return a + max(b, -b) }, Integers: planner.IntegerRange,
		Low: -1, High: 1, Tolerance: reduction.MagnitudesTolerance,
	})
}}
