package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Atanh is the inverse hyperbolic tangent of each element. It is infinite at −1 and 1, and NaN beyond.
type Atanh struct{}

// Spec returns the declaration.
func (Atanh) Spec() *spec.Op { return atanhOp.Op() }

// Gradient declares the gradient, dy/(1 − x²).
func (Atanh) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, over(t, dy, difference(t, t.Scalar(1, x), squared(t, x))))
}

var atanhOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Atanh](elementwise.Unary{
		Name: "atanh", Shader: "math/atanh", ONNX: []string{"Atanh"},
		Doc:  "The inverse hyperbolic tangent of each element. It is infinite at −1 and 1, and NaN beyond.",
		F:    math.Atanh,
		Ulps: 9,
		Why:  "two sums, a quotient of 2.5 units and a logarithm of 3 units are rounded", Low: -1, High: 1, Flops: 36,
	})
}}
