package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// ReduceLogSumExp returns the natural logarithm of the sum of the exponentials along dimensions, so that no
// exponential overflows. It is −∞ of no elements and of nothing but −∞, and +∞ if an element is +∞ and
// none is NaN.
//
// That of integers is rounded toward 0, and no larger than the largest integer of their type. Of no elements it is the lowest
// integer. It is the same on every device: with m for the largest of n elements, each e^(x − m) is rounded down to parts of
// 2^(⌈log₂ n⌉ − 62), and all else is exact. So it may be one less than that of real numbers where that exceeds an integer by less
// than n parts, as with −5 and −50: −5. Each integer takes eight bytes, and once more its own size, of the memory of the device.
type ReduceLogSumExp struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceLogSumExp) Spec() *spec.Op { return reduceLogSumExpOp.Op() }

// Gradient declares the gradient, dy·e^(x − y).
func (c ReduceLogSumExp) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	if dy == spec.NoValue {
		return
	}
	dy = kept(t, dy, x, c.Dims)
	t.SetGradient(0, times(t, dy, t.Call(Exp{}, difference(t, x, kept(t, t.Out(0), x, c.Dims)))))
}

var reduceLogSumExpOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkLogic()
	return reduction.Define(reduction.Reduction[*ReduceLogSumExp]{
		Name: "reduce_log_sum_exp", ONNX: []string{"ReduceLogSumExp"},
		Doc:        "The natural logarithm of the sum of exponentials along dimensions, without overflow: −∞ of no elements. That of integers is rounded toward 0, and is the lowest integer of no elements; each e^(x − m) of n elements, the largest of which is m, counts in parts of 2^(⌈log₂ n⌉ − 62).",
		Call:       func(dims []int, keep bool) *ReduceLogSumExp { return &ReduceLogSumExp{dims, keep} },
		Attributes: func(a *ReduceLogSumExp) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		Shader:     "reduce/reduce_log_sum_exp_stat", Values: 2, Last: "reduce/reduce_log_sum_exp",
		DTypes: slices.Concat(planner.Floats, planner.Integers), Empty: true,
		Rows: logSumExp, Sum64: reduction.LogOfExponentials, Integers: nearIntegers,
		Low: -8, High: 8, Tolerance: reduction.LogSumExpTolerance,
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

// nearIntegers returns bounds of integers whose exponentials count beside each other, at the ends of a type and around 0.
func nearIntegers(d tensor.DType) (low, high float64) {
	low, high = planner.IntegerRange(d)
	switch d {
	case tensor.I16:
		return -24, 24
	case tensor.U16:
		return high - 24, high
	case tensor.I32:
		return -40, -1
	case tensor.U32:
		return 0, 30
	case tensor.I64:
		return low - 20, low + 20
	case tensor.U64:
		return 1 << 52, 1<<52 + 30
	}
	return low, high
}
