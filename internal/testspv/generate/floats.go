package generate

import "math"

// real emits an operation on floats whose result is exact.
func (g *gen) real() {
	k := g.anyFloat()
	t := k.of(g.lanes())
	x := g.pick(t)
	keep := func(v value, m, s int, of ...value) {
		v.m, v.s = m, s
		g.from(v, of...)
	}
	switch g.rng.IntN(12) {
	case 0, 1: // FAdd FSub
		y := g.pick(t)
		if m, s := max(x.m, y.m)+1, max(x.s, y.s); exact(k, m, s) {
			keep(g.emit([]uint32{129, 131}[g.rng.IntN(2)], t, x.id, y.id), m, s, x, y)
		}
	case 2, 3: // FMul, VectorTimesScalar
		if t.n > 1 && g.oneIn(2) {
			y := g.pick(k.of(1))
			if m, s := x.m+y.m, x.s+y.s; exact(k, m, s) {
				keep(g.emit(142, t, x.id, y.id), m, s, x, y)
			}
			return
		}
		y := g.pick(t)
		if m, s := x.m+y.m, x.s+y.s; exact(k, m, s) {
			keep(g.emit(133, t, x.id, y.id), m, s, x, y)
		}
	case 4: // FDiv, FRem and FMod by a power of two
		e := g.rng.IntN(5)
		d := g.splat(t, g.float(k, math.Ldexp(1, e)))
		switch g.rng.IntN(3) {
		case 0:
			if exact(k, x.m-e, x.s+e) {
				keep(g.emit(136, t, x.id, d), x.m-e, x.s+e, x)
			}
		case 1:
			keep(g.emit(140, t, x.id, d), min(x.m, e), max(x.s, 0), x)
		case 2: // x − y·floor(x/y); for small negative x it would round
			if exact(k, e, max(x.s, 0)) {
				keep(g.emit(141, t, x.id, d), e, max(x.s, 0), x)
			}
		}
	case 5: // FNegate, FAbs
		if g.oneIn(2) {
			keep(g.emit(127, t, x.id), x.m, x.s, x)
		} else {
			keep(g.glslOp(4, t, x.id), x.m, x.s, x)
		}
	case 6: // RoundEven Trunc Floor Ceil FSign Fract
		switch n := []uint32{2, 3, 8, 9, 6, 10}[g.rng.IntN(6)]; n {
		case 6:
			keep(g.glslOp(n, t, x.id), 0, 0, x)
		case 10:
			keep(g.glslOp(n, t, x.id), 0, max(x.s, 0), x)
		default:
			if m := max(x.m, 0); exact(k, m, 0) {
				keep(g.glslOp(n, t, x.id), m, 0, x)
			}
		}
	case 7: // FMin FMax NMin NMax Step
		y := g.pick(t)
		switch n := []uint32{37, 40, 79, 80, 48}[g.rng.IntN(5)]; {
		case n == 48:
			keep(g.glslOp(n, t, x.id, y.id), 0, 0, x, y)
		case exact(k, max(x.m, y.m), max(x.s, y.s)):
			keep(g.glslOp(n, t, x.id, y.id), max(x.m, y.m), max(x.s, y.s), x, y)
		}
	case 8: // Fma, FMix by a half
		y, z := g.pick(t), g.pick(t)
		if g.oneIn(2) {
			if m, s := max(x.m+y.m, z.m)+1, max(x.s+y.s, z.s); exact(k, m, s) && exact(k, x.m+y.m, x.s+y.s) {
				keep(g.glslOp(50, t, x.id, y.id, z.id), m, s, x, y, z)
			}
		} else if m, s := max(x.m, y.m)+1, max(x.s, y.s)+2; exact(k, m+1, s) {
			a := g.splat(t, g.float(k, []float64{0, .25, .5, 1}[g.rng.IntN(4)]))
			keep(g.glslOp(46, t, x.id, y.id, a), m, s, x, y)
		}
	case 9: // comparisons
		y := g.pick(t)
		g.from(g.emit(180+uint32(g.rng.IntN(12)), boolean.of(t.n), x.id, y.id), x, y)
	case 10:
		g.floatInts(x)
	case 11:
		g.split(x)
	}
	if x.m+x.s > 14 || x.m > 8 { // so that others may still work with it
		g.add(g.within(x, 4, 2))
	}
}

