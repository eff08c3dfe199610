package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// TanhGrad is the gradient of Tanh: dy times 1 − tanh²(x), which is 0 at ±Inf.
type TanhGrad struct{}

// Spec returns the declaration.
func (TanhGrad) Spec() *spec.Op { return tanhGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative, −2·y·y'.
func (TanhGrad) Gradient(t *spec.Tape) {
	second(t, TanhGrad{}, func(x spec.Value) spec.Value {
		return t.Call(TanhGrad{}, x, scaled(t, t.Call(Tanh{}, x), -2))
	})
}

var tanhGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradient[TanhGrad](elementwise.Gradient{
		Name: "tanh_grad", Shader: "nn/tanh_grad",
		Doc: "The gradient of tanh: dy times 1 − tanh²(x), which is 0 at ±Inf.",
		F: func(x, dy float64) float64 {
			c := math.Cosh(x)
			return dy / c / c
		},
		Ulps: 10, Why: "an exponential of 4 units, a sum and a quotient are rounded, the last two twice, and two products of them", Flops: 19,
	})
}}
