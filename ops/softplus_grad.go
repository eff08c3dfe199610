package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// SoftplusGrad is the gradient of Softplus: dy times the logistic function of x.
type SoftplusGrad struct{}

// Spec returns the declaration.
func (SoftplusGrad) Spec() *spec.Op { return softplusGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative, s·(1 − s).
func (SoftplusGrad) Gradient(t *spec.Tape) {
	second(t, SoftplusGrad{}, func(x spec.Value) spec.Value {
		return t.Call(SigmoidGrad{}, x, ones(t, x))
	})
}

var softplusGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradient[SoftplusGrad](elementwise.Gradient{
		Name: "softplus_grad", Shader: "nn/softplus_grad",
		Doc:  "The gradient of softplus: dy times the logistic function of x.",
		F:    func(x, dy float64) float64 { return dy / (1 + math.Exp(-x)) },
		Ulps: 9, Why: "an exponential, a sum, a quotient and a product are rounded", Flops: 17,
	})
}}
