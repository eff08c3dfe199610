package interp

import (
	"fmt"
	"math"
	"math/bits"
)

func (v *invocation) composite(in *inst, t *typ) val {
	a := in.a
	x := v.regs[a[0]]
	switch in.op {
	case 77: // VectorExtractDynamic
		i := v.regs[a[1]].b
		if i >= uint64(len(x.c)) {
			v.undef("component %d of %d", i, len(x.c))
			return val{}
		}
		return x.c[i]
	case 78: // VectorInsertDynamic
		i := v.regs[a[2]].b
		if i >= uint64(len(x.c)) {
			v.undef("component %d of %d", i, len(x.c))
			return x
		}
		x = x.clone()
		x.c[i] = v.regs[a[1]]
		return x
	case 79: // VectorShuffle
		both := append(append([]val(nil), x.c...), v.regs[a[1]].c...)
		c := make([]val, len(a)-2)
		for i, k := range a[2:] {
			if int(k) >= len(both) {
				v.undef("a component of no vector")
				continue
			}
			c[i] = both[k]
		}
		return val{c: c}
	case 80: // CompositeConstruct
		var c []val
		for _, id := range a {
			if p := v.regs[id]; t.op == opTypeVector && p.c != nil {
				c = append(c, p.c...)
			} else {
				c = append(c, p)
			}
		}
		return val{c: c}
	case 81:
		for _, i := range a[1:] {
			x = x.c[i]
		}
		return x
	}
	// CompositeInsert
	out := v.regs[a[1]].clone()
	p := &out
	for _, i := range a[2:] {
		p = &p.c[i]
	}
	*p = x
	return out
}

// subgroup is what the operation gives where all have the same value.
func (v *invocation) subgroup(in *inst, t *typ) (val, bool) {
	a := in.a
	switch op := in.op; {
	case op == 334 || op == 335 || op == 338 || op == 337 || op >= 345 && op <= 348 || op == 365 || op == 366:
		return v.regs[a[1]], true
	case op == 336:
		return val{b: 1}, true
	case op >= 353 && op <= 360: // minima, maxima, and, or
		return v.regs[a[2]], true
	case op >= 349 && op <= 364 || op >= 333 && op <= 344:
		v.undef("subgroup op %d, which depends on the size", op)
		if op >= 349 {
			return v.regs[a[2]], true
		}
		return zero(t), true
	}
	return val{}, false
}

