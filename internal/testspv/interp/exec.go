package interp

import (
	"encoding/binary"
	"fmt"
)

// run1 goes on until the next barrier or the end.
func (v *invocation) run1() {
	for {
		if v.at.pc == 0 && len(v.at.b.phis) > 0 {
			v.phis()
		}
		if v.left--; v.left < 0 {
			panic(ErrEndless)
		}
		in := v.at.b.body[v.at.pc]
		v.at.pc++
		switch in.op {
		case 224: // ControlBarrier
			v.wait = in.at
			if v.regs[in.a[0]].b == 3 {
				v.undef("a barrier of a subgroup")
				continue
			}
			return
		case 225, 246, 247: // MemoryBarrier and merges
		case 249:
			v.jump(in.a[0])
		case 250:
			if v.regs[in.a[0]].b != 0 {
				v.jump(in.a[1])
			} else {
				v.jump(in.a[2])
			}
		case 251:
			v.choose(in)
		case 253, 254, 255:
			if in.op == 255 {
				v.undef("OpUnreachable is reached")
			}
			if len(v.stack) == 0 {
				v.done = true
				return
			}
			var x val
			if in.op == 254 {
				x = v.regs[in.a[0]]
			}
			res := v.at.res
			v.at = v.stack[len(v.stack)-1]
			v.stack = v.stack[:len(v.stack)-1]
			v.regs[res] = x
		case 57:
			fn := v.functions[in.a[0]]
			args := make([]val, len(fn.params))
			for i := range args {
				args[i] = v.regs[in.a[1+i]]
			}
			for i, p := range fn.params {
				v.regs[p] = args[i]
			}
			v.stack = append(v.stack, v.at)
			v.at = frame{fn: fn, b: fn.first, res: in.res}
		default:
			v.step(in)
		}
	}
}

func (v *invocation) jump(to uint32) {
	v.at.from, v.at.b, v.at.pc = v.at.b.id, v.at.fn.blocks[to], 0
}

func (v *invocation) phis() {
	phis := v.at.b.phis
	new := make([]val, len(phis))
	for i, in := range phis {
		for k := 0; k+1 < len(in.a); k += 2 {
			if in.a[k+1] == v.at.from {
				new[i] = v.regs[in.a[k]]
			}
		}
	}
	for i, in := range phis {
		v.regs[in.res] = new[i]
	}
}

func (v *invocation) choose(in *inst) {
	x, w := v.regs[in.a[0]].b, v.typeOf[in.a[0]].width
	rest := in.a[2:]
	step := 2
	if w == 64 {
		step = 3
	}
	for ; len(rest) >= step; rest = rest[step:] {
		lit := uint64(rest[0])
		if step == 3 {
			lit |= uint64(rest[1]) << 32
		}
		if trunc(lit, w) == x {
			v.jump(rest[step-1])
			return
		}
	}
	v.jump(in.a[1])
}

// step carries out an instruction that goes on to the next.
func (v *invocation) step(in *inst) {
	t := v.types[in.typ]
	a := in.a
	switch in.op {
	case 59:
		v.variable(in)
	case 61:
		v.regs[in.res] = v.load(v.regs[a[0]].p, t)
	case 62:
		v.store(v.regs[a[0]].p, v.regs[a[1]])
	case 63:
		v.store(v.regs[a[0]].p, v.load(v.regs[a[1]].p, v.typeOf[a[1]].elem))
	case 65, 66:
		v.regs[in.res] = val{p: v.chain(v.regs[a[0]].p, a[1:])}
	case 68: // ArrayLength
		p := v.regs[a[0]].p
		off := uint64(p.t.layout[a[1]][decOffset])
		n := uint64(0)
		if size := uint64(len(*p.buf)); size > p.off+off {
			n = (size - p.off - off) / p.t.members[a[1]].stride
		}
		v.regs[in.res] = val{b: n}
	case 60: // ImageTexelPointer
		p := v.regs[a[0]].p
		v.regs[in.res] = val{p: &ptr{buf: p.buf, off: v.regs[a[1]].b * 16, t: t.elem}}
	case 86, 100: // SampledImage, Image
		v.regs[in.res] = v.regs[a[0]]
	case 95, 98: // ImageFetch, ImageRead
		v.regs[in.res] = v.load(v.texel(a), t)
	case 99:
		v.store(v.texel(a), v.regs[a[2]])
	case 103, 104:
		v.regs[in.res] = val{b: uint64(len(*v.regs[a[0]].p.buf) / 16)}
	case 227, 228, 229, 230, 232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242:
		v.atomic(in, t)
	case 12:
		if out, ok := v.extended(in, t); ok {
			v.regs[in.res] = out
		}
	default:
		out, ok := v.pure(in)
		if !ok {
			panic(fmt.Errorf("%w: op %d", ErrUnknown, in.op))
		}
		v.regs[in.res] = out
	}
}

