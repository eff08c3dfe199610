package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Atan is the arctangent of each element, from −π/2 to π/2.
type Atan struct{}

// Spec returns the declaration.
func (Atan) Spec() *spec.Op { return atanOp.Op() }

// Gradient declares the gradient, dy/(x² + 1).
func (Atan) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, over(t, dy, plus(t, squared(t, x), 1)))
}

var atanOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Atan](elementwise.Unary{
		Name: "atan", Shader: "math/atan", ONNX: []string{"Atan"},
		Doc:  "The arctangent of each element, from −π/2 to π/2.",
		F:    math.Atan,
		Ulps: 6,
		Why:  "a quotient of 2.5 units of two rounded numbers, a polynomial and a sum are rounded", Low: -20, High: 20, Flops: 24,
	})
}}
