package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// BitwiseAnd has the bits that are set in both elements of two tensors of integers. They are broadcast together.
type BitwiseAnd struct{}

// Spec returns the declaration.
func (BitwiseAnd) Spec() *spec.Op { return bitwiseAndOp.Op() }

var bitwiseAndOp = spec.Declaration{Define: func() *spec.Op {
	return logic.DefineBits[BitwiseAnd]("bitwise_and",
		"The bits that are set in both elements, with broadcasting.", "BitwiseAnd", 0b1000, 2, planner.Integers)
}}
