package ops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ReduceSum adds elements along dimensions. The sum of none is 0.
type ReduceSum struct {
	Dims     []int `attr:"dims" doc:"dimensions to reduce, negative ones from the end; all of them if there are none"`
	KeepDims bool  `attr:"keepdims" doc:"leave reduced dimensions in place with size 1"`
}

// Spec returns the declaration.
func (ReduceSum) Spec() *spec.Op { return reduceSumOp }

var reduceSumOp = newReduction(reduction{
	name:   "reduce_sum",
	doc:    "The sum of the elements along dimensions; 0 of none. Sums of integers wrap.",
	call:   func(dims []int, keep bool) spec.Call { return ReduceSum{dims, keep} },
	dims:   func(c spec.Call) ([]int, bool) { return c.(ReduceSum).Dims, c.(ReduceSum).KeepDims },
	folder: folder{name: "reduce/reduce_sum", reals: 1}, owns: true, kernels: dtypeVariants("reduce/reduce_narrow", narrowParams{}, []tensor.DType{tensor.F16, tensor.BF16}, nil),
	dtypes: []tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.F64, tensor.I32, tensor.I64}, empty: true,
	f: func(a, b float64) float64 { return a + b }, sum: true,
	low: -1, high: 1, tolerance: sumTolerance,
})
