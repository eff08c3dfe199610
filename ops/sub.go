package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// Sub is the difference in - b of two tensors, broadcast together. Integers wrap.
type Sub struct{}

// Spec returns the declaration.
func (Sub) Spec() *spec.Op { return subOp.Op() }

// Gradient declares the gradients: dy, and −dy.
func (Sub) Gradient(t *spec.Tape) {
	t.SetGradient(0, t.Gradient(0))
	if t.Needs(1) {
		t.SetGradient(1, minus(t, t.Gradient(0)))
	}
}

var subOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineBinary[Sub](elementwise.Binary{
		Name: "sub", Integers: logic.Difference, Shader: "math/sub", DTypes: elementwise.Arithmetic, ONNX: []string{"Sub"},
		Doc:  "The difference in - b of two tensors, with broadcasting. Integers wrap.",
		F:    func(a, b float64) float64 { return a - b },
		Ulps: 1, Why: "the device rounds once, up or down", Low: -100, High: 100,
	})
}}
