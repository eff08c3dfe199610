package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Softmax maps the elements along a dimension to e^x over the sum of all e^x,
// relative to the largest so that nothing overflows. Elements of −Inf become 0,
// and where there are no others all become 0; +Inf and NaN make NaN of all along
// with them.
type Softmax struct {
	Dim int `attr:"dim,required" doc:"the dimension, negative from the end"`
}

// Spec returns the declaration.
func (Softmax) Spec() *spec.Op { return softmaxOp }

// softmaxLongest is the longest row that one invocation takes: beyond it, the
// roundings of so many sums in turn add up.
const softmaxLongest = 4096

// softmaxFold finds the largest element and the sum of exponentials.
var softmaxFold = folder{name: "nn/softmax_stat", reals: 2}

var softmaxOp = newAlong(along{
	name: "softmax", call: func(dim int) spec.Call { return Softmax{dim} }, dim: func(c spec.Call) int { return c.(Softmax).Dim },
	doc:    "Softmax along a dimension: e^x over the sum of all e^x. Elements of −Inf become 0, and where there are no others all become 0.",
	source: "Milakov and Gimelshein, Online normalizer calculation for softmax, 2018",
	in:     []spec.Arg{{Name: "in", Doc: "a tensor of any shape but a scalar"}},
	kernels: append(append(softmaxFold.kernels(floats...), applyKernels("nn/softmax_apply", floats...)...),
		rowKernels("nn/softmax", foldParams{})...),
	longest: softmaxLongest, plan: planSoftmax, reference: referenceSoftmax, low: -8, high: 8, flops: 5,
	tolerance: func(d tensor.DType, n int) spec.Tolerance {
		return expTolerance(d, n, 16)
	},
})

func planSoftmax(plan *spec.Plan, t *spec.Target, d tensor.DType, v normal) error {
	if rowsFused(t, d, v, softmaxLongest) {
		return addRows(plan, t, "nn/softmax", d, v, func(p foldParams) any { return p }, []spec.Ref{spec.In(0)}, nil, spec.Out(0))
	}
	states, err := addFold(plan, t, softmaxFold, d, v, spec.Ref{}, spec.In(0))
	if err != nil {
		return err
	}
	return addApply(plan, t, applier{name: "nn/softmax_apply", fold: softmaxFold}, d, v, states, spec.Out(0), spec.In(0))
}

func referenceSoftmax(v normal, in [][]float64) []float64 {
	x := in[0]
	eachColumn(v, func(at func(int) int) {
		m := math.Inf(-1)
		for r := range v.n {
			m = math.Max(m, x[at(r)])
		}
		if math.IsInf(m, -1) {
			for r := range v.n {
				x[at(r)] = 0
			}
			return
		}
		sum := sumOf(v.n, func(r int) float64 {
			x[at(r)] = math.Exp(x[at(r)] - m)
			return x[at(r)]
		})
		for r := range v.n {
			x[at(r)] /= sum
		}
	})
	return x
}

// expTolerance bounds the error of powers of e over their sum, of n elements that differ
// by up to spread. A power is right to two units, and its exponent lacks as much of
// itself as it was rounded by. On the way through a chain of h a term is brought to h
// greater maxima, by powers whose exponents come to the spread together.
func expTolerance(d tensor.DType, n int, spread float64) spec.Tolerance {
	e, h := workEpsilon(d), rowChain(n)
	return spec.Tolerance{
		Abs: tiny(d), Rel: e*(8+spread+math.Sqrt(h/3)) + storeEpsilon(d),
		Law: "ε·(8 + s + √(h/3)) of the value where elements differ by up to s, " + rowChainText,
		Any: rounded(12+2*spread+4*h, e), AnyLaw: "((1 + ε)^(12+2s+4h) − 1) of the value",
		Why: "a difference rounds before it is an exponent, the power is right to two units, and the sum is of positive terms, each rounded at most h times and scaled as often",
	}
}
