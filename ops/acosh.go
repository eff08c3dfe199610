package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Acosh is the inverse hyperbolic cosine of each element. It is NaN below 1.
type Acosh struct{}

// Spec returns the declaration.
func (Acosh) Spec() *spec.Op { return acoshOp.Op() }

// Gradient declares the gradient, dy/√(x² − 1).
func (Acosh) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, times(t, dy, t.Call(Rsqrt{}, plus(t, squared(t, x), -1))))
}

var acoshOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Acosh](elementwise.Unary{
		Name: "acosh", Shader: "math/acosh", ONNX: []string{"Acosh"},
		Doc:  "The inverse hyperbolic cosine of each element. It is NaN below 1.",
		F:    math.Acosh,
		Ulps: 9,
		Why:  "a root of 2 units of a product, three sums and a logarithm of 3 units are rounded", Low: 1, High: 40, Flops: 44,
	})
}}
