package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Sigmoid is the logistic function 1/(1 + e⁻ˣ) of each element x.
type Sigmoid struct{}

// Spec returns the declaration.
func (Sigmoid) Spec() *spec.Op { return sigmoidOp.Op() }

// Gradient declares the gradient, by SigmoidGrad.
func (Sigmoid) Gradient(t *spec.Tape) {
	derivative(t, SigmoidGrad{})
}

var sigmoidOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Sigmoid](elementwise.Unary{
		Name: "sigmoid", Shader: "nn/sigmoid", ONNX: []string{"Sigmoid"},
		Doc:  "The logistic function 1/(1 + e^−x) of each element x.",
		F:    func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		Ulps: 8,
		Why:  "an exponential, a sum and a quotient are rounded", Low: -20, High: 20, Flops: 16,
	})
}}
