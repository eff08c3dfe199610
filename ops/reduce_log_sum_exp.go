package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ReduceLogSumExp returns the natural logarithm of the sum of the exponentials along dimensions, so that no
// exponential overflows. It is −∞ of no elements and of nothing but −∞, and +∞ if an element is +∞ and
// none is NaN.
type ReduceLogSumExp struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceLogSumExp) Spec() *spec.Op { return reduceLogSumExpOp.Op() }

var reduceLogSumExpOp = spec.Declaration{Define: func() *spec.Op {
	return reduction.Define(reduction.Reduction[*ReduceLogSumExp]{
		Name: "reduce_log_sum_exp", ONNX: []string{"ReduceLogSumExp"},
		Doc:        "The natural logarithm of the sum of exponentials along dimensions, without overflow: −∞ of no elements.",
		Call:       func(dims []int, keep bool) *ReduceLogSumExp { return &ReduceLogSumExp{dims, keep} },
		Attributes: func(a *ReduceLogSumExp) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		Shader:     "reduce/reduce_log_sum_exp_stat", Values: 2, Last: "reduce/reduce_log_sum_exp",
		DTypes: planner.Floats, Empty: true,
		Rows: logSumExp,
		Low:  -8, High: 8, Tolerance: reduction.LogSumExpTolerance,
	})
}}

// logSumExp is the reference.
func logSumExp(x []float64) float64 {
	most := math.Inf(-1)
	for _, v := range x {
		if most = math.Max(most, v); math.IsNaN(v) {
			return v
		}
	}
	if math.IsInf(most, 0) {
		return most
	}
	return most + math.Log(reduction.Sum(len(x), func(i int) float64 { return math.Exp(x[i] - most) }))
}
