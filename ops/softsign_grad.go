package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// SoftsignGrad is the gradient of Softsign: dy times 1/(1 + |x|)², which is 0 at ±Inf.
type SoftsignGrad struct{}

// Spec returns the declaration.
func (SoftsignGrad) Spec() *spec.Op { return softsignGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative, −2·sign x/(1 + |x|)³.
func (SoftsignGrad) Gradient(t *spec.Tape) {
	second(t, SoftsignGrad{}, func(x spec.Value) spec.Value {
		r := t.Call(Reciprocal{}, plus(t, t.Call(Abs{}, x), 1))
		return scaled(t, times(t, t.Call(Sign{}, x), times(t, r, squared(t, r))), -2)
	})
}

var softsignGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradient[SoftsignGrad](elementwise.Gradient{
		Name: "softsign_grad", Shader: "nn/softsign_grad",
		Doc: "The gradient of softsign: dy times 1/(1 + |x|)², which is 0 at ±Inf.",
		F: func(x, dy float64) float64 {
			a := 1 + math.Abs(x)
			return dy / (a * a)
		},
		Ulps: 10, Why: "a sum and a quotient of 2.5 units are squared, and two products are rounded", Flops: 5,
	})
}}
