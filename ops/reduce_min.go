package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// ReduceMin picks the least element along dimensions. There is none of no
// elements: that is ErrInvalidArgument.
type ReduceMin struct {
	Dims     []int `attr:"dims" doc:"dimensions to reduce, negative ones from the end; all of them if there are none"`
	KeepDims bool  `attr:"keepdims" doc:"leave reduced dimensions in place with size 1"`
}

// Spec returns the declaration.
func (ReduceMin) Spec() *spec.Op { return reduceMinOp }

var reduceMinOp = newReduction(reduction{
	name:   "reduce_min",
	doc:    "The least element along dimensions. NaN wins. No elements have none: they are refused.",
	call:   func(dims []int, keep bool) spec.Call { return ReduceMin{dims, keep} },
	dims:   func(c spec.Call) ([]int, bool) { return c.(ReduceMin).Dims, c.(ReduceMin).KeepDims },
	folder: folder{name: "reduce/reduce_max", reals: 1, sign: -1}, dtypes: floats, from: math.Inf(1),
	f:   minNaN,
	low: -4, high: 4, tolerance: exactReduction,
})

// minNaN is the smaller of two, and NaN if one of them is.
func minNaN(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	return math.Min(a, b)
}
