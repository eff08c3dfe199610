package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// MishGrad is the gradient of Mish: dy times t + x·(1 − t²)·s(x) with t = tanh(ln(1 + e^x)) and the
// logistic function s. The derivative is 0 at −Inf and 1 at +Inf.
type MishGrad struct{}

// Spec returns the declaration.
func (MishGrad) Spec() *spec.Op { return mishGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative: with s the logistic function and y the hyperbolic tangent of softplus, (1 − y²)·s·(2 + x·(1 − s − 2·y·s)).
func (MishGrad) Gradient(t *spec.Tape) {
	second(t, MishGrad{}, func(x spec.Value) spec.Value {
		s, y := t.Call(Sigmoid{}, x), t.Call(Tanh{}, t.Call(Softplus{}, x))
		inner := difference(t, difference(t, t.Scalar(1, x), s), scaled(t, times(t, y, s), 2))
		return times(t, times(t, difference(t, t.Scalar(1, x), squared(t, y)), s), plus(t, times(t, x, inner), 2))
	})
}

var mishGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradient[MishGrad](elementwise.Gradient{
		Name: "mish_grad", Shader: "nn/mish_grad",
		Source: "Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019",
		Doc:    "The gradient of mish: dy times t + x·(1 − t²)·s(x) with t = tanh(ln(1 + e^x)) and the logistic function s. The derivative is 0 at −Inf and 1 at +Inf.",
		F: func(x, dy float64) float64 {
			if math.Abs(x) > 700 { // at infinities too
				if x > 0 {
					return dy
				}
				return dy * 0
			}
			u := math.Log1p(math.Exp(x))
			return dy * (math.Tanh(u) + x/math.Cosh(u)/math.Cosh(u)/(1+math.Exp(-x)))
		},
		Ulps: 16, Abs: 28, Why: "an exponential, sums, quotients and products are rounded, some of them twice; the second term is at most 0.3, off by 14 units, and multiplied by dy of up to 6", Flops: 24,
	})
}}
