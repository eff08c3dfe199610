package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// Add is the sum of two tensors, broadcast together. Integers wrap.
type Add struct{}

// Spec returns the declaration.
func (Add) Spec() *spec.Op { return addOp.Op() }

// Gradient declares the gradients: dy of both.
func (Add) Gradient(t *spec.Tape) {
	t.SetGradient(0, t.Gradient(0))
	t.SetGradient(1, t.Gradient(0))
}

var addOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineBinary[Add](elementwise.Binary{
		Name: "add", Integers: logic.Sum, Shader: "math/add", DTypes: elementwise.Arithmetic, ONNX: []string{"Add"},
		Doc:  "The sum of two tensors, with broadcasting. Integers wrap.",
		F:    func(a, b float64) float64 { return a + b },
		Ulps: 1, Why: "the device rounds once, up or down", Low: -100, High: 100,
	})
}}
