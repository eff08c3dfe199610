package planner

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Floats are the element types of arithmetic. The first is the one that every device
// has.
var Floats = []tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.F64}

// Epsilon is the distance from 1 to the next number of a dtype.
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

// AccumulatorEpsilon is Epsilon of the arithmetic done for a dtype.
func AccumulatorEpsilon(d tensor.DType) float64 {
	if d == tensor.F64 {
		return 0x1p-52
	}
	return 0x1p-23
}

// StoreEpsilon is what the rounding to a dtype of 16 bits adds to a relative error, and
// 0 for others.
func StoreEpsilon(d tensor.DType) float64 {
	if d.Size() == 2 {
		return Epsilon(d)
	}
	return 0
}

// Tiny is a bound on what is lost where results fall below the least normal
// number of a dtype, which devices may flush to zero.
func Tiny(d tensor.DType) float64 {
	switch d {
	case tensor.F64:
		return 0x1p-1022
	case tensor.F16:
		return 0x1p-24
	}
	return 0x1p-126
}

// ElementTolerance is the tolerance of a function of single elements whose result in
// its arithmetic is off by at most ulps units of the last place and by abs units that
// do not shrink with the result.
func ElementTolerance(d tensor.DType, ulps, abs float64, why string) spec.Tolerance {
	tol := spec.Tolerance{Abs: abs * AccumulatorEpsilon(d), Rel: ulps * AccumulatorEpsilon(d), Why: why}
	if ulps > 0 || abs > 0 {
		tol.Abs += Tiny(d)
	}
	if ulps > 0 {
		tol.Rel += StoreEpsilon(d) // the second rounding may fall to the other side
	}
	return tol
}
