package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Sin is the sine of each element, in radians. For F64 the result is NaN if |x| is above
// 2²⁷. The other types accept any x.
type Sin struct{}

// Spec returns the declaration.
func (Sin) Spec() *spec.Op { return sinOp.Op() }

// Gradient declares the gradient, dy·cos x.
func (Sin) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, times(t, dy, t.Call(Cos{}, x)))
}

var sinOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Sin](elementwise.Unary{
		Name: "sin", Shader: "math/sin", ONNX: []string{"Sin"},
		Doc:  "The sine of each element, in radians. For f64 the result is NaN if |x| is above 2^27.",
		F:    math.Sin,
		Ulps: 4,
		Abs:  1,
		Why:  "the argument is reduced exactly, and a polynomial rounded", Low: -100, High: 100, Flops: 20,
	})
}}
