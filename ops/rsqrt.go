package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Rsqrt is 1/√x for each element x. It is an infinity for 0 and NaN for negative elements.
type Rsqrt struct{}

// Spec returns the declaration.
func (Rsqrt) Spec() *spec.Op { return rsqrtOp.Op() }

// Gradient declares the gradient, −½·dy·y³.
func (Rsqrt) Gradient(t *spec.Tape) {
	dy, y := t.Gradient(0), t.Out(0)
	t.SetGradient(0, scaled(t, times(t, dy, times(t, y, squared(t, y))), -0.5))
}

var rsqrtOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Rsqrt](elementwise.Unary{
		Name: "rsqrt", Shader: "math/rsqrt",
		Doc:  "1/√x for each element x: an infinity for 0, and NaN for negative elements.",
		F:    func(x float64) float64 { return 1 / math.Sqrt(x) },
		Ulps: 8,
		Why:  "a root and a division, which devices round to 3 units each", Low: 0.001, High: 100, Flops: 2,
	})
}}
