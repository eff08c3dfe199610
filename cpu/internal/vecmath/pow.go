package vecmath

import "github.com/lathe-gpu/lathe/internal/wasm"

// writePow writes the power x^y as 2^(y*log2(x)). y*log2(x) is computed in f64, because an
// error of it is one of the result relative to its value.
func writePow(l *Library, f fn, slow bool) {
	x, y := param(0), param(1)
	var e, m value
	if slow {
		e, m = f.splitTiny(f.abs(x))
	} else {
		f.ifAny(f.notNormal(x))
		f.returnCall(l.Func(slowPow), x, y)
		e, m = f.split(x)
	}
	e = f.shrS(e, 23)
	es := [2]value{f.op(wasm.F64x2ConvertLowI32x4S, e), f.op(wasm.F64x2ConvertLowI32x4S, f.high(e))}
	ms, ys := f.halves(m), f.halves(y)
	// log2(m) is a polynomial of s = (m-1)/(m+1). The halves take turns, so that they share
	// the registers of constants.
	var s, z, p, t [2]value
	one := f.keep(f64(1))
	for i, m := range ms {
		s[i] = f.op(wasm.F64x2Div, f.sub2(m, one), f.add2(m, one))
		z[i] = f.mul2(s[i], s[i])
		p[i] = f64(log2Ratio[len(log2Ratio)-1])
	}
	for k := len(log2Ratio) - 2; k >= 0; k-- {
		c := f.keep(f64(log2Ratio[k]))
		for i := range p {
			p[i] = f.add2(f.mul2(z[i], p[i]), c)
		}
	}
	for i := range t {
		t[i] = f.mul2(ys[i], f.add2(es[i], f.mul2(s[i], p[i])))
	}
	if slow {
		f.powSlowly(t)
		return
	}
	f.callUnlessBelow(f.join(t), ordinaryExponent, l, slowPow)
	f.push(f.exp2Halves(t, false))
}

// exp2Halves returns 2^t.
func (f fn) exp2Halves(t [2]value, slow bool) value {
	var n, r [2]value
	for i := range t {
		number, bits := f.nearest2(t[i])
		n[i], r[i] = bits, f.sub2(t[i], number)
	}
	rest := f.join(r)
	p := f.add(f.mul(rest, f.poly(rest, exp2Rest)), f32(1))
	bits := f.lowWords(n)
	if slow {
		p = f.zeroBelow(f.join(t), -151, p)
		bits = f.addi(bits, f32(magic)) // as nearest gives it
	}
	return f.scale(p, bits, slow)
}

// powSlowly does the rest of the slow function: t is y*log2(|x|) unless x is 0, infinite
// or NaN.
func (f fn) powSlowly(t [2]value) {
	x, y := param(0), param(1)
	for i := range t {
		// A NaN stays one.
		t[i] = f.op(wasm.F64x2Pmin, f.op(wasm.F64x2Pmax, t[i], f64(-152)), f64(129))
	}
	r := f.exp2Halves(t, true)

	ax, ay := f.abs(x), f.abs(y)
	yNegative := f.negative(y)
	one := f32(1)
	inf := words(infinity)
	// |x| is 0 or infinite: so is the result, or the other way round if y is negative.
	r = f.sel(f.eq(ax, f32(0)), f.and(yNegative, inf), r)
	r = f.sel(f.eq(ax, inf), f.op(wasm.V128Andnot, inf, yNegative), r)
	// y is infinite. It is 0 for 1/2^infinity and for 2^-infinity.
	less := f.lt(ax, one)
	r = f.sel(f.eq(ay, inf), f.op(wasm.V128Andnot, inf, f.xor(less, yNegative)), r)
	r = f.sel(f.eq(ax, one), one, r)

	// y is odd if it is an integer and y/2 is none.
	isInteger := func(y value) value { return f.eq(f.op(wasm.F32x4Trunc, y), y) }
	integer := isInteger(y)
	odd := f.op(wasm.V128Andnot, integer, isInteger(f.mul(y, f32(0.5))))
	r = f.xor(r, f.and(f.and(odd, x), words(signBit)))
	// A negative finite number has a power for integers only.
	finite := f.and(f.lt(x, f32(0)), f.lt(ax, inf))
	r = f.sel(f.op(wasm.V128Andnot, finite, integer), nan, r)

	// 1 to the power of anything and anything to the power of 0 is 1, even for NaN.
	ordered := f.and(f.eq(x, x), f.eq(y, y))
	r = f.sel(ordered, r, nan)
	r = f.sel(f.or(f.eq(x, one), f.eq(y, f32(0))), one, r)
	f.push(r)
}
