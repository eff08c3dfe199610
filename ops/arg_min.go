package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/spec"
)

// ArgMin returns the index of the smallest element along a dimension, as I32. If several
// elements are equal, it is the index of the first, or of the last with SelectLastIndex. NaN counts as smaller than all numbers. A
// dimension of size 0 is refused with ErrInvalidArgument.
type ArgMin struct {
	Dim             int  `attr:"dim,required" onnx:"axis" doc:"the dimension; a negative number counts from the end"`
	SelectLastIndex bool `attr:"select_last_index" onnx:"select_last_index" doc:"take the last of several equal elements, not the first"`
}

// Spec returns the declaration.
func (ArgMin) Spec() *spec.Op { return argMinOp.Op() }

var argMinOp = spec.Declaration{Define: func() *spec.Op {
	return reduction.DefineArg(reduction.Arg[*ArgMin]{
		Name: "arg_min", ONNX: []string{"ArgMin"},
		Doc:  "The index of the smallest element along a dimension. If several elements are equal, it is the index of the first, or of the last with SelectLastIndex. NaN counts as smaller than all numbers.",
		Call: func(dim int, last bool) *ArgMin { return &ArgMin{dim, last} },
		Dim:  func(a *ArgMin) int { return a.Dim },
		Last: func(a *ArgMin) bool { return a.SelectLastIndex },
		Sign: -1,
	})
}}
