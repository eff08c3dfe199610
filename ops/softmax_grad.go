package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// SoftmaxGrad is the gradient of Softmax: of its result y and the gradient dy of
// that, dx = y·(dy − Σ y·dy), the sum along the dimension.
type SoftmaxGrad struct {
	Dim int `attr:"dim,required" doc:"the dimension, negative from the end"`
}

// Spec returns the declaration.
func (SoftmaxGrad) Spec() *spec.Op { return softmaxGradOp }

// dotFold sums a·b and b.
var dotFold = folder{name: "nn/softmax_grad_stat", reals: 2}

var softmaxGradOp = newAlong(along{
	name: "softmax_grad", call: func(dim int) spec.Call { return SoftmaxGrad{dim} }, dim: func(c spec.Call) int { return c.(SoftmaxGrad).Dim },
	doc: "The gradient of softmax: y·(dy − Σ y·dy), the sum along the dimension.",
	in: []spec.Arg{{Name: "y", Doc: "what softmax made, of any shape but a scalar"},
		{Name: "dy", Doc: "the gradient of y, of the same dtype and shape"}},
	kernels: append(dotFold.kernels(floats...), applyKernels("nn/softmax_grad", floats...)...),
	plan: func(plan *spec.Plan, t *spec.Target, d tensor.DType, v normal) error {
		in := []spec.Ref{spec.In(0), spec.In(1)}
		states, err := addFold(plan, t, dotFold, d, v, spec.Ref{}, in...)
		if err != nil {
			return err
		}
		return addApply(plan, t, applier{name: "nn/softmax_grad", fold: dotFold}, d, v, states, spec.Out(0), in...)
	},
	reference: func(v normal, in [][]float64) []float64 {
		y, dy := in[0], in[1]
		eachColumn(v, func(at func(int) int) {
			sum := sumOf(v.n, func(r int) float64 { return y[at(r)] * dy[at(r)] })
			for r := range v.n {
				y[at(r)] *= dy[at(r)] - sum
			}
		})
		return y
	},
	low: -1, high: 1, flops: 4,
	tolerance: func(d tensor.DType, n int) spec.Tolerance {
		e, h := workEpsilon(d), foldChain(n)
		return spec.Tolerance{
			Abs: e*(4+float64(n)/4) + tiny(d), Rel: e*(4+math.Sqrt(h/3)) + storeEpsilon(d),
			Law: "ε·(4 + n/4) + ε·(4 + √(h/3)) of the value, h = " + foldChainText,
			Any: rounded(h+4, e), AnyLaw: "((1 + ε)^(h+4) − 1)·|y|·(|dy| + Σ|y·dy|)",
			Why: "products are added up in blocks and these in turn, so that each is rounded at most h times; products up to 1 make partial sums of up to n/4 before they cancel",
		}
	},
})

// storeEpsilon is how far a result may be from its reference, of their size,
// because both were rounded to a dtype of 16 bits.
func storeEpsilon(d tensor.DType) float64 {
	if d.Size() == 2 {
		return epsilon(d)
	}
	return 0
}
