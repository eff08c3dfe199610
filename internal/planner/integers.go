package planner

import "github.com/lathe-gpu/lathe/tensor"

// Integers are the dtypes of integers that have arithmetic.
var Integers = []tensor.DType{tensor.I32, tensor.I64, tensor.U8, tensor.U32, tensor.I8, tensor.I16, tensor.U16, tensor.U64}

// Signed returns the dtype with a sign that is as large as d, which has integers.
func Signed(d tensor.DType) tensor.DType {
	switch d {
	case tensor.U8:
		return tensor.I8
	case tensor.U16:
		return tensor.I16
	case tensor.U32:
		return tensor.I32
	case tensor.U64:
		return tensor.I64
	}
	return d
}

// Wrap returns what is left of an integer in the bits of dtype d. An integer of U64 is its bits. References use it.
func Wrap(d tensor.DType, v int64) int64 {
	switch d {
	case tensor.I8:
		return int64(int8(v))
	case tensor.U8:
		return int64(uint8(v))
	case tensor.I16:
		return int64(int16(v))
	case tensor.U16:
		return int64(uint16(v))
	case tensor.I32:
		return int64(int32(v))
	case tensor.U32:
		return int64(uint32(v))
	}
	return v
}

// Whole returns an element of a reference as an integer for Wrap, and Number turns it back.
func Whole(d tensor.DType, x float64) int64 {
	if d == tensor.U64 {
		return int64(uint64(x))
	}
	return int64(x)
}

// Number returns an integer of Wrap as a number.
func Number(d tensor.DType, v int64) float64 {
	if d == tensor.U64 {
		return float64(uint64(v))
	}
	return float64(v)
}

// IntegerRange returns the least and the largest integer of a dtype, for cases. Of I64 they are those that a float64
// can add, and of U64 they are on both sides of the largest one of I64.
func IntegerRange(d tensor.DType) (low, high float64) {
	bits := uint(8 * d.Size())
	switch {
	case d == tensor.U64:
		return 0x1p63 - 0x1p61, 0x1p63 + 0x1p61
	case d == tensor.I64:
		return -1 << 40, 1 << 40
	case Signed(d) == d:
		return float64(-(int64(1) << (bits - 1))), float64(int64(1)<<(bits-1) - 1)
	}
	return 0, float64(int64(1)<<bits - 1)
}
