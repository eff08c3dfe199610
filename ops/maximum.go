package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Maximum is the larger of each two elements of tensors that are broadcast together. It is NaN if
// either element is NaN. The larger of +0 and −0 may be either of them.
type Maximum struct{}

// Spec returns the declaration.
func (Maximum) Spec() *spec.Op { return maximumOp.Op() }

// Gradient declares the gradients: dy goes to the larger element, and of equal ones to the first.
func (Maximum) Gradient(t *spec.Tape) {
	dy, first := t.Gradient(0), t.Call(GreaterEqual{}, t.In(0), t.In(1))
	if t.Needs(0) {
		t.SetGradient(0, where(t, first, dy))
	}
	if t.Needs(1) {
		t.SetGradient(1, unless(t, first, dy))
	}
}

var maximumOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineBinary[Maximum](elementwise.Binary{
		Name: "maximum", Integers: logic.Larger, Shader: "math/maximum", DTypes: planner.Floats,
		Doc: "The larger of each two elements, with broadcasting. The result is NaN if either element is NaN.",
		F:   elementwise.Larger,
		Why: "it rounds nothing", Low: -100, High: 100,
	})
}}
