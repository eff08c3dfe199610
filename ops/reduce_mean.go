package ops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ReduceMean averages elements along dimensions. The mean of none is NaN.
type ReduceMean struct {
	Dims     []int `attr:"dims" doc:"dimensions to reduce, negative ones from the end; all of them if there are none"`
	KeepDims bool  `attr:"keepdims" doc:"leave reduced dimensions in place with size 1"`
}

// Spec returns the declaration.
func (ReduceMean) Spec() *spec.Op { return reduceMeanOp }

var reduceMeanOp = newReduction(reduction{
	name:   "reduce_mean",
	doc:    "The mean of the elements along dimensions; NaN of none.",
	call:   func(dims []int, keep bool) spec.Call { return ReduceMean{dims, keep} },
	dims:   func(c spec.Call) ([]int, bool) { return c.(ReduceMean).Dims, c.(ReduceMean).KeepDims },
	folder: folder{name: "reduce/reduce_sum", reals: 1}, mean: true, dtypes: floats, empty: true,
	f: func(a, b float64) float64 { return a + b }, sum: true,
	low: -1, high: 1, tolerance: meanTolerance,
})

func meanTolerance(d tensor.DType, n int, h float64) spec.Tolerance {
	tol := sumTolerance(d, n, h+3)
	tol.Abs = tol.Abs/float64(max(n, 1)) + tiny(d)
	tol.Law = "ε·(4/n + 1/4) + ε·(4 + √(h/3 + 1)) of the value, " + passesText
	tol.AnyLaw = "((1 + ε)^(h+4) − 1)·Σ|x|/n"
	tol.Why += "; the quotient may be 2.5 units off"
	return tol
}
