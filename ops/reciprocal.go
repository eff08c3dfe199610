package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Reciprocal is 1/x for each element x. The result for 0 is an infinity.
type Reciprocal struct{}

// Spec returns the declaration.
func (Reciprocal) Spec() *spec.Op { return reciprocalOp.Op() }

// Gradient declares the gradient, −dy·y².
func (Reciprocal) Gradient(t *spec.Tape) {
	dy, y := t.Gradient(0), t.Out(0)
	t.SetGradient(0, minus(t, times(t, dy, squared(t, y))))
}

var reciprocalOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Reciprocal](elementwise.Unary{
		Name: "reciprocal", Shader: "math/reciprocal", ONNX: []string{"Reciprocal"},
		Doc:  "1/x for each element x; the result for 0 is an infinity.",
		F:    func(x float64) float64 { return 1 / x },
		Ulps: 3,
		Why:  "devices round a division to 2.5 units", Low: -4, High: 4, Flops: 1,
	})
}}
