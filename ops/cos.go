package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Cos is the cosine of each element, in radians. For F64 the result is NaN if |x| is above
// 2²⁷. The other types accept any x.
type Cos struct{}

// Spec returns the declaration.
func (Cos) Spec() *spec.Op { return cosOp.Op() }

// Gradient declares the gradient, −dy·sin x.
func (Cos) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, minus(t, times(t, dy, t.Call(Sin{}, x))))
}

var cosOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Cos](elementwise.Unary{
		Name: "cos", Shader: "math/cos", ONNX: []string{"Cos"},
		Doc:  "The cosine of each element, in radians. For f64 the result is NaN if |x| is above 2^27.",
		F:    math.Cos,
		Ulps: 4,
		Abs:  1,
		Why:  "the argument is reduced exactly, and a polynomial rounded", Low: -100, High: 100, Flops: 20,
	})
}}