// extended carries out an instruction of GLSL.std.450. ok is false where there
// is no result.
func (v *invocation) extended(in *inst, t *typ) (out val, ok bool) {
	if t.op == 19 { // void: a note for debuggers
		return val{}, false
	}
	n := in.a[1]
	a := in.a[2:]
	var x, y, z val
	x = v.regs[a[0]]
	if len(a) > 1 {
		y = v.regs[a[1]]
	}
	if len(a) > 2 {
		z = v.regs[a[2]]
	}
	s := t
	if t.op != opTypeStruct {
		s = t.scalar()
	}
	w := s.width
	real := func(f func(x, y, z float64) float64) (val, bool) {
		return each(func(x, y, z uint64) uint64 { return round(f(number(x, w), number(y, w), number(z, w)), w) }, []val{x, y, z}[:len(a)]...), true
	}
	whole := func(f func(x, y, z uint64) uint64) (val, bool) {
		return each(func(x, y, z uint64) uint64 { return trunc(f(x, y, z), w) }, []val{x, y, z}[:len(a)]...), true
	}
	signed := func(f func(x, y, z int64) int64) (val, bool) {
		return whole(func(x, y, z uint64) uint64 { return uint64(f(sign(x, w), sign(y, w), sign(z, w))) })
	}
	if f := reals[n]; f != nil {
		return real(f)
	}
	switch n {
	case 5:
		return signed(func(x, _, _ int64) int64 { return max(x, -x) })
	case 7:
		return signed(func(x, _, _ int64) int64 { return int64(truth(x > 0)) - int64(truth(x < 0)) })
	case 38:
		return whole(func(x, y, _ uint64) uint64 { return min(x, y) })
	case 39:
		return signed(func(x, y, _ int64) int64 { return min(x, y) })
	case 41:
		return whole(func(x, y, _ uint64) uint64 { return max(x, y) })
	case 42:
		return signed(func(x, y, _ int64) int64 { return max(x, y) })
	case 44, 45:
		if n == 44 {
			return whole(func(x, lo, hi uint64) uint64 {
				if lo > hi {
					v.undef("a clamp between %d and %d", lo, hi)
				}
				return min(max(x, lo), hi)
			})
		}
		return signed(func(x, lo, hi int64) int64 {
			if lo > hi {
				v.undef("a clamp between %d and %d", lo, hi)
			}
			return min(max(x, lo), hi)
		})
	case 53: // Ldexp
		e := y
		yw := v.typeOf[a[1]].scalar().width
		return each(func(x, e, _ uint64) uint64 {
			return round(math.Ldexp(number(x, w), int(max(-4000, min(4000, sign(e, yw))))), w)
		}, x, e), true
	case 73:
		return whole(func(x, _, _ uint64) uint64 {
			if x == 0 {
				return math.MaxUint64
			}
			return uint64(bits.TrailingZeros64(x))
		})
	case 74:
		return signed(func(x, _, _ int64) int64 {
			if x < 0 {
				x = ^x
			}
			return int64(bits.Len64(uint64(x))) - 1
		})
	case 75:
		return whole(func(x, _, _ uint64) uint64 { return uint64(bits.Len64(x) - 1) })
	case 33: // Determinant
		return val{b: round(determinant(x, w), w)}, true
	case 66, 67, 69: // Length, Distance, Normalize
		sum := 0.0
		if n == 67 {
			x = float(131, w, x, y)
		}
		list := x.c
		if list == nil {
			list = []val{x}
		}
		for _, c := range list {
			sum += number(c.b, w) * number(c.b, w)
		}
		if n == 69 {
			return each(func(x, _, _ uint64) uint64 { return round(number(x, w)/math.Sqrt(sum), w) }, x), true
		}
		return val{b: round(math.Sqrt(sum), w)}, true
	case 68: // Cross
		var c []val
		for i := range 3 {
			j, k := (i+1)%3, (i+2)%3
			f := func(v val, i int) float64 { return number(v.c[i].b, w) }
			c = append(c, val{b: round(f(x, j)*f(y, k)-f(y, j)*f(x, k), w)})
		}
		return val{c: c}, true
	case 35, 36, 51, 52: // Modf, Frexp and their structs
		frexp := n > 36
		sw := v.typeOf[a[0]].scalar().width
		parts := func(x uint64) (first, second uint64) {
			f := number(x, sw)
			if frexp {
				m, e := math.Frexp(f)
				return round(m, sw), trunc(uint64(int64(e)), 32)
			}
			i := math.Trunc(f)
			return round(f-i, sw), round(i, sw)
		}
		first := each(func(x, _, _ uint64) uint64 { f, _ := parts(x); return f }, x)
		second := each(func(x, _, _ uint64) uint64 { _, s := parts(x); return s }, x)
		if n == 35 || n == 51 {
			v.store(y.p, second)
			return first, true
		}
		return val{c: []val{first, second}}, true
	case 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65:
		return pack(n, t, v.typeOf[a[0]], x), true
	}
	panic(fmt.Errorf("%w: extended instruction %d", ErrUnknown, n))
}

func determinant(m val, w uint32) float64 {
	n := len(m.c)
	if n == 1 {
		return number(m.c[0].c[0].b, w)
	}
	sum := 0.0
	for k := range n {
		var minor val
		for i, col := range m.c {
			if i != k {
				minor.c = append(minor.c, val{c: col.c[1:]})
			}
		}
		sum += (1 - 2*float64(k%2)) * number(m.c[k].c[0].b, w) * determinant(minor, w)
	}
	return sum
}

