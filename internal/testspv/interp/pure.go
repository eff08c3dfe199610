package interp

import (
	"fmt"
	"math"
	"math/bits"
)

func trunc(v uint64, width uint32) uint64 {
	if width >= 64 {
		return v
	}
	return v & (1<<width - 1)
}

// sign extends the number of width bits.
func sign(v uint64, width uint32) int64 {
	if width == 0 || width >= 64 {
		return int64(v)
	}
	return int64(v<<(64-width)) >> (64 - width)
}

// each applies f to the components of up to three operands; one that is a
// scalar beside vectors counts for every component.
func each(f func(x, y, z uint64) uint64, ops ...val) val {
	n := -1
	for i := range ops {
		if ops[i].c != nil {
			n = len(ops[i].c)
		}
	}
	var s [3]uint64
	if n < 0 {
		for i := range ops {
			s[i] = ops[i].b
		}
		return val{b: f(s[0], s[1], s[2])}
	}
	c := make([]val, n)
	for k := range c {
		for i := range ops {
			if s[i] = ops[i].b; ops[i].c != nil {
				s[i] = ops[i].c[k].b
			}
		}
		c[k].b = f(s[0], s[1], s[2])
	}
	return val{c: c}
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// pure carries out what depends on nothing but its operands.
func (v *invocation) pure(in *inst) (val, bool) {
	t := v.types[in.typ]
	a := in.a
	if in.op == 1 {
		v.undef("OpUndef")
		return zero(t), true
	}
	x := v.regs[a[0]]
	xt := v.typeOf[a[0]]
	var y val
	if len(a) > 1 && a[1] < v.bound {
		y = v.regs[a[1]]
	}
	op := in.op
	switch {
	case op >= 126 && op <= 139 && op != 127 && op != 129 && op != 131 && op != 133 && op != 136:
		return v.integer(op, t.scalar().width, x, y), true
	case op >= 194 && op <= 200 || op == 204 || op == 205:
		w := t.scalar().width
		if op >= 194 && op <= 196 {
			return v.shift(op, w, x, y), true
		}
		if op == 205 {
			return each(func(x, _, _ uint64) uint64 { return uint64(bits.OnesCount64(x)) }, x), true
		}
		return v.integer(op, w, x, y), true
	case op == 127 || op == 129 || op == 131 || op == 133 || op == 136 || op == 140 || op == 141:
		return float(op, t.scalar().width, x, y), true
	case op == 142 || op == 143: // VectorTimesScalar, MatrixTimesScalar
		if op == 142 {
			return float(133, t.elem.width, x, y), true
		}
		c := make([]val, len(x.c))
		for i := range c {
			c[i] = float(133, t.scalar().width, x.c[i], y)
		}
		return val{c: c}, true
	case op == 144 || op == 145 || op == 146 || op == 147 || op == 148 || op == 84:
		return matrix(op, t.scalar().width, x, y), true
	case op >= 149 && op <= 152:
		return extendedInt(op, t.members[0].scalar().width, x, y), true
	case op == 154 || op == 155:
		any, all := uint64(0), uint64(1)
		for _, k := range x.c {
			any, all = any|k.b, all&k.b
		}
		if op == 154 {
			return val{b: any}, true
		}
		return val{b: all}, true
	case op >= 156 && op <= 191:
		return v.logic(in, xt, x, y)
	case op >= 201 && op <= 203:
		return v.field(op, t.scalar().width, a), true
	case op >= 109 && op <= 116:
		return v.convert(op, t.scalar(), xt.scalar(), x), true
	case op == 124:
		return bitcast(t, xt, x), true
	case op == 83 || op == 400:
		return x, true
	case op >= 77 && op <= 82:
		return v.composite(in, t), true
	case op >= 333 && op <= 366:
		return v.subgroup(in, t)
	}
	return val{}, false
}

func (v *invocation) integer(op, w uint32, x, y val) val {
	return each(func(x, y, _ uint64) uint64 {
		sx, sy := sign(x, w), sign(y, w)
		switch op {
		case 126:
			return trunc(-x, w)
		case 128:
			return trunc(x+y, w)
		case 130:
			return trunc(x-y, w)
		case 132:
			return trunc(x*y, w)
		case 197:
			return x | y
		case 198:
			return x ^ y
		case 199:
			return x & y
		case 200:
			return trunc(^x, w)
		case 204:
			return bits.Reverse64(x) >> (64 - w)
		}
		if y == 0 {
			return v.open(w, "a division by zero")
		}
		switch op {
		case 134:
			return x / y
		case 137:
			return x % y
		}
		if sy == -1 && x == 1<<(w-1) {
			return v.open(w, "a division that overflows")
		}
		switch op {
		case 135:
			return trunc(uint64(sx/sy), w)
		case 138, 139:
			if sx < 0 || sy < 0 {
				v.undef("a signed remainder of negative numbers") // by Vulkan's rules
			}
			r := sx % sy
			if op == 139 && r != 0 && (r < 0) != (sy < 0) {
				r += sy
			}
			return trunc(uint64(r), w)
		}
		panic(fmt.Errorf("%w: op %d", ErrUnknown, op))
	}, x, y)
}

func (v *invocation) shift(op, w uint32, x, y val) val {
	return each(func(x, y, _ uint64) uint64 {
		if y >= uint64(w) {
			return v.open(w, "a shift by %d of %d bits", y, w)
		}
		switch op {
		case 194:
			return x >> y
		case 195:
			return trunc(uint64(sign(x, w)>>y), w)
		}
		return trunc(x<<y, w)
	}, x, y)
}

func (v *invocation) field(op, w uint32, a []uint32) val {
	at := 1
	var ins val
	if op == 201 {
		at, ins = 2, v.regs[a[1]]
	}
	off, n := v.regs[a[at]].b, v.regs[a[at+1]].b
	if off > uint64(w) || n > uint64(w) || off+n > uint64(w) {
		v.undef("a field of %d bits at %d", n, off)
		off, n = 0, 0
	}
	return each(func(x, ins, _ uint64) uint64 {
		switch {
		case op == 201:
			mask := trunc(1<<n-1, w) << off
			return x&^mask | ins<<off&mask
		case n == 0:
			return 0
		case op == 202:
			return trunc(uint64(sign(x>>off, uint32(n))), w)
		}
		return trunc(x>>off, uint32(n))
	}, v.regs[a[0]], ins)
}

func extendedInt(op, w uint32, x, y val) val {
	low := each(func(x, y, _ uint64) uint64 {
		switch op {
		case 149:
			return trunc(x+y, w)
		case 150:
			return trunc(x-y, w)
		}
		return trunc(x*y, w)
	}, x, y)
	high := each(func(x, y, _ uint64) uint64 {
		switch op {
		case 149:
			return truth(trunc(x+y, w) < x)
		case 150:
			return truth(x < y)
		}
		hi, lo := bits.Mul64(x, y)
		if op == 152 {
			sx, sy := sign(x, w), sign(y, w)
			hi, lo = bits.Mul64(uint64(sx), uint64(sy))
			if sx < 0 {
				hi -= uint64(sy)
			}
			if sy < 0 {
				hi -= uint64(sx)
			}
		}
		if w == 64 {
			return hi
		}
		return trunc(lo>>w|hi<<(64-w), w)
	}, x, y)
	return val{c: []val{low, high}}
}

func (v *invocation) logic(in *inst, xt *typ, x, y val) (val, bool) {
	op := in.op
	s := xt.scalar()
	w := s.width
	if op == 169 { // Select
		z := v.regs[in.a[2]]
		if x.c == nil {
			if x.b != 0 {
				return y, true
			}
			return z, true
		}
		return each(func(x, y, z uint64) uint64 {
			if x != 0 {
				return y
			}
			return z
		}, x, y, z), true
	}
	f := func(x, y, _ uint64) uint64 {
		sx, sy := sign(x, w), sign(y, w)
		switch op {
		case 164, 170:
			return truth(x == y)
		case 165, 171:
			return truth(x != y)
		case 166:
			return x | y
		case 167:
			return x & y
		case 168:
			return x ^ 1
		case 172:
			return truth(x > y)
		case 173:
			return truth(sx > sy)
		case 174:
			return truth(x >= y)
		case 175:
			return truth(sx >= sy)
		case 176:
			return truth(x < y)
		case 177:
			return truth(sx < sy)
		case 178:
			return truth(x <= y)
		case 179:
			return truth(sx <= sy)
		}
		fx, fy := number(x, w), number(y, w)
		nan := math.IsNaN(fx) || math.IsNaN(fy)
		switch op {
		case 156:
			return truth(math.IsNaN(fx))
		case 157:
			return truth(math.IsInf(fx, 0))
		case 180:
			return truth(fx == fy)
		case 181:
			return truth(nan || fx == fy)
		case 182:
			return truth(!nan && fx != fy)
		case 183:
			return truth(nan || fx != fy)
		case 184:
			return truth(fx < fy)
		case 185:
			return truth(nan || fx < fy)
		case 186:
			return truth(fx > fy)
		case 187:
			return truth(nan || fx > fy)
		case 188:
			return truth(fx <= fy)
		case 189:
			return truth(nan || fx <= fy)
		case 190:
			return truth(fx >= fy)
		case 191:
			return truth(nan || fx >= fy)
		}
		panic(fmt.Errorf("%w: op %d", ErrUnknown, op))
	}
	if op == 168 || op == 156 || op == 157 {
		return each(f, x), true
	}
	return each(f, x, y), true
}
