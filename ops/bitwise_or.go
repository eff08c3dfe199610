package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// BitwiseOr has the bits that are set in one of both elements of two tensors of integers. They are broadcast together.
type BitwiseOr struct{}

// Spec returns the declaration.
func (BitwiseOr) Spec() *spec.Op { return bitwiseOrOp.Op() }

var bitwiseOrOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineBits[BitwiseOr]("bitwise_or",
		"The bits that are set in one of both elements, with broadcasting.", "BitwiseOr", 0b1110, 2, planner.Integers)
}}
