package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Acos is the arccosine of each element, from 0 to π. It is NaN outside −1..1.
type Acos struct{}

// Spec returns the declaration.
func (Acos) Spec() *spec.Op { return acosOp.Op() }

// Gradient declares the gradient, −dy/√(1 − x²).
func (Acos) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, minus(t, times(t, dy, t.Call(Rsqrt{}, difference(t, t.Scalar(1, x), squared(t, x))))))
}

var acosOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Acos](elementwise.Unary{
		Name: "acos", Shader: "math/acos", ONNX: []string{"Acos"},
		Doc:  "The arccosine of each element, from 0 to π. It is NaN outside −1..1.",
		F:    func(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }, // math.Acos loses digits near 1.
		Ulps: 9,
		Why:  "a root of 2 units, a quotient of 2.5 units of two rounded numbers, a polynomial and two sums are rounded", Low: -1, High: 1, Flops: 32,
	})
}}
