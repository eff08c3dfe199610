package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// HardSwishGrad is the gradient of HardSwish: dy times x/3 + ½, or times 0 for x up to −3 and times 1 for x
// from 3 on.
type HardSwishGrad struct{}

// Spec returns the declaration.
func (HardSwishGrad) Spec() *spec.Op { return hardSwishGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative, ⅓ between −3 and 3.
func (HardSwishGrad) Gradient(t *spec.Tape) {
	second(t, HardSwishGrad{}, func(x spec.Value) spec.Value {
		return where(t, t.Call(Less{}, t.Call(Abs{}, x), t.Scalar(3, x)), t.Call(Fill{Value: 1.0 / 3, DType: t.Desc(x).DType, Shape: t.Shape(x)}))
	})
}

var hardSwishGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradient[HardSwishGrad](elementwise.Gradient{
		Name: "hard_swish_grad", Shader: "nn/hard_swish_grad",
		Source: "Howard et al., Searching for MobileNetV3, 2019",
		Doc:    "The gradient of hard_swish: dy times x/3 + ½, or times 0 for x up to −3 and times 1 for x from 3 on.",
		F: func(x, dy float64) float64 {
			switch {
			case x <= -3:
				return dy * 0
			case x >= 3:
				return dy
			}
			return dy * (2*x + 3) / 6
		},
		Ulps: 6, Why: "a sum, which loses nothing where it cancels, a quotient of 2.5 units and a product are rounded", Flops: 4,
	})
}}
