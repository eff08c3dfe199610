package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// ReLUGrad is the gradient of ReLU: dy where x > 0, NaN where x is NaN, and 0 elsewhere.
type ReLUGrad struct{}

// Spec returns the declaration.
func (ReLUGrad) Spec() *spec.Op { return reluGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x is zero.
func (ReLUGrad) Gradient(t *spec.Tape) {
	second(t, ReLUGrad{}, nil)
}

var reluGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradient[ReLUGrad](elementwise.Gradient{
		Name: "relu_grad", Shader: "nn/relu_grad",
		Doc: "The gradient of relu: dy where x is above 0, NaN where x is NaN, and 0 elsewhere.",
		F: func(x, dy float64) float64 {
			switch {
			case math.IsNaN(x):
				return x
			case x > 0:
				return dy
			}
			return 0
		},
		Why: "it rounds nothing", Flops: 1,
	})
}}