// pack carries out the packing instructions and their inverses.
func pack(n uint32, t, from *typ, x val) val {
	if n == 59 || n == 65 {
		return bitcast(t, from, x)
	}
	bitsEach := map[uint32]uint32{54: 8, 55: 8, 63: 8, 64: 8}[n]
	if bitsEach == 0 {
		bitsEach = 16
	}
	signed := n == 54 || n == 56 || n == 60 || n == 63
	top := float64(uint64(1)<<bitsEach - 1)
	low := 0.0
	if signed {
		top, low = float64(uint64(1)<<(bitsEach-1)-1), -1
	}
	if n <= 58 {
		var out uint64
		for i, c := range x.c {
			f := number(c.b, 32)
			b := round(f, 16)
			if n != 58 {
				b = trunc(uint64(int64(math.RoundToEven(max(low, min(1, f))*top))), bitsEach)
			}
			out |= b << (uint32(i) * bitsEach)
		}
		return val{b: out}
	}
	c := make([]val, t.n)
	for i := range c {
		b := trunc(x.b>>(uint32(i)*bitsEach), bitsEach)
		switch {
		case n == 62:
			c[i].b = round(number(b, 16), 32)
		case signed:
			c[i].b = round(max(-1, float64(sign(b, bitsEach))/top), 32)
		default:
			c[i].b = round(float64(b)/top, 32)
		}
	}
	return val{c: c}
}

// reals are the extended instructions on floats, component by component.
var reals = map[uint32]func(x, y, z float64) float64{
	1: func(x, _, _ float64) float64 { return math.RoundToEven(x) }, 2: func(x, _, _ float64) float64 { return math.RoundToEven(x) },
	3: func(x, _, _ float64) float64 { return math.Trunc(x) }, 4: func(x, _, _ float64) float64 { return math.Abs(x) },
	6: func(x, _, _ float64) float64 { return float64(truth(x > 0)) - float64(truth(x < 0)) },
	8: func(x, _, _ float64) float64 { return math.Floor(x) }, 9: func(x, _, _ float64) float64 { return math.Ceil(x) },
	10: func(x, _, _ float64) float64 { return x - math.Floor(x) }, 11: func(x, _, _ float64) float64 { return x * (math.Pi / 180) },
	12: func(x, _, _ float64) float64 { return x * (180 / math.Pi) }, 13: one(math.Sin), 14: one(math.Cos), 15: one(math.Tan),
	16: one(math.Asin), 17: one(math.Acos), 18: one(math.Atan), 19: one(math.Sinh), 20: one(math.Cosh), 21: one(math.Tanh),
	22: one(math.Asinh), 23: one(math.Acosh), 24: one(math.Atanh), 25: func(y, x, _ float64) float64 { return math.Atan2(y, x) },
	26: func(x, y, _ float64) float64 { return math.Pow(x, y) }, 27: one(math.Exp), 28: one(math.Log), 29: one(math.Exp2), 30: one(math.Log2),
	31: one(math.Sqrt), 32: func(x, _, _ float64) float64 { return 1 / math.Sqrt(x) },
	37: func(x, y, _ float64) float64 { return min(x, y) }, 40: func(x, y, _ float64) float64 { return max(x, y) },
	43: func(x, lo, hi float64) float64 { return min(max(x, lo), hi) }, 46: func(x, y, a float64) float64 { return x*(1-a) + y*a },
	48: func(edge, x, _ float64) float64 { return float64(truth(x >= edge)) },
	49: func(lo, hi, x float64) float64 { t := min(max((x-lo)/(hi-lo), 0), 1); return t * t * (3 - 2*t) },
	50: func(x, y, z float64) float64 { return math.FMA(x, y, z) },
	79: func(x, y, _ float64) float64 { return min(x, y) }, 80: func(x, y, _ float64) float64 { return max(x, y) },
	81: func(x, lo, hi float64) float64 { return min(max(x, lo), hi) },
}

func one(f func(float64) float64) func(x, y, z float64) float64 {
	return func(x, _, _ float64) float64 { return f(x) }
}
