package axiswise

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// softmaxLongest is the longest row, in elements, that one invocation may reduce. In
// longer rows, too many rounding errors add up.
const softmaxLongest = 4096

var (
	// softmaxReducer computes the largest element and the sum of exponentials.
	softmaxReducer = reduction.Reducer{Shader: "nn/softmax_stat", Values: 2}
	// dotReducer computes the sum of a·b and the sum of b.
	dotReducer = reduction.Reducer{Shader: "nn/softmax_grad_stat", Values: 2}
)

// Softmax completes a with the kernels, plan, reference and tolerance of softmax.
func Softmax[A spec.Call](a AxisOp[A]) AxisOp[A] {
	a.Kernels = append(append(softmaxReducer.Kernels(planner.Floats...), mapKernels("nn/softmax_apply", planner.Floats...)...),
		rowKernels("nn/softmax", reduction.Params{})...)
	a.Longest, a.Plan, a.Reference = softmaxLongest, planSoftmax, referenceSoftmax
	a.Tolerance = func(d tensor.DType, n int) spec.Tolerance { return expTolerance(d, n, a.High-a.Low) }
	return a
}

// planSoftmax is the AxisOp.Plan of softmax.
func planSoftmax(plan *spec.Plan, t *spec.Target, d tensor.DType, v planner.AxisView) error {
	if usesRows(t, d, v, softmaxLongest) {
		return addRows(plan, t, "nn/softmax", d, v, func(p reduction.Params) any { return p }, []spec.Ref{spec.In(0)}, nil, spec.Out(0))
	}
	accumulators, err := reduction.Add(plan, t, softmaxReducer, d, v, spec.Ref{}, spec.In(0))
	if err != nil {
		return err
	}
	return rowMap{shader: "nn/softmax_apply", reducer: softmaxReducer}.add(plan, t, d, v, accumulators, spec.Out(0), spec.In(0))
}

// referenceSoftmax is the AxisOp.Reference of softmax.
func referenceSoftmax(v planner.AxisView, in [][]float64) []float64 {
	x := in[0]
	reduction.EachColumn(v, func(at func(int) int) {
		m := math.Inf(-1)
		for r := range v.N {
			m = math.Max(m, x[at(r)])
		}
		if math.IsInf(m, -1) {
			for r := range v.N {
				x[at(r)] = 0
			}
			return
		}
		sum := reduction.Sum(v.N, func(r int) float64 {
			x[at(r)] = math.Exp(x[at(r)] - m)
			return x[at(r)]
		})
		for r := range v.N {
			x[at(r)] /= sum
		}
	})
	return x
}

// expTolerance bounds the error of exponentials divided by their sum, for n elements that
// differ by up to spread. An exponential has an error of two units in the last place. Its
// exponent was rounded, which changes the exponential by the exponent times ε. In a chain
// of length h, a term is scaled up to h times when a larger maximum is found. The
// exponents of these factors add up to at most spread.
func expTolerance(d tensor.DType, n int, spread float64) spec.Tolerance {
	e, h := planner.AccumulatorEpsilon(d), rowChain(n)
	return spec.Tolerance{
		Abs: planner.Tiny(d), Rel: e*(8+spread+math.Sqrt(h/3)) + planner.StoreEpsilon(d),
		Law: "ε·(8 + s + √(h/3)) of the value where elements differ by up to s, " + rowChainText,
		Any: planner.Rounded(12+2*spread+4*h, e), AnyLaw: "((1 + ε)^(12+2s+4h) − 1) of the value",
		Why: "a difference is rounded before its exponential is taken, the exponential is off by at most two units in the last place, and the terms of the sum are positive, each rounded and scaled at most h times",
	}
}

// SoftmaxGradient completes a with the kernels, plan, reference and tolerance of the
// gradient of softmax.
func SoftmaxGradient[A spec.Call](a AxisOp[A]) AxisOp[A] {
	a.Kernels = append(dotReducer.Kernels(planner.Floats...), mapKernels("nn/softmax_grad", planner.Floats...)...)
	a.Plan = func(plan *spec.Plan, t *spec.Target, d tensor.DType, v planner.AxisView) error {
		in := []spec.Ref{spec.In(0), spec.In(1)}
		accumulators, err := reduction.Add(plan, t, dotReducer, d, v, spec.Ref{}, in...)
		if err != nil {
			return err
		}
		return rowMap{shader: "nn/softmax_grad", reducer: dotReducer}.add(plan, t, d, v, accumulators, spec.Out(0), in...)
	}
	a.Reference = func(v planner.AxisView, in [][]float64) []float64 {
		y, dy := in[0], in[1]
		reduction.EachColumn(v, func(at func(int) int) {
			sum := reduction.Sum(v.N, func(r int) float64 { return y[at(r)] * dy[at(r)] })
			for r := range v.N {
				y[at(r)] *= dy[at(r)] - sum
			}
		})
		return y
	}
	a.Tolerance = func(d tensor.DType, n int) spec.Tolerance {
		e, h := planner.AccumulatorEpsilon(d), reduction.Chain(n)
		return spec.Tolerance{
			Abs: e*(4+float64(n)/4) + planner.Tiny(d), Rel: e*(4+math.Sqrt(h/3)) + planner.StoreEpsilon(d),
			Law: "ε·(4 + n/4) + ε·(4 + √(h/3)) of the value, h = " + reduction.ChainText,
			Any: planner.Rounded(h+4, e), AnyLaw: "((1 + ε)^(h+4) − 1)·|y|·(|dy| + Σ|y·dy|)",
			Why: "products are added in blocks, and the sums of the blocks are added again, so that each product is rounded at most h times; products of up to 1 make partial sums of up to n/4 before they cancel",
		}
	}
	return a
}