// floatInts converts between floats, and between them and integers.
func (g *gen) floatInts(x value) {
	t := x.t
	switch g.rng.IntN(5) {
	case 0: // ConvertFToS
		to := g.anyInt().signed()
		x = g.within(x, min(int(to.width)-2, x.m), x.s)
		if g.Mixed && g.oneIn(2) {
			to = to.unsigned()
		}
		g.from(g.emit(110, to.of(t.n), x.id), x)
	case 1: // ConvertFToU
		to := g.anyInt().unsigned()
		x = g.within(x, min(int(to.width)-2, x.m), x.s)
		y := g.glslOp(4, t, x.id)
		y.uni = x.uni && g.uniform
		g.from(g.emit(109, to.of(t.n), y.id), y)
	case 2: // ConvertSToF, ConvertUToF
		k := g.anyInt()
		y := g.mask(g.pick(k.of(t.n)), 127)
		if k.class == 'i' || g.Mixed && g.oneIn(2) {
			z := g.emit(130, y.t, y.id, g.splat(y.t, g.bits(k, 60))) // −60 … 67
			z.uni = y.uni
			v := g.emit(111, t, z.id)
			v.m = 7
			g.from(v, z)
			return
		}
		v := g.emit(112, t, y.id)
		v.m = 7
		g.from(v, y)
	case 3: // FConvert
		to := g.anyFloat()
		if to.width != t.width && exact(to, x.m, x.s) {
			v := g.emit(115, to.of(t.n), x.id)
			v.m, v.s = x.m, x.s
			g.from(v, x)
		}
	case 4: // the bits of a float between 1 and 2
		y := g.mask(g.pick(u32.of(t.n)), 1<<23-1)
		z := g.emit(opOr, y.t, y.id, g.splat(y.t, g.word(0x3f800000)))
		v := g.emit(opBitcast, f32.of(t.n), z.id)
		v.m, v.s = 1, 23
		g.from(v, y)
	}
}

// split takes floats apart and puts them together.
func (g *gen) split(x value) {
	t := x.t
	i := i32.of(t.n)
	switch g.rng.IntN(6) {
	case 0: // ModfStruct
		if m := max(x.m, 0); exact(t.kind, m, 0) {
			r := g.raw(opExtInst, g.once(opTypeStruct, 0, g.typ(t), g.typ(t)), g.glsl, 36, x.id)
			v := g.emit(opExtract, t, r, 0)
			v.s = max(x.s, 0)
			g.from(v, x)
			w := g.emit(opExtract, t, r, 1)
			w.m = m
			g.from(w, x)
		}
	case 1: // FrexpStruct
		if t.width == 32 {
			r := g.raw(opExtInst, g.once(opTypeStruct, 0, g.typ(t), g.typ(i)), g.glsl, 52, x.id)
			v := g.emit(opExtract, t, r, 0)
			v.s = 24
			g.from(v, x)
			g.from(g.emit(opExtract, i, r, 1), x)
		}
	case 2: // Ldexp
		e := g.rng.IntN(9) - 4
		if exact(t.kind, x.m+e, x.s-e) && t.width == 32 {
			v := g.glslOp(53, t, x.id, g.splat(i, g.bits(i32, uint64(int64(e)))))
			v.m, v.s = x.m+e, x.s-e
			g.from(v, x)
		}
	case 3: // PackHalf2x16
		y := g.pick(f32.of(2))
		if exact(kind{'f', 16}, y.m, y.s) {
			a := g.glslOp(4, y.t, y.id)
			g.from(g.glslOp(58, u32.of(1), a.id), y)
		}
	case 4: // UnpackHalf2x16 of numbers between 1/8 and 1/4
		y := g.mask(g.pick(u32.of(1)), 0x03ff03ff)
		z := g.emit(opOr, y.t, y.id, g.word(0x30003000))
		v := g.glslOp(62, f32.of(2), z.id)
		v.m, v.s = 0, 13
		g.from(v, y)
	case 5: // QuantizeToF16
		if t.width == 32 && exact(kind{'f', 16}, x.m, x.s) {
			v := g.emit(116, t, x.id)
			v.m, v.s = x.m, x.s
			g.from(v, x)
		}
	}
}

// inexact stores a function of a float whose result is not exact, for itself
// alone: it is compared within a tolerance and used no further.
func (g *gen) inexact() {
	if !g.inMain || g.depth > 0 || g.near >= nearEach {
		return
	}
	x := g.within(g.pick(f32.of(1)), 3, 4)
	a := g.glslOp(4, x.t, x.id)
	one := g.emit(129, x.t, a.id, g.float(f32, 1)) // 1 … 9
	var v value
	switch n := []uint32{13, 14, 18, 21, 27, 28, 29, 30, 31, 32, 25, 26, 66, 11, 12, 0}[g.rng.IntN(16)]; n {
	case 25, 26: // Atan2, Pow
		v = g.glslOp(n, x.t, one.id, g.float(f32, 1.5))
	case 66: // Length
		pair := g.emit(opConstruct, f32.of(2), one.id, x.id)
		v = g.glslOp(n, x.t, pair.id)
	case 0:
		v = g.emit(136, x.t, x.id, one.id)
	case 13, 14, 18, 21, 11, 12:
		v = g.glslOp(n, x.t, x.id)
	default:
		v = g.glslOp(n, x.t, one.id)
	}
	g.storeOut(g.outN, f32, nearEach, g.near, v)
	g.near++
}
