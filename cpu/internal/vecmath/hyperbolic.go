package vecmath

import "github.com/lathe-gpu/lathe/internal/wasm"

// hyperbolic holds what sinh and cosh of x = n*ln 2 + r consist of.
type hyperbolic struct {
	// sum and difference are those of 2^(n-2) and 2^(-n-2): half of what the formulas
	// have, so that nothing overflows.
	sum, difference value
	sinh, cosh1     value // the hyperbolic sine of r, and the cosine less 1
}

// reduceHyperbolic limits x to where the results overflow, and reduces it.
func (f fn) reduceHyperbolic(x value) hyperbolic {
	_, bits, r := f.reduceExp(f.clamp(x, -89.6, 89.6))
	n := f.shl(bits, 23)
	// The exponent is at least 0, which stands for the number 0: that does not matter
	// beside 2^124.
	power := func(o wasm.Op) value {
		return f.op(wasm.I32x4MaxS, f.op(o, words((127-2)<<23), n), words(0))
	}
	up, down := power(wasm.I32x4Add), power(wasm.I32x4Sub)
	z := f.mul(r, r)
	return hyperbolic{
		sum: f.add(up, down), difference: f.sub(up, down),
		sinh:  f.add(r, f.mul(f.mul(r, z), f.poly(z, sinhRest))),
		cosh1: f.mul(z, f.poly(z, coshRest)),
	}
}

func writeSinh(_ *Library, f fn) {
	x := param(0)
	h := f.reduceHyperbolic(x)
	y := f.add(h.difference, f.add(f.mul(h.difference, h.cosh1), f.mul(h.sum, h.sinh)))
	// Numbers with small squares stay: half of a subnormal number is not exact, and -0
	// would become 0.
	f.push(f.sel(f.lt(f.abs(x), f32(0x1p-12)), x, f.add(y, y)))
}

func writeCosh(_ *Library, f fn) {
	h := f.reduceHyperbolic(param(0))
	y := f.add(h.sum, f.add(f.mul(h.sum, h.cosh1), f.mul(h.difference, h.sinh)))
	f.push(f.add(y, y))
}

func writeTanh(_ *Library, f fn) {
	x := param(0)
	// From 9.1 on the result is 1.
	a := f.abs(x)
	a = f.op(wasm.F32x4Pmin, a, f32(9.1))
	_, bits, r := f.reduceExp(f.add(a, a))
	// This is e^2x - 1: the sum of 2^n - 1 and 2^n * (e^r - 1).
	p := f.add(r, f.mul(f.mul(r, r), f.poly(r, expm1Rest)))
	power := f.addi(f.shl(bits, 23), f32(1))
	t := f.add(f.sub(power, f32(1)), f.mul(power, p))
	y := f.div(t, f.add(t, f32(2)))
	f.push(f.or(y, f.and(x, words(signBit))))
}

// log1pOf returns the logarithm of 1+u, or that of 2*x in lanes where large is set. The
// numbers are positive, infinite or NaN.
func (f fn) log1pOf(u, large, x value) value {
	sum := f.add(u, f32(1))
	// This is the error of the sum. The larger operand comes first.
	one := f32(1)
	greater, lesser := f.op(wasm.F32x4Pmax, u, one), f.op(wasm.F32x4Pmin, u, one)
	lost := f.sub(lesser, f.sub(sum, greater))
	sum = f.sel(large, x, sum)
	e, m := f.split(sum)
	// lost is divided by 2^e.
	lost = f.mul(lost, f.subi(f32(1), e))
	lost = f.op(wasm.V128Andnot, lost, large)
	e = f.addi(e, f.and(large, words(1<<23)))
	y := f.log1p(f.op(wasm.F32x4ConvertI32x4S, e), f.add(f.sub(m, one), lost))
	finite := f.lt(sum, f32(infinite))
	return f.sel(finite, y, sum)
}

// squareLimit is a number that 1 does not matter beside the square of. Nor does it overflow.
const squareLimit = 0x1p14

func writeAsinh(_ *Library, f fn) {
	x := param(0)
	a := f.abs(x)
	square := f.mul(a, a)
	root := f.sqrt(f.add(square, f32(1)))
	// x + sqrt(x*x+1) is 1+u. If the square overflows then u does not matter.
	u := f.add(a, f.div(square, f.add(root, f32(1))))
	y := f.log1pOf(u, f.lt(f32(squareLimit), a), a)
	f.push(f.or(y, f.and(x, words(signBit))))
}

func writeAcosh(_ *Library, f fn) {
	x := param(0)
	t := f.sub(x, f32(1))
	// x + sqrt(x*x-1) is 1+u.
	u := f.add(t, f.sqrt(f.mul(t, f.add(t, f32(2)))))
	y := f.log1pOf(u, f.lt(f32(squareLimit), x), x)
	// All ones is a NaN.
	f.push(f.or(y, f.lt(x, f32(1))))
}

func writeAtanh(_ *Library, f fn) {
	x := param(0)
	a := f.abs(x)
	// (1+x)/(1-x) is 1+u.
	rest := f.sub(f32(1), a)
	u := f.div(f.add(a, a), rest)
	y := f.mul(f.log1pOf(u, words(0), u), f32(0.5))
	// 1 gives infinity, and what is larger gives NaN.
	inside := f.lt(a, f32(1))
	y = f.sel(inside, y, f.div(f32(1), f.sqrt(rest)))
	f.push(f.or(y, f.and(x, words(signBit))))
}
