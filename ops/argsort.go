package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/spec"
)

// Argsort returns where along a dimension the elements are, in the order that Sort gives them: element i of
// the result is the index of the element that comes i-th. The indices are I32, or I64 with Wide.
type Argsort struct {
	Axis       int  `attr:"axis,required" doc:"the dimension; a negative number counts from the end"`
	Descending bool `attr:"descending" doc:"the largest elements come first"`
	Wide       bool `attr:"wide" doc:"the indices are i64 instead of i32"`
}

// Spec returns the declaration.
func (Argsort) Spec() *spec.Op { return argsortOp.Op() }

var argsortOp = spec.Declaration{Define: func() *spec.Op {
	return indexing.DefineSort(indexing.Sort[*Argsort]{
		Name:    "argsort",
		Doc:     "Where along a dimension the elements are, in the order of sort.",
		Indices: true, Defaults: &Argsort{Axis: -1}, Bench: &Argsort{Axis: -1},
		Calls:   []*Argsort{{Axis: 0, Wide: true}, {Axis: 1, Descending: true}},
		Invalid: []*Argsort{{Axis: 2}, {Axis: -3}},
		Order: func(a *Argsort) indexing.Order {
			return indexing.Order{Axis: a.Axis, Descending: a.Descending, Wide: a.Wide}
		},
	})
}}
