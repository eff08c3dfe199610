package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// GELU is the Gaussian error linear unit of each element in its tanh form,
// x·½·(1 + tanh(√(2/π)·(x + 0.044715·x³))). GELU of −Inf is 0, the limit.
type GELU struct{}

// Spec returns the declaration.
func (GELU) Spec() *spec.Op { return geluOp.Op() }

// Gradient declares the gradient, by GELUGrad.
func (GELU) Gradient(t *spec.Tape) {
	derivative(t, GELUGrad{})
}

var geluOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[GELU](elementwise.Unary{
		Name: "gelu", Shader: "nn/gelu",
		Source: "Hendrycks and Gimpel, Gaussian Error Linear Units, 2016",
		Doc:    "The Gaussian error linear unit of each element in its tanh form, x·½·(1 + tanh(√(2/π)·(x + 0.044715·x³))). The result for −Inf is 0, the limit.",
		F: func(x float64) float64 {
			if math.IsInf(x, -1) {
				return 0
			}
			u := math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x)
			return x / (1 + math.Exp(-2*u))
		},
		Ulps: 8,
		Abs:  6,
		Why:  "a cubic, whose error the exponential multiplies by its size, a quotient and a product are rounded", Low: -8, High: 8, Flops: 22,
	})
}}
