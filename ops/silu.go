package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// SiLU is x·sigmoid(x) for each element x. SiLU of −Inf is 0, the limit.
type SiLU struct{}

// Spec returns the declaration.
func (SiLU) Spec() *spec.Op { return siluOp.Op() }

// Gradient declares the gradient, by SiLUGrad.
func (SiLU) Gradient(t *spec.Tape) {
	derivative(t, SiLUGrad{})
}

var siluOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[SiLU](elementwise.Unary{
		Name: "silu", Shader: "nn/silu",
		Source: "Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units, 2017",
		Doc:    "x·sigmoid(x) for each element x. The result for −Inf is 0, the limit.",
		F: func(x float64) float64 {
			if math.IsInf(x, -1) {
				return 0
			}
			return x / (1 + math.Exp(-x))
		},
		Ulps: 8,
		Why:  "an exponential, a sum, a quotient and a product are rounded", Low: -20, High: 20, Flops: 17,
	})
}}
