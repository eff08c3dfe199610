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

var sigmoidGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradient[SigmoidGrad](elementwise.Gradient{
		Name: "sigmoid_grad", Shader: "nn/sigmoid_grad",
		Doc:  "The gradient of sigmoid: dy times s(x)·s(−x), where s is the logistic function. It is 0 at ±Inf.",
		F:    func(x, dy float64) float64 { return dy / (1 + math.Exp(-x)) / (1 + math.Exp(x)) },
		Ulps: 10, Why: "an exponential of 4 units, a sum and a quotient are rounded, the last two twice, and two products of them", Flops: 18,
	})
}}
