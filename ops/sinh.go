package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Sinh is the hyperbolic sine of each element.
type Sinh struct{}

// Spec returns the declaration.
func (Sinh) Spec() *spec.Op { return sinhOp.Op() }

// Gradient declares the gradient, dy·cosh x.
func (Sinh) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, times(t, dy, t.Call(Cosh{}, x)))
}

var sinhOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Sinh](elementwise.Unary{
		Name: "sinh", Shader: "math/sinh", ONNX: []string{"Sinh"},
		Doc: "The hyperbolic sine of each element.",
		F: func(x float64) float64 {
			if e := math.Exp(math.Abs(x) / 2); math.Abs(x) > 30 { // math.Sinh overflows too early.
				return math.Copysign(e/2*e, x)
			}
			return math.Sinh(x)
		},
		Ulps: 12,
		Why:  "an exponential of 4 units is squared, which doubles its error, and a sum and a quotient are rounded", Low: -30, High: 30, Flops: 32,
	})
}}
