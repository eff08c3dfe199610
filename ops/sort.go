package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/spec"
)

// Sort sorts the elements along a dimension, the smallest first, or the largest first with Descending.
// NaN is larger than all numbers, and −0 equals 0. Equal elements keep their order. At most 2^30 elements
// can be sorted in a call.
type Sort struct {
	Axis       int  `attr:"axis,required" doc:"the dimension; a negative number counts from the end"`
	Descending bool `attr:"descending" doc:"the largest elements come first"`
}

// Spec returns the declaration.
func (Sort) Spec() *spec.Op { return sortOp.Op() }

// Gradient declares the gradient: dy goes to where the elements came from.
func (c Sort) Gradient(t *spec.Tape) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		t.SetGradient(0, t.Call(ScatterElements{Axis: c.Axis}, zeros(t, t.In(0)), t.Call(Argsort{Axis: c.Axis, Descending: c.Descending}, t.In(0)), dy))
	}
}

var sortOp = spec.Declaration{Define: func() *spec.Op {
	return indexing.DefineSort(indexing.Sort[*Sort]{
		Name:   "sort",
		Doc:    "Sorts the elements along a dimension. NaN is larger than all numbers, and -0 equals 0. Equal elements keep their order.",
		Values: true, Defaults: &Sort{Axis: -1}, Bench: &Sort{Axis: -1},
		Calls:   []*Sort{{Axis: 0}, {Axis: 1, Descending: true}},
		Invalid: []*Sort{{Axis: 2}, {Axis: -3}},
		Order:   func(a *Sort) indexing.Order { return indexing.Order{Axis: a.Axis, Descending: a.Descending} },
	})
}}
