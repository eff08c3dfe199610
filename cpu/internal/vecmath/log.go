package vecmath

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/wasm"
)

const (
	sqrtHalfBits = 0x3f3504f3 // the bits of sqrt(1/2)

	// log2EHigh and log2ELow add up to the binary logarithm of e. log2EHigh has 12 bits.
	log2EHigh = 0x1.714p0
	log2ELow  = math.Log2E - log2EHigh
)

// split returns the integer e*2^23 and m with x = m * 2^e and m between sqrt(1/2) and
// sqrt(2). x is positive and normal.
func (f fn) split(x value) (e, m value) {
	e = f.and(f.subi(x, words(sqrtHalfBits)), words(0xff800000))
	return e, f.subi(x, e)
}

// splitTiny does the same for all positive numbers.
func (f fn) splitTiny(x value) (e, m value) {
	// The bits of a subnormal number are an integer: how many times 2^-149 it is. Arithmetic
	// with the number itself would take processors long.
	tiny := f.op(wasm.I32x4LtS, x, words(0x00800000))
	e, m = f.split(f.sel(tiny, f.op(wasm.F32x4ConvertI32x4S, x), x))
	return f.subi(e, f.and(tiny, words(149<<23))), m
}

// logArgument returns e*2^23 and r with x = (1+r) * 2^e. The fast way calls another function
// unless the lanes of the parameter are positive and normal.
func (f fn) logArgument(l *Library, other Name, slow bool) (e, r value) {
	x := param(0)
	if slow {
		e, m := f.splitTiny(x)
		return f.op(wasm.F32x4ConvertI32x4S, e), f.sub(m, f32(1))
	}
	f.ifAny(f.notNormal(x))
	f.returnCall(l.Func(other), x)
	e, m := f.split(x)
	return f.op(wasm.F32x4ConvertI32x4S, e), f.sub(m, f32(1))
}

// notNormal says which lanes are not positive, normal and finite.
func (f fn) notNormal(x value) value {
	// The bits of others are outside of an interval. A difference that is negative is large
	// as an unsigned number.
	return f.op(wasm.I32x4GeU, f.subi(x, words(0x00800000)), words(infinity-0x00800000))
}

// logSpecial returns the logarithms of a parameter that is not positive and finite, and
// those of y elsewhere.
func (f fn) logSpecial(y value) value {
	x := param(0)
	y = f.sel(f.op(wasm.I32x4GeS, x, words(infinity)), x, y) // infinity and NaN
	y = f.sel(f.negative(x), nan, y)
	zero := f.op(wasm.I32x4Eq, f.abs(x), words(0))
	return f.sel(zero, words(infinity|signBit), y)
}

// log1p returns the logarithm of (1+r) * 2^e, where e is given as e*2^23.
func (f fn) log1p(e, r value) value {
	rr := f.mul(r, r)
	rest := f.mul(f.mul(r, rr), f.poly(r, logRest))
	rest = f.add(rest, f.mul(e, f32(ln2Low*0x1p-23)))
	sum := f.add(f.sub(rest, f.mul(rr, f32(0.5))), r)
	return f.add(sum, f.mul(e, f32(ln2High*0x1p-23)))
}

func writeLog(l *Library, f fn, slow bool) {
	e, r := f.logArgument(l, slowLog, slow)
	y := f.log1p(e, r)
	if slow {
		y = f.logSpecial(y)
	}
	f.push(y)
}

func writeLog2(l *Library, f fn, slow bool) {
	e, r := f.logArgument(l, slowLog2, slow)
	e = f.mul(e, f32(0x1p-23))
	rest := f.mul(f.mul(r, r), f.poly(r, log2Rest))
	// The product of r and the logarithm of e is high + low, where high is exact.
	rHigh := f.and(r, words(0xfffff000))
	rLow := f.sub(r, rHigh)
	high := f.mul(rHigh, f32(log2EHigh))
	low := f.add(f.mul(rLow, f32(log2EHigh)), f.mul(r, f32(log2ELow)))
	sum := f.add(e, high)
	// e is 0 or larger than high. So this is the error of the sum.
	lost := f.sub(high, f.sub(sum, e))
	y := f.add(sum, f.add(lost, f.add(low, rest)))
	if slow {
		y = f.logSpecial(y)
	}
	f.push(y)
}
