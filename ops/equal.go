package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// Equal is a Bool tensor that is true where the elements of in and b are equal. Both tensors are broadcast together.
// NaN equals nothing, and −0 equals 0.
type Equal struct{}

// Spec returns the declaration.
func (Equal) Spec() *spec.Op { return equalOp.Op() }

var equalOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineComparison[Equal]("equal",
		"True where the elements of in and b are equal, with broadcasting. NaN equals nothing, and −0 equals 0.", "Equal", logic.Equal)
}}
