package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// LessEqual is a Bool tensor that is true where the element of in is below that of b or equal to it. Both tensors are broadcast together.
// It is false where one of both is NaN.
type LessEqual struct{}

// Spec returns the declaration.
func (LessEqual) Spec() *spec.Op { return lessEqualOp.Op() }

var lessEqualOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineComparison[LessEqual]("less_equal",
		"True where the element of in is below that of b or equal to it, with broadcasting. It is false where one of both is NaN.", "LessOrEqual", logic.Less|logic.Equal)
}}
