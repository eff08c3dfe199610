package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Not is true where the element of a Bool tensor is false.
type Not struct{}

// Spec returns the declaration.
func (Not) Spec() *spec.Op { return notOp.Op() }

var notOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineBits[Not]("not",
		"True where the element is false.", "Not", 0b0001, 1, []tensor.DType{tensor.Bool})
}}
