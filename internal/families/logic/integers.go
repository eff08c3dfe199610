package logic

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Shift completes the declaration of a shift of integers, whose direction right returns for a call.
func Shift[A spec.Call](f Function[A], right func(a A) bool) Function[A] {
	f.Shader, f.Operands, f.DTypes = "logic/shift", 2, planner.Integers
	f.Words = func(a A, d tensor.DType) [3]uint32 {
		return [3]uint32{uint32(truth(right(a))), kindOf(d)}
	}
	f.F = func(a A, d tensor.DType, x, y float64) float64 {
		v, n := int64(x), uint64(y)
		if y < 0 || n >= uint64(8*d.Size()) {
			n = 64
		}
		if right(a) {
			return float64(v >> n)
		}
		return wrapped(v<<n, d)
	}
	f.Range = func(_ A, i int, d tensor.DType) (low, high float64) {
		low, high = -1000, 1000
		if i == 1 {
			low, high = -2, float64(8*d.Size()+1)
		}
		switch {
		case kindOf(d) == unsignedKind:
			low = 0
		case d.Size() == 1:
			low = max(low, -128)
		}
		switch d {
		case tensor.U8:
			high = min(high, 255)
		case tensor.I8:
			high = min(high, 127)
		}
		return low, high
	}
	return f
}

// Mod completes the declaration of a remainder. truncated returns for a call whether it has the sign of
// the dividend.
func Mod[A spec.Call](f Function[A], truncated func(a A) bool) Function[A] {
	f.Shader, f.Operands, f.DTypes = "logic/mod", 2, append(slices.Clone(planner.Floats), planner.Integers...)
	f.Words = func(a A, d tensor.DType) [3]uint32 {
		bits := map[tensor.DType]uint32{tensor.F32: 23, tensor.F16: 10, tensor.BF16: 7}
		return [3]uint32{uint32(truth(truncated(a))), kindOf(d), bits[d]}
	}
	f.F = func(a A, d tensor.DType, x, y float64) float64 {
		if kindOf(d) != floatKind && y == 0 {
			return 0
		}
		r := math.Mod(x, y)
		if !truncated(a) && r != 0 && math.Signbit(r) != math.Signbit(y) {
			r += y
		}
		return r
	}
	f.Low, f.High, f.Flops = -50, 50, 8
	return f
}