// texel leads to four components of a texel buffer.
func (v *invocation) texel(a []uint32) *ptr {
	p := v.regs[a[0]].p
	img := p.t
	if img.op == opTypeSampledImage {
		img = img.elem
	}
	at := sign(v.regs[a[1]].b, 32)
	if at < 0 || at >= int64(len(*p.buf)/16) {
		v.undef("texel %d of %d", at, len(*p.buf)/16)
		return nil
	}
	return &ptr{buf: p.buf, off: uint64(at) * 16, t: &typ{op: opTypeVector, n: 4, elem: img.elem}}
}

// chain follows indices.
func (v *invocation) chain(p *ptr, idx []uint32) *ptr {
	if p == nil {
		return nil
	}
	q := *p
	for _, id := range idx {
		i := sign(v.regs[id].b, v.typeOf[id].width)
		t := q.t
		n := int64(t.n)
		switch t.op {
		case opTypeStruct:
			n = int64(len(t.members))
			if q.buf != nil {
				l := t.layout[i]
				q.off += uint64(l[decOffset])
				q.matStride, q.rowMajor = uint64(l[decMatrixStride]), l[decRowMajor] != 0
			}
			q.t = t.members[i]
		case opTypeArray, opTypeRuntimeArray:
			q.t = t.elem
			if t.op == opTypeRuntimeArray {
				n = 1 << 40
			}
			if q.buf != nil {
				q.off += uint64(i) * t.stride
			}
		case opTypeMatrix:
			q.t = t.elem
			switch {
			case q.buf == nil:
			case q.rowMajor:
				q.off += uint64(i) * uint64(t.scalar().width/8)
			default:
				q.off += uint64(i) * q.matStride
			}
		case opTypeVector:
			q.t = t.elem
			switch {
			case q.buf == nil:
			case q.rowMajor && q.matStride > 0:
				q.off += uint64(i) * q.matStride
			default:
				q.off += uint64(i) * uint64(t.elem.width/8)
			}
		default:
			panic(fmt.Errorf("%w: an index into a type of op %d", ErrUnknown, t.op))
		}
		if i < 0 || i >= n {
			if q.buf == nil || !v.launch.Robust {
				v.undef("index %d of %d", i, n)
			}
			return nil
		}
		if q.mem != nil {
			q.mem = &q.mem.c[i]
		}
	}
	return &q
}

// load reads what p leads to, of type t; out of range that is zero.
func (v *invocation) load(p *ptr, t *typ) val {
	switch {
	case p == nil:
		return zero(t)
	case p.mem != nil:
		return p.mem.clone()
	case p.t.op == opTypeImage || p.t.op == opTypeSampledImage:
		return val{p: p}
	}
	return v.read(*p)
}

// bytes is where n bytes of a buffer lie, nil if outside.
func (v *invocation) bytes(p *ptr, n uint64) []byte {
	if p.off > uint64(len(*p.buf)) || n > uint64(len(*p.buf))-p.off {
		if !v.launch.Robust {
			v.undef("%d bytes at %d of a buffer of %d", n, p.off, len(*p.buf))
		}
		return nil
	}
	return (*p.buf)[p.off : p.off+n]
}

