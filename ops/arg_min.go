package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/spec"
)

// ArgMin gives the index, I32, of the least element along a dimension, the first of
// equals. NaN counts as less than all. No elements have no least: that is
// ErrInvalidArgument.
type ArgMin struct {
	Dim int `attr:"dim,required" onnx:"axis" doc:"the dimension, negative from the end"`
}

// Spec returns the declaration.
func (ArgMin) Spec() *spec.Op { return argMinOp }

var argMinOp = reduction.DefineArg(reduction.Arg[ArgMin]{
	Name: "arg_min", ONNX: []string{"ArgMin"},
	Doc:  "The index of the least element along a dimension, the first of equals. NaN counts as less than all.",
	Call: func(dim int) ArgMin { return ArgMin{dim} },
	Dim:  func(a ArgMin) int { return a.Dim },
	Sign: -1,
})
