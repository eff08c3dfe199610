package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/spec"
)

// ReduceAny returns whether any of the elements along dimensions is true. Of no elements, the result is false.
type ReduceAny struct {
	Dims     []int `attr:"dims" doc:"the dimensions; negative ones count from the end; none means all"`
	KeepDims bool  `attr:"keepdims" doc:"keep them, with size 1"`
}

// Spec returns the declaration.
func (ReduceAny) Spec() *spec.Op { return reduceAnyOp.Op() }

var reduceAnyOp = spec.Declaration{Define: func() *spec.Op {
	return reduction.DefineLogic(reduction.Logic[*ReduceAny]{
		Name:       "reduce_any",
		Doc:        "Whether any of the elements along dimensions is true. Of no elements, it is false.",
		Call:       func(dims []int, keep bool) *ReduceAny { return &ReduceAny{dims, keep} },
		Attributes: func(a *ReduceAny) (dims []int, keep bool) { return a.Dims, a.KeepDims },
	})
}}
