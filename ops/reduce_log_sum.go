package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// ReduceLogSum returns the natural logarithm of the sum along dimensions: −∞ of no elements, and NaN of a
// sum below 0.
type ReduceLogSum struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceLogSum) Spec() *spec.Op { return reduceLogSumOp.Op() }

var reduceLogSumOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMath()
	return reduction.Define(reduction.Reduction[*ReduceLogSum]{
		Name: "reduce_log_sum", ONNX: []string{"ReduceLogSum"},
		Doc:        "The natural logarithm of the sum along dimensions: −∞ of no elements, and NaN of a sum below 0.",
		Call:       func(dims []int, keep bool) *ReduceLogSum { return &ReduceLogSum{dims, keep} },
		Attributes: func(a *ReduceLogSum) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		Shader:     "reduce/reduce_sum", Final: "math/log",
		DTypes: planner.Floats, Empty: true,
		F: func(a, b float64) float64 { return a + b }, Sum: true, Finally: math.Log,
		Low: 0.1, High: 1, Tolerance: reduction.LogTolerance,
	})
}}
