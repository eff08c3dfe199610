package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// SiLUGrad is the gradient of SiLU: dy times s(x)·(1 + x·s(−x)), where s is the logistic function.
// The derivative is 0 at −Inf and 1 at +Inf.
type SiLUGrad struct{}

// Spec returns the declaration.
func (SiLUGrad) Spec() *spec.Op { return siluGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative, s'·(2 + x·(1 − 2s)).
func (SiLUGrad) Gradient(t *spec.Tape) {
	second(t, SiLUGrad{}, func(x spec.Value) spec.Value {
		return curvedSwish(t, x, 1)
	})
}

var siluGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradient[SiLUGrad](elementwise.Gradient{
		Name: "silu_grad", Shader: "nn/silu_grad",
		Source: "Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units, 2017",
		Doc:    "The gradient of silu: dy times s(x)·(1 + x·s(−x)), where s is the logistic function. The derivative is 0 at −Inf and 1 at +Inf.",
		F: func(x, dy float64) float64 {
			if math.Abs(x) > 1000 { // at infinities too
				if x > 0 {
					return dy
				}
				return dy * 0
			}
			return dy * (1/(1+math.Exp(-x)) + x/(1+math.Exp(-x))/(1+math.Exp(x)))
		},
		Ulps: 10, Abs: 16, Why: "an exponential, sums, quotients and products are rounded; x·s(x)·s(−x) is at most 0.23, off by 10 units, and multiplied by dy of up to 6", Flops: 20,
	})
}}
