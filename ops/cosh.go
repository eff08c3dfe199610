package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Cosh is the hyperbolic cosine of each element.
type Cosh struct{}

// Spec returns the declaration.
func (Cosh) Spec() *spec.Op { return coshOp.Op() }

// Gradient declares the gradient, dy·sinh x.
func (Cosh) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, times(t, dy, t.Call(Sinh{}, x)))
}

var coshOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Cosh](elementwise.Unary{
		Name: "cosh", Shader: "math/cosh", ONNX: []string{"Cosh"},
		Doc: "The hyperbolic cosine of each element.",
		F: func(x float64) float64 {
			if e := math.Exp(math.Abs(x) / 2); math.Abs(x) > 30 { // math.Cosh overflows too early.
				return e / 2 * e
			}
			return math.Cosh(x)
		},
		Ulps: 12,
		Why:  "an exponential of 4 units is squared, which doubles its error, and a sum and a quotient are rounded", Low: -30, High: 30, Flops: 18,
	})
}}
