package vecmath

import "github.com/lathe-gpu/lathe/internal/wasm"

// The reduced argument of the trigonometric functions: |x| = n*pi/2 + high + low, where low
// is small and the last two bits of n are those of quadrant.
type reduced struct{ high, low, quadrant value }

// reduce reduces |x|.
func (f fn) reduce(l *Library, x value) reduced {
	n, bits := f.nearest(f.mul(x, f32(twoOverPi)))
	// The products but the last one are exact. So are the first two differences: they are
	// multiples of 2^-24 and less than 1, or as short as x.
	r := f.sub(x, f.mul(n, f32(halfPi1)))
	r = f.sub(r, f.mul(n, f32(halfPi2)))
	third := f.mul(n, f32(halfPi3))
	high := f.sub(r, third)
	// This is the error of high. If third is larger than r then both are so small that high
	// is exact.
	low := f.sub(f.sub(r, high), third)
	low = f.sub(low, f.mul(n, f32(halfPi4)))
	low = f.sub(low, f.mul(n, f32(halfPi5)))

	large := f.op(wasm.F32x4Gt, x, f32(reduceLimit))
	f.ifAny(large)
	f.push(x)
	f.Call(l.Func(slowReduce))
	q, lo, hi := f.pop(), f.pop(), f.pop()
	f.assign(high, f.sel(large, hi, high))
	f.assign(low, f.sel(large, lo, low))
	f.assign(bits, f.sel(large, q, bits))
	f.End()
	return reduced{high, low, bits}
}

// sinCos returns the sine and the cosine of the reduced argument.
func (f fn) sinCos(r reduced) (sin, cos value) {
	z := f.mul(r.high, r.high)
	sin = f.mul(f.mul(r.high, z), f.poly(z, sinRest))
	sin = f.add(r.high, f.add(sin, r.low))
	// 1 - z/2 is rounded, and what that loses is added again.
	half := f.mul(z, f32(0.5))
	one := f.sub(f32(1), half)
	lost := f.sub(f.sub(f32(1), one), half)
	cos = f.mul(f.mul(z, z), f.poly(z, cosRest))
	cos = f.add(one, f.add(f.sub(cos, f.mul(r.high, r.low)), lost))
	return sin, cos
}

func writeSin(l *Library, f fn) {
	x := param(0)
	r := f.reduce(l, f.abs(x))
	sin, cos := f.sinCos(r)
	y := f.sel(f.odd(r.quadrant), cos, sin)
	// Bit 1 of the quadrant and the sign of x change the sign.
	s := f.xor(f.shl(r.quadrant, 30), x)
	f.push(f.xor(y, f.and(s, words(signBit))))
}

func writeCos(l *Library, f fn) {
	r := f.reduce(l, f.abs(param(0)))
	sin, cos := f.sinCos(r)
	y := f.sel(f.odd(r.quadrant), sin, cos)
	s := f.shl(f.addi(r.quadrant, words(1)), 30)
	f.push(f.xor(y, f.and(s, words(signBit))))
}

func writeTan(l *Library, f fn) {
	x := param(0)
	r := f.reduce(l, f.abs(x))
	sin, cos := f.sinCos(r)
	odd := f.odd(r.quadrant)
	y := f.div(f.sel(odd, cos, sin), f.sel(odd, sin, cos))
	f.push(f.xor(y, f.and(f.xor(odd, x), words(signBit))))
}
