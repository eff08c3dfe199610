package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// Where is the element of x where that of condition is true, and else that of y. All three are broadcast together. At most
// 6 dimensions may be left after neighbouring ones that all three walk alike are joined.
type Where struct{}

// Spec returns the declaration.
func (Where) Spec() *spec.Op { return whereOp.Op() }

// Gradient declares the gradients: dy where the condition chooses the input, and 0 elsewhere.
func (Where) Gradient(t *spec.Tape) {
	dy, condition := t.Gradient(0), t.In(0)
	if t.Needs(1) {
		t.SetGradient(1, where(t, condition, dy))
	}
	if t.Needs(2) {
		t.SetGradient(2, unless(t, condition, dy))
	}
}

var whereOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineWhere[Where]("where",
		"The element of x where that of condition is true, and else that of y, with broadcasting.", "Where")
}}
