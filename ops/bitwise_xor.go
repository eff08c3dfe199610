package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// BitwiseXor has the bits that are set in exactly one of both elements of two tensors of integers. They are broadcast together.
type BitwiseXor struct{}

// Spec returns the declaration.
func (BitwiseXor) Spec() *spec.Op { return bitwiseXorOp.Op() }

var bitwiseXorOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineBits[BitwiseXor]("bitwise_xor",
		"The bits that are set in exactly one of both elements, with broadcasting.", "BitwiseXor", 0b0110, 2, planner.Integers)
}}
