package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/spec"
)

// TopK returns the K largest elements along a dimension, the largest first, or with Smallest the K
// smallest, the smallest first. The second output says where along the dimension they are, as I32, or as
// I64 with Wide. NaN is larger than all numbers, and −0 equals 0. Of equal elements those with the lowest
// indices count, and come in their order. The results are always sorted, which ONNX allows with sorted=0
// too. K is at least 0 and at most the size of the dimension.
type TopK struct {
	K        int  `attr:"k,required" doc:"how many elements"`
	Axis     int  `attr:"axis,required" onnx:"axis" doc:"the dimension; a negative number counts from the end"`
	Smallest bool `attr:"smallest" doc:"the smallest elements, as largest=0 of ONNX"`
	Wide     bool `attr:"wide" doc:"the indices are i64, as in ONNX, instead of i32"`
}

// Spec returns the declaration.
func (TopK) Spec() *spec.Op { return topKOp.Op() }

// Gradient declares the gradient: that of the values goes to where they came from.
func (c TopK) Gradient(t *spec.Tape) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		t.SetGradient(0, t.Call(ScatterElements{Axis: c.Axis}, zeros(t, t.In(0)), t.Out(1), dy))
	}
}

var topKOp = spec.Declaration{Define: func() *spec.Op {
	return indexing.DefineSort(indexing.Sort[*TopK]{
		Name: "top_k", ONNX: []string{"TopK"},
		Doc:    "The k largest or smallest elements along a dimension, sorted, and where they are. NaN is larger than all numbers, and -0 equals 0. Of equal elements those with the lowest indices count.",
		Values: true, Indices: true, Defaults: &TopK{K: 1, Axis: -1}, Bench: &TopK{K: 10, Axis: -1},
		Calls:   []*TopK{{K: 5, Axis: 0, Wide: true}, {K: 3, Axis: 1, Smallest: true}, {K: 66, Axis: -1}, {K: 0, Axis: 0}, {K: 33, Axis: -1, Smallest: true}},
		Invalid: []*TopK{{K: 1, Axis: 2}, {K: 1, Axis: -3}, {K: -1, Axis: 0}, {K: 1 << 30, Axis: 0}},
		Order: func(a *TopK) indexing.Order {
			return indexing.Order{Axis: a.Axis, Descending: !a.Smallest, Top: true, K: a.K, Wide: a.Wide}
		},
	})
}}
