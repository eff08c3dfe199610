package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ReduceMin picks the least element along dimensions. No elements have no least: that
// is ErrInvalidArgument.
type ReduceMin struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"dimensions to reduce, negative ones from the end; all of them if there are none"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"leave reduced dimensions in place with size 1"`
}

// Spec returns the declaration.
func (ReduceMin) Spec() *spec.Op { return reduceMinOp }

var reduceMinOp = reduction.Define(reduction.Reduction[ReduceMin]{
	Name: "reduce_min", Shader: "reduce/reduce_max", ONNX: []string{"ReduceMin"},
	Doc:        "The least element along dimensions. NaN wins. No elements have none: they are refused.",
	Call:       func(dims []int, keep bool) ReduceMin { return ReduceMin{dims, keep} },
	Attributes: func(a ReduceMin) (dims []int, keep bool) { return a.Dims, a.KeepDims },
	DTypes:     planner.Floats, Sign: -1,
	From: math.Inf(1), F: func(a, b float64) float64 { return -maxNaN(-a, -b) },
	Low: -4, High: 4, Tolerance: reduction.ExactTolerance,
})
