package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// SigmoidGrad is the gradient of Sigmoid: dy times s(x)·s(−x), where s is the logistic function. It is
// 0 at ±Inf.
type SigmoidGrad struct{}

// Spec returns the declaration.
func (SigmoidGrad) Spec() *spec.Op { return sigmoidGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative, s'·(1 − 2s).
func (SigmoidGrad) Gradient(t *spec.Tape) {
	second(t, SigmoidGrad{}, func(x spec.Value) spec.Value {
		s := t.Call(Sigmoid{}, x)
		return t.Call(SigmoidGrad{}, x, plus(t, scaled(t, s, -2), 1))
	})
}

var sigmoidGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradient[SigmoidGrad](elementwise.Gradient{
		Name: "sigmoid_grad", Shader: "nn/sigmoid_grad",
		Doc:  "The gradient of sigmoid: dy times s(x)·s(−x), where s is the logistic function. It is 0 at ±Inf.",
		F:    func(x, dy float64) float64 { return dy / (1 + math.Exp(-x)) / (1 + math.Exp(x)) },
		Ulps: 10, Why: "an exponential of 4 units, a sum and a quotient are rounded, the last two twice, and two products of them", Flops: 18,
	})
}}
