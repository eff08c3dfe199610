package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ReduceMean returns the mean of the elements along dimensions. The mean of no elements is
// NaN.
type ReduceMean struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions that are reduced; negative ones count from the end; an empty list means all dimensions"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep the reduced dimensions, with size 1"`
}

// Spec returns the declaration.
func (ReduceMean) Spec() *spec.Op { return reduceMeanOp.Op() }

var reduceMeanOp = spec.Declaration{Define: func() *spec.Op {
	return reduction.Define(reduction.Reduction[*ReduceMean]{
		Name: "reduce_mean", Shader: "reduce/reduce_sum", ONNX: []string{"ReduceMean"},
		Doc:        "The mean of the elements along dimensions. The mean of no elements is NaN.",
		Call:       func(dims []int, keep bool) *ReduceMean { return &ReduceMean{dims, keep} },
		Attributes: func(a *ReduceMean) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		DTypes:     planner.Floats, Empty: true, Mean: true,
		F: func(a, b float64) float64 { return a + b }, Sum: true,
		Low: -1, High: 1, Tolerance: reduction.MeanTolerance,
	})
}}
