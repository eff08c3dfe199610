package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Asinh is the inverse hyperbolic sine of each element.
type Asinh struct{}

// Spec returns the declaration.
func (Asinh) Spec() *spec.Op { return asinhOp.Op() }

// Gradient declares the gradient, dy/√(x² + 1).
func (Asinh) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, times(t, dy, t.Call(Rsqrt{}, plus(t, squared(t, x), 1))))
}

var asinhOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Asinh](elementwise.Unary{
		Name: "asinh", Shader: "math/asinh", ONNX: []string{"Asinh"},
		Doc:  "The inverse hyperbolic sine of each element.",
		F:    math.Asinh,
		Ulps: 9,
		Why:  "a root of 2 units, a quotient of 2.5 units, three sums and a logarithm of 3 units are rounded", Low: -40, High: 40, Flops: 44,
	})
}}
