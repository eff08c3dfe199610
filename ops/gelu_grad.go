package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// GELUGrad is the gradient of GELU in its tanh form, dy times the derivative at x. The
// derivative is 0 at −Inf and 1 at +Inf.
type GELUGrad struct{}

// Spec returns the declaration.
func (GELUGrad) Spec() *spec.Op { return geluGradOp.Op() }

var geluGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradient[GELUGrad](elementwise.Gradient{
		Name: "gelu_grad", Shader: "nn/gelu_grad",
		Doc:    "The gradient of gelu: dy times the derivative of gelu's tanh form at x.",
		Source: "Hendrycks and Gimpel, Gaussian Error Linear Units, 2016",
		F: func(x, dy float64) float64 {
			if math.Abs(x) > 30 { // the derivative is 0 or 1, also at infinities
				if x > 0 {
					return dy
				}
				return dy * 0
			}
			u := math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x)
			du := math.Sqrt(2/math.Pi) * (1 + 3*0.044715*x*x)
			t := math.Tanh(u)
			return dy * (0.5*(1+t) + 0.5*x*(1-t*t)*du)
		},
		// Results of up to 7 in magnitude, and an exponential of a cubic.
		Ulps: 8, Abs: 60, Why: "an exponential, whose error grows with the cubic in it, and two products of it are summed and multiplied by dy of up to 6", Flops: 30,
	})
}}
