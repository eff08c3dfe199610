package planner

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Floats are the dtypes of floating-point arithmetic. Every device has the first one.
var Floats = []tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.F64}

// Epsilon returns the distance from 1 to the next larger number of a floating-point
// dtype.
func Epsilon(d tensor.DType) float64 {
	switch d {
	case tensor.F64:
		return 0x1p-52
	case tensor.F16:
		return 0x1p-10
	case tensor.BF16:
		return 0x1p-7
	}
	return 0x1p-23
}

// AccumulatorEpsilon returns the Epsilon of the dtype in which kernels compute with
// elements of d.
func AccumulatorEpsilon(d tensor.DType) float64 {
	if d == tensor.F64 {
		return 0x1p-52
	}
	return 0x1p-23
}

// StoreEpsilon returns the relative error that rounding a result to d adds. It is 0
// unless d has 16 bits.
func StoreEpsilon(d tensor.DType) float64 {
	if d.Size() == 2 {
		return Epsilon(d)
	}
	return 0
}

// Tiny bounds the absolute error of results that are smaller than the least normal number
// of a dtype. Devices may flush such results to zero.
func Tiny(d tensor.DType) float64 {
	switch d {
	case tensor.F64:
		return 0x1p-1022
	case tensor.F16:
		return 0x1p-24
	}
	return 0x1p-126
}

// ElementTolerance returns the tolerance of an elementwise function. Its result, before
// it is rounded to d, has an error of at most ulps units in the last place, and in
// addition abs units in the last place of 1. why says where these numbers come from.
func ElementTolerance(d tensor.DType, ulps, abs float64, why string) spec.Tolerance {
	tol := spec.Tolerance{Abs: abs * AccumulatorEpsilon(d), Rel: ulps * AccumulatorEpsilon(d), Why: why}
	if ulps > 0 || abs > 0 {
		tol.Abs += Tiny(d)
	}
	if ulps > 0 {
		// The value from the reference is rounded to d too, and may be rounded to the other
		// neighbour.
		tol.Rel += StoreEpsilon(d)
	}
	return tol
}