// parts gives the constituents of what a pointer into a buffer leads to.
func (p *ptr) parts() []ptr {
	t := p.t
	n := int(t.n)
	if t.op == opTypeStruct {
		n = len(t.members)
	}
	list := make([]ptr, n)
	for i := range list {
		q := *p
		u := uint64(i)
		switch t.op {
		case opTypeStruct:
			l := t.layout[i]
			q.off += uint64(l[decOffset])
			q.matStride, q.rowMajor = uint64(l[decMatrixStride]), l[decRowMajor] != 0
			q.t = t.members[i]
		case opTypeArray:
			q.off += u * t.stride
			q.t = t.elem
		case opTypeMatrix:
			q.t = t.elem
			if q.rowMajor {
				q.off += u * uint64(t.scalar().width/8)
			} else {
				q.off += u * q.matStride
			}
		case opTypeVector:
			q.t = t.elem
			if q.rowMajor && q.matStride > 0 {
				q.off += u * q.matStride
			} else {
				q.off += u * uint64(t.elem.width/8)
			}
		}
		list[i] = q
	}
	return list
}

func (v *invocation) read(p ptr) val {
	switch p.t.op {
	case opTypeInt, opTypeFloat:
		b := v.bytes(&p, uint64(p.t.width/8))
		if b == nil {
			return val{}
		}
		var w [8]byte
		copy(w[:], b)
		return val{b: binary.LittleEndian.Uint64(w[:])}
	case opTypeVector, opTypeMatrix, opTypeArray, opTypeStruct:
		parts := p.parts()
		c := make([]val, len(parts))
		for i := range c {
			c[i] = v.read(parts[i])
		}
		return val{c: c}
	}
	panic(fmt.Errorf("%w: a load of a type of op %d", ErrUnknown, p.t.op))
}

func (v *invocation) store(p *ptr, x val) {
	switch {
	case p == nil:
	case p.mem != nil:
		p.mem.set(x)
	default:
		v.write(*p, x)
	}
}

// set changes a variable or a part of it. Its parts stay where they are, because pointers may lead to them.
func (v *val) set(x val) {
	if v.c == nil || len(v.c) != len(x.c) {
		*v = x.clone()
		return
	}
	for i := range v.c {
		v.c[i].set(x.c[i])
	}
}

func (v *invocation) write(p ptr, x val) {
	switch p.t.op {
	case opTypeInt, opTypeFloat:
		if b := v.bytes(&p, uint64(p.t.width/8)); b != nil {
			var w [8]byte
			binary.LittleEndian.PutUint64(w[:], x.b)
			copy(b, w[:])
		}
	default:
		for i, q := range p.parts() {
			v.write(q, x.c[i])
		}
	}
}

// atomic carries out an atomic operation; invocations never overlap here.
func (v *invocation) atomic(in *inst, t *typ) {
	a := in.a
	p := v.regs[a[0]].p
	if p == nil {
		v.regs[in.res] = val{}
		return
	}
	old := v.load(p, p.t)
	w := p.t.width
	arg := func(k int) uint64 { return v.regs[a[k]].b }
	var x uint64
	switch in.op {
	case 227:
		v.regs[in.res] = old
		return
	case 228, 229:
		x = arg(3)
	case 230:
		if x = old.b; x == arg(5) {
			x = arg(4)
		}
	case 232:
		x = old.b + 1
	case 233:
		x = old.b - 1
	case 234:
		x = old.b + arg(3)
	case 235:
		x = old.b - arg(3)
	case 236:
		x = uint64(min(sign(old.b, w), sign(arg(3), w)))
	case 237:
		x = min(old.b, arg(3))
	case 238:
		x = uint64(max(sign(old.b, w), sign(arg(3), w)))
	case 239:
		x = max(old.b, arg(3))
	case 240:
		x = old.b & arg(3)
	case 241:
		x = old.b | arg(3)
	case 242:
		x = old.b ^ arg(3)
	}
	v.store(p, val{b: trunc(x, w)})
	if t != nil {
		v.regs[in.res] = old
	}
}
