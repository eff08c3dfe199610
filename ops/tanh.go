package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Tanh is the hyperbolic tangent of each element.
type Tanh struct{}

// Spec returns the declaration.
func (Tanh) Spec() *spec.Op { return tanhOp.Op() }

// Gradient declares the gradient, by TanhGrad.
func (Tanh) Gradient(t *spec.Tape) {
	derivative(t, TanhGrad{})
}

var tanhOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Tanh](elementwise.Unary{
		Name: "tanh", Shader: "math/tanh", ONNX: []string{"Tanh"},
		Doc:  "The hyperbolic tangent of each element.",
		F:    math.Tanh,
		Ulps: 8,
		Why:  "an exponential less 1, a sum and a quotient are rounded", Low: -10, High: 10, Flops: 16,
	})
}}
