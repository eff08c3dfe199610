package vecmath

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/wasm"
)

// ln2High and ln2Low add up to ln 2. The product of ln2High and an integer of 9 bits is
// exact.
const (
	ln2High = 0x1.62e4p-1
	ln2Low  = math.Ln2 - ln2High
)

// ordinaryExponent bounds exponents for which neither 2^n*p overflows nor is subnormal, for
// p between 1/2 and 2.
const ordinaryExponent = 125

// reduceExp returns n and r with x = n*ln 2 + r, where |r| is at most ln 2 / 2. n is given as
// nearest gives it.
func (f fn) reduceExp(x value) (n, bits, r value) {
	n, bits = f.nearest(f.mul(x, f32(math.Log2E)))
	r = f.sub(x, f.mul(n, f32(ln2High)))
	return n, bits, f.sub(r, f.mul(n, f32(ln2Low)))
}

// scale returns p*2^n for the n of nearest. The slow way also does it where the result
// overflows or is subnormal, for n from -252 to 252.
func (f fn) scale(p, bits value, slow bool) value {
	if !slow {
		return f.addi(p, f.shl(bits, 23))
	}
	n := f.subi(bits, f32(magic))
	half := f.shrS(n, 1)
	power := func(n value) value { return f.shl(f.addi(n, words(127)), 23) }
	return f.mul(f.mul(p, power(half)), power(f.subi(n, half)))
}

// writeExp writes the exponential function. The slow one takes all arguments: the results of
// those that are left out by clamp are 0 and infinity too.
func writeExp(l *Library, f fn, slow bool) {
	x := param(0)
	if slow {
		x = f.clamp(x, -152*math.Ln2, 129*math.Ln2)
	} else {
		f.callUnlessBelow(x, ordinaryExponent*math.Ln2, l, slowExp)
	}
	_, bits, r := f.reduceExp(x)
	p := f.add(r, f.mul(f.mul(r, r), f.poly(r, expRest)))
	p = f.add(p, f32(1))
	if slow {
		p = f.zeroBelow(x, -151*math.Ln2, p)
	}
	f.push(f.scale(p, bits, slow))
}

func writeExp2(l *Library, f fn, slow bool) {
	x := param(0)
	if slow {
		x = f.clamp(x, -152, 129)
	} else {
		f.callUnlessBelow(x, ordinaryExponent, l, slowExp2)
	}
	n, bits := f.nearest(x)
	r := f.sub(x, n)
	p := f.add(f.mul(r, f.poly(r, exp2Rest)), f32(1))
	if slow {
		p = f.zeroBelow(x, -151, p)
	}
	f.push(f.scale(p, bits, slow))
}

// zeroBelow returns 0 in the lanes where x is less than a limit, and p in the others. The
// result there is 0 anyway, but processors take long for products that underflow.
func (f fn) zeroBelow(x value, limit float32, p value) value {
	return f.op(wasm.V128Andnot, p, f.lt(x, f32(limit)))
}

// callUnlessBelow returns the result of another function, of the same parameters, unless |x|
// is at most a limit in each lane.
func (f fn) callUnlessBelow(x value, limit float32, l *Library, other Name) {
	// As an integer, NaN is larger than all numbers.
	f.ifAny(f.op(wasm.I32x4GtS, f.abs(x), f32(limit)))
	params := []value{param(0), param(1)}[:len(definitions[other].typ.Params)]
	f.returnCall(l.Func(other), params...)
}
