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

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative: with u the argument of tanh, and y its value, (1 − y²)·(u' + x·(½·u” − y·u'²)).
func (GELUGrad) Gradient(t *spec.Tape) {
	second(t, GELUGrad{}, func(x spec.Value) spec.Value {
		k, q := math.Sqrt(2/math.Pi), squared(t, x)
		du := plus(t, scaled(t, q, 3*0.044715*k), k)
		y := t.Call(Tanh{}, times(t, x, plus(t, scaled(t, q, 0.044715*k), k)))
		inner := difference(t, scaled(t, x, 3*0.044715*k), times(t, y, squared(t, du)))
		return times(t, difference(t, t.Scalar(1, x), squared(t, y)), sum(t, du, times(t, x, inner)))
	})
}

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
