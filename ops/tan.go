package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Tan is the tangent of each element, in radians. For F64 the result is NaN if |x| is above
// 2²⁷. The other types accept any x.
type Tan struct{}

// Spec returns the declaration.
func (Tan) Spec() *spec.Op { return tanOp.Op() }

// Gradient declares the gradient, dy·(y² + 1).
func (Tan) Gradient(t *spec.Tape) {
	dy, y := t.Gradient(0), t.Out(0)
	t.SetGradient(0, times(t, dy, plus(t, squared(t, y), 1)))
}

var tanOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Tan](elementwise.Unary{
		Name: "tan", Shader: "math/tan", ONNX: []string{"Tan"},
		Doc:  "The tangent of each element, in radians. For f64 the result is NaN if |x| is above 2^27.",
		F:    math.Tan,
		Ulps: 10,
		Why:  "the remainder of the argument, two polynomials and their quotient are rounded", Low: -100, High: 100, Flops: 32,
	})
}}
