package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Sqrt is the square root of each element, and NaN for negative elements.
type Sqrt struct{}

// Spec returns the declaration.
func (Sqrt) Spec() *spec.Op { return sqrtOp.Op() }

// Gradient declares the gradient, ½·dy/y.
func (Sqrt) Gradient(t *spec.Tape) {
	dy, y := t.Gradient(0), t.Out(0)
	t.SetGradient(0, scaled(t, over(t, dy, y), 0.5))
}

var sqrtOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Sqrt](elementwise.Unary{
		Name: "sqrt", Shader: "math/sqrt", ONNX: []string{"Sqrt"},
		Doc:  "The square root of each element, and NaN for negative elements.",
		F:    math.Sqrt,
		Ulps: 2,
		Why:  "the root is rounded, and the division in its correction may be 2.5 units off", Low: 0, High: 100, Flops: 4,
	})
}}
