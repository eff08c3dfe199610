package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// GELUErfGrad is the gradient of GELUErf: dy times Φ(x) + x·φ(x) with the distribution Φ and the density φ of
// the normal distribution. The derivative is 0 at −Inf and 1 at +Inf.
type GELUErfGrad struct{}

// Spec returns the declaration.
func (GELUErfGrad) Spec() *spec.Op { return geluErfGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative, φ(x)·(2 − x²).
func (GELUErfGrad) Gradient(t *spec.Tape) {
	second(t, GELUErfGrad{}, func(x spec.Value) spec.Value {
		q := squared(t, x)
		return times(t, scaled(t, t.Call(Exp{}, scaled(t, q, -0.5)), 1/math.Sqrt(2*math.Pi)), plus(t, minus(t, q), 2))
	})
}

var geluErfGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradient[GELUErfGrad](elementwise.Gradient{
		Name: "gelu_erf_grad", Shader: "nn/gelu_erf_grad",
		Source: "Hendrycks and Gimpel, Gaussian Error Linear Units, 2016",
		Doc:    "The gradient of gelu_erf: dy times Φ(x) + x·φ(x) with the distribution Φ and the density φ of the normal distribution. The derivative is 0 at −Inf and 1 at +Inf.",
		F: func(x, dy float64) float64 {
			if math.Abs(x) > 40 { // at infinities too
				if x > 0 {
					return dy
				}
				return dy * 0
			}
			return dy * (math.Erfc(-x/math.Sqrt2)/2 + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi))
		},
		Ulps: 8, Abs: 24, Why: "the error function is off by 2 units of 1; x·φ(x) is at most 0.25, its exponential off by 4 units and by the rounding of x², which counts x³·φ(x)/2, at most 0.24; dy is up to 6", Flops: 45,
	})
}}
