package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// Less is a Bool tensor that is true where the element of in is below that of b. Both tensors are broadcast together.
// Nothing is below NaN, and NaN is below nothing.
type Less struct{}

// Spec returns the declaration.
func (Less) Spec() *spec.Op { return lessOp.Op() }

var lessOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineComparison[Less]("less",
		"True where the element of in is below that of b, with broadcasting. Nothing is below NaN, and NaN is below nothing.", "Less", logic.Less)
}}
