package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Erf is the error function of each element.
type Erf struct{}

// Spec returns the declaration.
func (Erf) Spec() *spec.Op { return erfOp.Op() }

// Gradient declares the gradient, dy·2/√π·e^(−x²).
func (Erf) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, scaled(t, times(t, dy, t.Call(Exp{}, minus(t, squared(t, x)))), 2/math.Sqrt(math.Pi)))
}

var erfOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Erf](elementwise.Unary{
		Name: "erf", Shader: "math/erf", ONNX: []string{"Erf"},
		Doc:  "The error function of each element.",
		F:    math.Erf,
		Ulps: 8,
		Abs:  1,
		Why:  "a polynomial, and an exponential beyond 1, are rounded", Low: -4, High: 4, Flops: 20,
	})
}}
