package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// GreaterEqual is a Bool tensor that is true where the element of in is above that of b or equal to it. Both tensors are broadcast together.
// It is false where one of both is NaN.
type GreaterEqual struct{}

// Spec returns the declaration.
func (GreaterEqual) Spec() *spec.Op { return greaterEqualOp.Op() }

var greaterEqualOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineComparison[GreaterEqual]("greater_equal",
		"True where the element of in is above that of b or equal to it, with broadcasting. It is false where one of both is NaN.", "GreaterOrEqual", logic.Greater|logic.Equal)
}}
