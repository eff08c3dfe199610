package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// And is true where the elements of both Bool tensors are true. They are broadcast together.
type And struct{}

// Spec returns the declaration.
func (And) Spec() *spec.Op { return andOp.Op() }

var andOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineBits[And]("and",
		"True where both elements are true, with broadcasting.", "And", 0b1000, 2, []tensor.DType{tensor.Bool})
}}
