package ops

import "github.com/lathe-gpu/lathe/spec"

// ArgMin gives the index, I32, of the least element along a dimension, the first
// of equals. NaN counts as less than all. No elements have no least: that is
// ErrInvalidArgument.
type ArgMin struct {
	Dim int `attr:"dim,required" doc:"the dimension, negative from the end"`
}

// Spec returns the declaration.
func (ArgMin) Spec() *spec.Op { return argMinOp }

var argMinOp = newArg("arg_min", "The index of the least element along a dimension, the first of equals. NaN counts as less than all.",
	-1, func(dim int) spec.Call { return ArgMin{dim} }, func(c spec.Call) int { return c.(ArgMin).Dim }, nil)
