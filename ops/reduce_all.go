package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/spec"
)

// ReduceAll returns whether all of the elements along dimensions are true. Of no elements, the result is true.
type ReduceAll struct {
	Dims     []int `attr:"dims" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceAll) Spec() *spec.Op { return reduceAllOp.Op() }

var reduceAllOp = spec.Declaration{Define: func() *spec.Op {
	return reduction.DefineLogic(reduction.Logic[*ReduceAll]{
		Name:       "reduce_all",
		Doc:        "Whether all of the elements along dimensions are true. Of no elements, it is true.",
		Call:       func(dims []int, keep bool) *ReduceAll { return &ReduceAll{dims, keep} },
		Attributes: func(a *ReduceAll) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		All:        true,
	})
}}
