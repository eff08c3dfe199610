package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// ReLU is the rectifier, max(x, 0) for each element x. NaN stays NaN.
type ReLU struct{}

// Spec returns the declaration.
func (ReLU) Spec() *spec.Op { return reluOp.Op() }

// Gradient declares the gradient, by ReLUGrad.
func (ReLU) Gradient(t *spec.Tape) {
	derivative(t, ReLUGrad{})
}

var reluOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[ReLU](elementwise.Unary{
		Name: "relu", Shader: "nn/relu", ONNX: []string{"Relu"},
		Doc: "The rectifier: the larger of each element and 0. NaN stays NaN.",
		F: func(x float64) float64 {
			if x > 0 || math.IsNaN(x) {
				return x
			}
			return 0
		},
		Why: "it rounds nothing", Low: -4, High: 4,
	})
}}
