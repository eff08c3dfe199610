package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Xor is true where the elements of two Bool tensors differ. They are broadcast together.
type Xor struct{}

// Spec returns the declaration.
func (Xor) Spec() *spec.Op { return xorOp.Op() }

var xorOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineBits[Xor]("xor",
		"True where the elements differ, with broadcasting.", "Xor", 0b0110, 2, []tensor.DType{tensor.Bool})
}}
