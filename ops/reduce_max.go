package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// ReduceMax picks the largest element along dimensions. There is none of
// no elements: that is ErrInvalidArgument.
type ReduceMax struct {
	Dims     []int `attr:"dims" doc:"dimensions to reduce, negative ones from the end; all of them if there are none"`
	KeepDims bool  `attr:"keepdims" doc:"leave reduced dimensions in place with size 1"`
}

// Spec returns the declaration.
func (ReduceMax) Spec() *spec.Op { return reduceMaxOp }

var reduceMaxOp = newReduction(reduction{
	name:   "reduce_max",
	doc:    "The largest element along dimensions. NaN wins. No elements have none: they are refused.",
	call:   func(dims []int, keep bool) spec.Call { return ReduceMax{dims, keep} },
	dims:   func(c spec.Call) ([]int, bool) { return c.(ReduceMax).Dims, c.(ReduceMax).KeepDims },
	folder: folder{name: "reduce/reduce_max", reals: 1}, owns: true, dtypes: floats, from: math.Inf(-1),
	f:   maxNaN,
	low: -4, high: 4, tolerance: exactReduction,
})

// maxNaN is the larger of two, and NaN if one of them is, be the other infinite.
func maxNaN(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	return math.Max(a, b)
}
