package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Div is the quotient in / b of two tensors, broadcast together. Integers are rounded towards 0. An integer divided by
// 0 is 0, and the least integer divided by −1 wraps.
type Div struct{}

// Spec returns the declaration.
func (Div) Spec() *spec.Op { return divOp.Op() }

// Gradient declares the gradients: dy/b, and −dy·y/b.
func (Div) Gradient(t *spec.Tape) {
	dy, b := t.Gradient(0), t.In(1)
	if t.Needs(0) {
		t.SetGradient(0, over(t, dy, b))
	}
	if t.Needs(1) {
		t.SetGradient(1, minus(t, over(t, times(t, dy, t.Out(0)), b)))
	}
}

var divOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineBinary[Div](elementwise.Binary{
		Name: "div", Integers: logic.Quotient, Shader: "math/div", DTypes: planner.Floats, ONNX: []string{"Div"},
		Doc:  "The quotient in / b of two tensors, with broadcasting. Integers are rounded towards 0, and x / 0 is 0.",
		F:    func(a, b float64) float64 { return a / b },
		Ulps: 3, Why: "devices divide to 2.5 units of the last place", Low: -100, High: 100,
	})
}}
