package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// Greater is a Bool tensor that is true where the element of in is above that of b. Both tensors are broadcast together.
// Nothing is above NaN, and NaN is above nothing.
type Greater struct{}

// Spec returns the declaration.
func (Greater) Spec() *spec.Op { return greaterOp.Op() }

var greaterOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineComparison[Greater]("greater",
		"True where the element of in is above that of b, with broadcasting. Nothing is above NaN, and NaN is above nothing.", "Greater", logic.Greater)
}}
