package tensor

import "math"

// F16ToFloat32 converts an IEEE binary16 to float32, exactly.
func F16ToFloat32(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exp := uint32(h>>10) & 0x1f
	man := uint32(h) & 0x3ff
	switch exp {
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | man<<13)
	case 0: // zero and subnormals: man · 2⁻²⁴
		f := float32(man) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
}

// F16FromFloat64 rounds to the nearest IEEE binary16, ties to even.
func F16FromFloat64(v float64) uint16 {
	sign := uint16(math.Float64bits(v) >> 63 << 15)
	a := math.Abs(v)
	switch {
	case v != v:
		return sign | 0x7e00
	case a >= 65520: // This is half-way between the largest finite value and the next one.
		return sign | 0x7c00
	case a < 0x1p-14: // subnormal: units of 2⁻²⁴
		return sign | uint16(math.RoundToEven(a*0x1p24))
	}
	frac, exp := math.Frexp(a) // a = frac·2^exp, frac in [½, 1)
	man := math.RoundToEven(frac * 2048)
	if man == 2048 {
		man, exp = 1024, exp+1
	}
	return sign | uint16(exp+14)<<10 | (uint16(man) & 0x3ff)
}

// BF16ToFloat32 converts a bfloat16 to float32, exactly.
func BF16ToFloat32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// BF16FromFloat64 rounds to the nearest bfloat16, ties to even, in one rounding.
func BF16FromFloat64(v float64) uint16 {
	if v != v {
		return 0x7fc0
	}
	f := float32(v)
	if d := float64(f) - v; d != 0 && !math.IsInf(float64(f), 0) && math.Float32bits(f)&0xffff == 0x8000 {
		// Rounding to float32 has made v a tie between two bfloat16 values. This reverses
		// the direction in which it was rounded.
		if (d > 0) == (v > 0) {
			f = math.Float32frombits(math.Float32bits(f) - 1)
		} else {
			f = math.Float32frombits(math.Float32bits(f) + 1)
		}
	}
	b := math.Float32bits(f)
	return uint16((b + 0x7fff + (b >> 16 & 1)) >> 16)
}
