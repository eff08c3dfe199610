package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ReduceMax picks the largest element along dimensions. No elements have no largest:
// that is ErrInvalidArgument.
type ReduceMax struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"dimensions to reduce, negative ones from the end; all of them if there are none"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"leave reduced dimensions in place with size 1"`
}

// Spec returns the declaration.
func (ReduceMax) Spec() *spec.Op { return reduceMaxOp }

var reduceMaxOp = reduction.Define(reduction.Reduction[ReduceMax]{
	Name: "reduce_max", Shader: "reduce/reduce_max", ONNX: []string{"ReduceMax"},
	Doc:        "The largest element along dimensions. NaN wins. No elements have none: they are refused.",
	Call:       func(dims []int, keep bool) ReduceMax { return ReduceMax{dims, keep} },
	Attributes: func(a ReduceMax) (dims []int, keep bool) { return a.Dims, a.KeepDims },
	DTypes:     planner.Floats,
	From:       math.Inf(-1), F: maxNaN,
	Low: -4, High: 4, Tolerance: reduction.ExactTolerance,
})

// maxNaN is the larger of two, and NaN if one of them is, be the other infinite.
func maxNaN(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	return math.Max(a, b)
}
