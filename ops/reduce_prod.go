package ops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ReduceProd multiplies elements along dimensions, in no particular order: where
// products of some of them overflow, so may the result. The product of none is 1.
type ReduceProd struct {
	Dims     []int `attr:"dims" doc:"dimensions to reduce, negative ones from the end; all of them if there are none"`
	KeepDims bool  `attr:"keepdims" doc:"leave reduced dimensions in place with size 1"`
}

// Spec returns the declaration.
func (ReduceProd) Spec() *spec.Op { return reduceProdOp }

var reduceProdOp = newReduction(reduction{
	name:   "reduce_prod",
	doc:    "The product of the elements along dimensions; 1 of none.",
	call:   func(dims []int, keep bool) spec.Call { return ReduceProd{dims, keep} },
	dims:   func(c spec.Call) ([]int, bool) { return c.(ReduceProd).Dims, c.(ReduceProd).KeepDims },
	folder: folder{name: "reduce/reduce_prod", reals: 1}, owns: true, dtypes: floats, empty: true, from: 1,
	f:   func(a, b float64) float64 { return a * b },
	low: 0.75, high: 1.25, spread: 60, tolerance: prodTolerance,
})

func prodTolerance(d tensor.DType, n int, _ float64) spec.Tolerance {
	h, e := float64(n)+2, workEpsilon(d)
	return spec.Tolerance{
		Abs: tiny(d), Rel: rounded(h, e/2) + storeEpsilon(d), Any: rounded(h, e),
		Law:    "((1 + ε/2)^(n+2) − 1) of the value where a device rounds to the nearest",
		AnyLaw: "((1 + ε)^(n+2) − 1) of the value",
		Why:    "n − 1 products round once each, in whatever order, and with factors near 1 always the same way",
	}
}
