package interp

import (
	"fmt"
	"math"
)

// number is the float of these bits.
func number(b uint64, width uint32) float64 {
	switch width {
	case 64:
		return math.Float64frombits(b)
	case 32:
		return float64(math.Float32frombits(uint32(b)))
	}
	s, e, m := b>>15, int(b>>10&31), float64(b&1023)
	f := math.Ldexp(m, -24)
	switch {
	case e == 31 && m == 0:
		f = math.Inf(1)
	case e == 31:
		f = math.NaN()
	case e > 0:
		f = math.Ldexp(1024+m, e-25)
	}
	if s != 0 {
		f = -f
	}
	return f
}

// round gives the bits of the nearest float; of two, the even one.
func round(f float64, width uint32) uint64 {
	switch width {
	case 64:
		return math.Float64bits(f)
	case 32:
		return uint64(math.Float32bits(float32(f)))
	}
	s := uint64(0)
	if math.Signbit(f) {
		s, f = 1<<15, -f
	}
	switch {
	case math.IsNaN(f):
		return s | 0x7e00
	case f >= 65520:
		return s | 0x7c00
	case f < math.Ldexp(1, -14):
		return s | uint64(math.RoundToEven(math.Ldexp(f, 24)))
	}
	m, e := math.Frexp(f)                            // m in [½, 1)
	n := uint64(math.RoundToEven(math.Ldexp(m, 11))) // 1024 … 2048
	return s | uint64(e+13)<<10 + n
}

func float(op, w uint32, x, y val) val {
	if op == 127 {
		return each(func(x, _, _ uint64) uint64 { return x ^ 1<<(w-1) }, x)
	}
	return each(func(x, y, _ uint64) uint64 {
		a, b := number(x, w), number(y, w)
		var r float64
		switch op {
		case 129:
			r = a + b
		case 131:
			r = a - b
		case 133:
			r = a * b
		case 136:
			r = a / b
		case 140:
			r = math.Mod(a, b)
		case 141:
			r = a - b*math.Floor(a/b)
		}
		return round(r, w)
	}, x, y)
}

func matrix(op, w uint32, x, y val) val {
	dot := func(n int, f func(i int) (a, b uint64)) val {
		s := uint64(0)
		for i := range n {
			a, b := f(i)
			s = round(number(s, w)+number(round(number(a, w)*number(b, w), w), w), w)
		}
		return val{b: s}
	}
	times := func(m, v val) val {
		c := make([]val, len(m.c[0].c))
		for r := range c {
			c[r] = dot(len(m.c), func(i int) (uint64, uint64) { return m.c[i].c[r].b, v.c[i].b })
		}
		return val{c: c}
	}
	var out val
	switch op {
	case 144: // vector × matrix
		for _, col := range y.c {
			out.c = append(out.c, dot(len(x.c), func(i int) (uint64, uint64) { return x.c[i].b, col.c[i].b }))
		}
	case 145:
		return times(x, y)
	case 146:
		for _, col := range y.c {
			out.c = append(out.c, times(x, col))
		}
	case 147: // column × row
		for _, k := range y.c {
			out.c = append(out.c, float(133, w, x, k))
		}
	case 148:
		return dot(len(x.c), func(i int) (uint64, uint64) { return x.c[i].b, y.c[i].b })
	case 84:
		for r := range x.c[0].c {
			var col val
			for k := range x.c {
				col.c = append(col.c, x.c[k].c[r])
			}
			out.c = append(out.c, col)
		}
	}
	return out
}

func (v *invocation) convert(op uint32, to, from *typ, x val) val {
	return each(func(x, _, _ uint64) uint64 {
		switch op {
		case 109, 110: // to integers
			f := math.Trunc(number(x, from.width))
			low, high := 0.0, math.Ldexp(1, int(to.width))
			if op == 110 {
				low, high = -high/2, high/2
			}
			if !(f >= low && f < high) {
				return v.open(to.width, "a conversion of %v to %d bits", f, to.width)
			}
			if f < 0 {
				return trunc(uint64(int64(f)), to.width)
			}
			return trunc(uint64(f), to.width)
		case 111:
			return round(float64(sign(x, from.width)), to.width)
		case 112:
			return round(float64(x), to.width)
		case 113:
			return trunc(x, to.width)
		case 114:
			return trunc(uint64(sign(x, from.width)), to.width)
		case 115:
			return round(number(x, from.width), to.width)
		case 116:
			return round(number(round(number(x, 32), 16), 16), 32)
		}
		panic(fmt.Errorf("%w: op %d", ErrUnknown, op))
	}, x)
}

// bitcast cuts the bits of x into components of t, the first in the lowest bits.
func bitcast(t, from *typ, x val) val {
	var b [32]byte
	at := 0
	put := func(v uint64, w uint32) {
		for i := range int(w / 8) {
			b[at] = byte(v >> (8 * i))
			at++
		}
	}
	fw, tw := from.scalar().width, t.scalar().width
	if x.c == nil {
		put(x.b, fw)
	}
	for _, c := range x.c {
		put(c.b, fw)
	}
	get := func(i uint32) val {
		var v uint64
		for k := range tw / 8 {
			v |= uint64(b[i*tw/8+k]) << (8 * k)
		}
		return val{b: v}
	}
	if t.op != opTypeVector {
		return get(0)
	}
	var out val
	for i := range t.n {
		out.c = append(out.c, get(i))
	}
	return out
}
