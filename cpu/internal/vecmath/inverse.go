package vecmath

import "github.com/lathe-gpu/lathe/internal/wasm"

// halfPiF and halfPiRest add up to pi/2.
const (
	halfPiF    = 0x1.921fb6p0
	halfPiRest = halfPi - halfPiF
)

// arcsine returns the arcsine of x if x is small, and that of the square root of (1-x)/2
// otherwise: of a number from 0 to 1/2. If x is above 1 it is NaN.
func (f fn) arcsine(x value) (small, y value) {
	small = f.lt(x, f32(0.5))
	z := f.sel(small, f.mul(x, x), f.mul(f.sub(f32(1), x), f32(0.5)))
	s := f.sel(small, x, f.sqrt(z))
	return small, f.add(s, f.mul(f.mul(s, z), f.poly(z, asinRest)))
}

func writeAsin(_ *Library, f fn) {
	x := param(0)
	small, y := f.arcsine(f.abs(x))
	// asin(x) = pi/2 - 2*asin(sqrt((1-x)/2))
	other := f.sub(f32(halfPiF), f.sub(f.add(y, y), f32(halfPiRest)))
	f.push(f.xor(f.sel(small, y, other), f.and(x, words(signBit))))
}

func writeAcos(_ *Library, f fn) {
	x := param(0)
	small, y := f.arcsine(f.abs(x))
	s := f.and(x, words(signBit))
	negative := f.negative(x)
	// acos(x) = pi/2 - asin(x) if x is small, otherwise 2*asin(sqrt((1-x)/2)), and the
	// difference of that to pi if x is negative.
	near := f.sub(f32(halfPiF), f.sub(f.xor(y, s), f32(halfPiRest)))
	far := f.add(y, y)
	far = f.sel(negative, f.sub(f32(2*halfPiF), f.sub(far, f32(2*halfPiRest))), far)
	f.push(f.sel(small, near, far))
}

// arctangent returns the arctangent of a number of [0, 1].
func (f fn) arctangent(x value) value {
	z := f.mul(x, x)
	return f.add(x, f.mul(f.mul(x, z), f.poly(z, atanRest)))
}

// quarter returns pi/2 - y in the lanes of a mask, and y in the others.
func (f fn) quarter(mask, y value) value {
	return f.sel(mask, f.sub(f32(halfPiF), f.sub(y, f32(halfPiRest))), y)
}

func writeAtan(_ *Library, f fn) {
	x := param(0)
	a := f.abs(x)
	large := f.lt(f32(1), a)
	y := f.arctangent(f.sel(large, f.div(f32(1), a), a))
	f.push(f.xor(f.quarter(large, y), f.and(x, words(signBit))))
}

func writeAtan2(_ *Library, f fn) {
	y, x := param(0), param(1)
	ay, ax := f.abs(y), f.abs(x)
	// As integers, numbers are in the same order, and NaN is the largest.
	small := f.op(wasm.I32x4MinS, ax, ay)
	large := f.op(wasm.I32x4MaxS, ax, ay)
	ratio := f.div(small, large)
	zero := f.eq(large, f32(0))
	infinite := f.and(f.eq(small, words(infinity)), f.eq(large, words(infinity)))
	// Then the ratio is NaN, but C99 wants the angles of (0, 1) and of (1, 1).
	f.ifAny(f.or(zero, infinite))
	defined := f.sel(infinite, f32(1), ratio)
	f.assign(ratio, f.op(wasm.V128Andnot, defined, zero))
	f.End()
	r := f.quarter(f.lt(ax, ay), f.arctangent(ratio))
	other := f.sub(f32(2*halfPiF), f.sub(r, f32(2*halfPiRest)))
	r = f.sel(f.negative(x), other, r)
	f.push(f.or(f.abs(r), f.and(y, words(signBit))))
}
