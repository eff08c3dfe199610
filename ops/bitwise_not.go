package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// BitwiseNot has the bits that are not set in an element of a tensor of integers.
type BitwiseNot struct{}

// Spec returns the declaration.
func (BitwiseNot) Spec() *spec.Op { return bitwiseNotOp.Op() }

var bitwiseNotOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineBits[BitwiseNot]("bitwise_not",
		"The bits that are not set in the element.", "BitwiseNot", 0b0001, 1, planner.Integers)
}}
