package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Exp is eˣ for each element x.
type Exp struct{}

// Spec returns the declaration.
func (Exp) Spec() *spec.Op { return expOp.Op() }

// Gradient declares the gradient, dy·y.
func (Exp) Gradient(t *spec.Tape) {
	dy, y := t.Gradient(0), t.Out(0)
	t.SetGradient(0, times(t, dy, y))
}

var expOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Exp](elementwise.Unary{
		Name: "exp", Shader: "math/exp", ONNX: []string{"Exp"},
		Doc:  "The exponential of each element.",
		F:    exponential,
		Ulps: 4,
		Why:  "the remainder of the reduction, a polynomial of degree 7 (14 in f64) and a product are rounded", Low: -20, High: 20, Flops: 12,
	})
}}

// exponential is eˣ. On some processors math.Exp overflows too early, from 709.4 on. So
// exponential multiplies two powers with half of the exponent each.
func exponential(x float64) float64 {
	if x > 700 && x < 710 {
		return math.Exp(x/2) * math.Exp(x-x/2)
	}
	return math.Exp(x)
}
