package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Minimum is the smaller of each two elements of tensors that are broadcast together. It is NaN if
// either element is NaN. The smaller of +0 and −0 may be either of them.
type Minimum struct{}

// Spec returns the declaration.
func (Minimum) Spec() *spec.Op { return minimumOp.Op() }

// Gradient declares the gradients: dy goes to the smaller element, and of equal ones to the first.
func (Minimum) Gradient(t *spec.Tape) {
	dy, first := t.Gradient(0), t.Call(LessEqual{}, t.In(0), t.In(1))
	if t.Needs(0) {
		t.SetGradient(0, where(t, first, dy))
	}
	if t.Needs(1) {
		t.SetGradient(1, unless(t, first, dy))
	}
}

var minimumOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineBinary[Minimum](elementwise.Binary{
		Name: "minimum", Integers: logic.Smaller, Shader: "math/minimum", DTypes: planner.Floats,
		Doc: "The smaller of each two elements, with broadcasting. The result is NaN if either element is NaN.",
		F:   func(a, b float64) float64 { return -elementwise.Larger(-a, -b) },
		Why: "it rounds nothing", Low: -100, High: 100,
	})
}}
