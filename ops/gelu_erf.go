package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// GELUErf is the Gaussian error linear unit of each element x itself, x·½·(1 + erf(x/√2)). GELU is its tanh form.
// GELUErf of −Inf is 0, the limit.
type GELUErf struct{}

// Spec returns the declaration.
func (GELUErf) Spec() *spec.Op { return geluErfOp.Op() }

// Gradient declares the gradient, by GELUErfGrad.
func (GELUErf) Gradient(t *spec.Tape) {
	derivative(t, GELUErfGrad{})
}

var geluErfOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[GELUErf](elementwise.Unary{
		Name: "gelu_erf", Shader: "nn/gelu_erf", ONNX: []string{"Gelu"},
		Source: "Hendrycks and Gimpel, Gaussian Error Linear Units, 2016",
		Doc:    "The Gaussian error linear unit of each element x without approximation, x·½·(1 + erf(x/√2)). The result for −Inf is 0, the limit.",
		F: func(x float64) float64 {
			if math.IsInf(x, -1) {
				return 0
			}
			return x / 2 * math.Erfc(-x/math.Sqrt2)
		},
		Ulps: 4, Abs: 6,
		Why: "the error function is off by 2 units of 1, which x of up to 1.5 multiplies; farther out it is an exponential that is 0 from 4 on (6 in f64)", Low: -8, High: 8, Flops: 40,
	})
}}
