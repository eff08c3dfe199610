package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Or is true where an element of one of two Bool tensors is true. They are broadcast together.
type Or struct{}

// Spec returns the declaration.
func (Or) Spec() *spec.Op { return orOp.Op() }

var orOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineBits[Or]("or",
		"True where one of both elements is true, with broadcasting.", "Or", 0b1110, 2, []tensor.DType{tensor.Bool})
}}
