package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Asin is the arcsine of each element, from −π/2 to π/2. It is NaN outside −1..1.
type Asin struct{}

// Spec returns the declaration.
func (Asin) Spec() *spec.Op { return asinOp.Op() }

// Gradient declares the gradient, dy/√(1 − x²).
func (Asin) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, times(t, dy, t.Call(Rsqrt{}, difference(t, t.Scalar(1, x), squared(t, x)))))
}

var asinOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Asin](elementwise.Unary{
		Name: "asin", Shader: "math/asin", ONNX: []string{"Asin"},
		Doc:  "The arcsine of each element, from −π/2 to π/2. It is NaN outside −1..1.",
		F:    func(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }, // math.Asin loses digits near 1.
		Ulps: 9,
		Why:  "a root of 2 units, a quotient of 2.5 units of two rounded numbers, a polynomial and a sum are rounded", Low: -1, High: 1, Flops: 32,
	})
}}
