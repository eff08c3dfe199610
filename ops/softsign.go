package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Softsign is x/(1 + |x|) for each element x. Softsign of ±Inf is ±1, the limit.
type Softsign struct{}

// Spec returns the declaration.
func (Softsign) Spec() *spec.Op { return softsignOp.Op() }

// Gradient declares the gradient, by SoftsignGrad.
func (Softsign) Gradient(t *spec.Tape) {
	derivative(t, SoftsignGrad{})
}

var softsignOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Softsign](elementwise.Unary{
		Name: "softsign", Shader: "nn/softsign", ONNX: []string{"Softsign"},
		Doc: "x/(1 + |x|) for each element x. The result for ±Inf is ±1, the limit.",
		F: func(x float64) float64 {
			if math.IsInf(x, 0) {
				return math.Copysign(1, x)
			}
			return x / (1 + math.Abs(x))
		},
		Ulps: 4,
		Why:  "a sum and a quotient of 2.5 units are rounded", Low: -8, High: 8, Flops: 3,
	})
}}
