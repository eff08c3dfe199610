package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Mish is x·tanh(ln(1 + e^x)) for each element x. Mish of −Inf is 0, the limit.
type Mish struct{}

// Spec returns the declaration.
func (Mish) Spec() *spec.Op { return mishOp.Op() }

// Gradient declares the gradient, by MishGrad.
func (Mish) Gradient(t *spec.Tape) {
	derivative(t, MishGrad{})
}

var mishOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Mish](elementwise.Unary{
		Name: "mish", Shader: "nn/mish", ONNX: []string{"Mish"},
		Source: "Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019",
		Doc:    "x·tanh(ln(1 + e^x)) for each element x. The result for −Inf is 0, the limit.",
		F: func(x float64) float64 {
			if math.IsInf(x, -1) {
				return 0
			}
			return x * math.Tanh(math.Log1p(math.Exp(x)))
		},
		Ulps: 14,
		Why:  "an exponential of 3 units, two sums, two products and a quotient are rounded, some twice", Low: -20, High: 30, Flops: 20,
	})
}}
