package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Mul is the product of the elements of two tensors, broadcast together.
type Mul struct{}

// Spec returns the declaration.
func (Mul) Spec() *spec.Op { return mulOp.Op() }

// Gradient declares the gradients: dy·b, and dy·a.
func (Mul) Gradient(t *spec.Tape) {
	dy, a, b := t.Gradient(0), t.In(0), t.In(1)
	if t.Needs(0) {
		t.SetGradient(0, times(t, dy, b))
	}
	if t.Needs(1) {
		t.SetGradient(1, times(t, dy, a))
	}
}

var mulOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineBinary[Mul](elementwise.Binary{
		Name: "mul", Integers: logic.Product, Shader: "math/mul", DTypes: planner.Floats, ONNX: []string{"Mul"},
		Doc:  "The product of the elements of two tensors, with broadcasting. Integers wrap.",
		F:    func(a, b float64) float64 { return a * b },
		Ulps: 1, Why: "the device rounds once, up or down", Low: -100, High: 100,
	})
}}
