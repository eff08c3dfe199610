package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// NotEqual is a Bool tensor that is true where the elements of in and b differ. Both tensors are broadcast together.
// NaN differs from everything, and −0 equals 0.
type NotEqual struct{}

// Spec returns the declaration.
func (NotEqual) Spec() *spec.Op { return notEqualOp.Op() }

var notEqualOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineComparison[NotEqual]("not_equal",
		"True where the elements of in and b differ, with broadcasting. NaN differs from everything, and −0 equals 0.", "", logic.Less|logic.Greater|logic.Unordered)
}}
