package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/spec"
)

// ArgMax gives the index, I32, of the largest element along a dimension, the first of
// equals. NaN counts as larger than all. No elements have no largest: that is
// ErrInvalidArgument.
type ArgMax struct {
	Dim int `attr:"dim,required" onnx:"axis" doc:"the dimension, negative from the end"`
}

// Spec returns the declaration.
func (ArgMax) Spec() *spec.Op { return argMaxOp }

var argMaxOp = reduction.DefineArg(reduction.Arg[ArgMax]{
	Name: "arg_max", ONNX: []string{"ArgMax"},
	Doc:  "The index of the largest element along a dimension, the first of equals. NaN counts as larger than all.",
	Call: func(dim int) ArgMax { return ArgMax{dim} },
	Dim:  func(a ArgMax) int { return a.Dim },
	Sign: 1,
})
