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

var whereOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineWhere[Where]("where",
		"The element of x where that of condition is true, and else that of y, with broadcasting.", "Where")
}}
