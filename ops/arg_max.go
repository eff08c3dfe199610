package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/spec"
)

// ArgMax returns the index of the largest element along a dimension, as I32. If several
// elements are equal, it is the index of the first, or of the last with SelectLastIndex. NaN counts
// as larger than all numbers. A dimension of size 0 is refused with ErrInvalidArgument.
type ArgMax struct {
	Dim             int  `attr:"dim,required" onnx:"axis" doc:"the dimension; a negative number counts from the end"`
	SelectLastIndex bool `attr:"select_last_index" onnx:"select_last_index" doc:"take the last of several equal elements, not the first"`
}

// Spec returns the declaration.
func (ArgMax) Spec() *spec.Op { return argMaxOp.Op() }

var argMaxOp = spec.Declaration{Define: func() *spec.Op {
	return reduction.DefineArg(reduction.Arg[*ArgMax]{
		Name: "arg_max", ONNX: []string{"ArgMax"},
		Doc:  "The index of the largest element along a dimension. If several elements are equal, it is the index of the first, or of the last. NaN is larger than all numbers.",
		Call: func(dim int, last bool) *ArgMax { return &ArgMax{dim, last} },
		Dim:  func(a *ArgMax) int { return a.Dim },
		Last: func(a *ArgMax) bool { return a.SelectLastIndex },
		Sign: 1,
	})
}}
