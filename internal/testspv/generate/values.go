package generate

import "slices"

// emit writes an instruction with a result into the current block. The result
// is uniform if none of the values in scope that it uses is not.
func (g *gen) emit(op uint32, t typ, operands ...uint32) value {
	id := g.id()
	put(&g.body, op, append([]uint32{g.typ(t), id}, operands...)...)
	g.left--
	return value{id: id, t: t}
}

// raw is emit for a result of a type that is no scalar or vector.
func (g *gen) raw(op, t uint32, operands ...uint32) uint32 {
	id := g.id()
	put(&g.body, op, append([]uint32{t, id}, operands...)...)
	g.left--
	return id
}

// glslOp is an instruction of GLSL.std.450.
func (g *gen) glslOp(n uint32, t typ, operands ...uint32) value {
	return g.emit(opExtInst, t, append([]uint32{g.glsl, n}, operands...)...)
}

func (g *gen) add(v value) { g.scope = append(g.scope, v) }

// from gives v the uniformity of what it was made of, and puts it in scope.
func (g *gen) from(v value, of ...value) value {
	v.uni = g.uniform
	for _, o := range of {
		v.uni = v.uni && o.uni
	}
	g.add(v)
	return v
}

func (g *gen) anyInt() kind   { return g.ints[g.rng.IntN(len(g.ints))] }
func (g *gen) anyFloat() kind { return g.floats[g.rng.IntN(len(g.floats))] }

func (g *gen) lanes() uint32 {
	if g.oneIn(2) {
		return 1
	}
	return 2 + uint32(g.rng.IntN(3))
}

func (g *gen) anyType() typ {
	switch g.rng.IntN(6) {
	case 0:
		return boolean.of(g.lanes())
	case 1, 2:
		return g.anyFloat().of(g.lanes())
	}
	return g.anyInt().of(g.lanes())
}

// pick is a value of a type: one in scope mostly, else a constant, or one that
// is put together.
func (g *gen) pick(t typ) value {
	var fit []int
	for i := range g.scope {
		if g.scope[i].t == t {
			fit = append(fit, i)
		}
	}
	switch {
	case len(fit) > 0 && !g.oneIn(6):
		k := fit[g.rng.IntN(len(fit))]
		if g.oneIn(2) { // a late one, so that chains grow long
			k = fit[len(fit)-1-g.rng.IntN(min(3, len(fit)))]
		}
		return g.scope[k]
	case t.n > 1 && !g.oneIn(3):
		parts := make([]value, t.n)
		ids := make([]uint32, t.n)
		for i := range parts {
			parts[i] = g.pick(t.kind.of(1))
			ids[i] = parts[i].id
		}
		v := g.emit(opConstruct, t, ids...)
		for _, p := range parts {
			v.m, v.s = max(v.m, p.m), max(v.s, p.s)
		}
		return g.from(v, parts...)
	case t.n == 1 && len(fit) == 0 && !g.oneIn(4):
		if v, ok := g.made(t.kind); ok {
			return v
		}
	}
	return g.constant(t)
}

// made is a scalar made of one of another kind.
func (g *gen) made(k kind) (value, bool) {
	word := func() value {
		for range 8 {
			if i := g.rng.IntN(len(g.scope) + 1); i < len(g.scope) && g.scope[i].t == u32.of(1) {
				return g.scope[i]
			}
		}
		return g.input32()
	}
	switch {
	case k == u32:
		return g.input32(), true
	case k == i32:
		x := word()
		return g.from(g.emit(opBitcast, k.of(1), x.id), x), true
	case k.isInt():
		x := word()
		if k.class == 'u' {
			return g.from(g.emit(113, k.of(1), x.id), x), true
		}
		y := g.from(g.emit(opBitcast, i32.of(1), x.id), x)
		return g.from(g.emit(114, k.of(1), y.id), y), true
	case k.class == 'f':
		x := word()
		small := g.emit(opAnd, u32.of(1), x.id, g.word(63))
		v := g.emit(112, k.of(1), small.id)
		v.m = 6
		return g.from(v, x), true
	case k.class == 'b':
		x, y := word(), word()
		return g.from(g.emit(170+uint32(g.rng.IntN(2)), k.of(1), x.id, y.id), x, y), true
	}
	return value{}, false
}

// input32 reads a word from outside: of the input buffer or a push constant.
func (g *gen) input32() value {
	if g.oneIn(4) {
		i := uint32(g.rng.IntN(pushWords/2)) * 2 // the even ones are u32
		p := g.raw(opAccessChain, g.pointer(classPush, g.typ(u32.of(1))), g.push, g.word(i))
		return g.from(g.emit(opLoad, u32.of(1), p))
	}
	at := value{id: g.word(g.rng.Uint32N(inWords)), uni: true}
	if len(g.scope) > 0 && !g.oneIn(3) {
		for range 6 {
			if x := g.scope[g.rng.IntN(len(g.scope))]; x.t == u32.of(1) {
				at = g.emit(opAnd, u32.of(1), x.id, g.word(inWords-1))
				at.uni = x.uni && g.uniform
				break
			}
		}
	}
	p := g.raw(opAccessChain, g.pointer(classStorage, g.typ(u32.of(1))), g.in, g.word(0), at.id)
	return g.from(g.emit(opLoad, u32.of(1), p), at)
}

// constant is any constant of a type.
func (g *gen) constant(t typ) value {
	v := value{t: t, uni: true}
	scalar := func() uint32 {
		switch t.class {
		case 'b':
			return g.bits(t.kind, uint64(g.rng.IntN(2)))
		case 'f':
			v.m, v.s = 3, 2
			return g.float(t.kind, float64(g.rng.IntN(65)-32)/4)
		}
		return g.bits(t.kind, uint64(int64(int32(g.someWord())))<<(g.rng.IntN(2)*int(t.width)/8))
	}
	if t.class == 'u' && t.width == 32 && t.n == 1 && len(g.spec) > 0 && g.oneIn(3) {
		v.id = g.spec[g.rng.IntN(len(g.spec))]
		return v
	}
	ids := make([]uint32, t.n)
	for i := range ids {
		ids[i] = scalar()
	}
	v.id = ids[0]
	if t.n > 1 {
		v.id = g.once(opConstantComposite, g.typ(t), ids...)
	}
	return v
}

// mask is v & c in every component.
func (g *gen) mask(v value, c uint64) value {
	out := g.emit(opAnd, v.t, v.id, g.splat(v.t, g.bits(v.t.kind, c)))
	out.uni = v.uni && g.uniform
	return out
}

// resign is v with the signedness of k.
func (g *gen) resign(v value, k kind) value {
	if v.t.kind == k {
		return v
	}
	out := g.emit(opBitcast, k.of(v.t.n), v.id)
	out.uni = v.uni && g.uniform
	return out
}

// precision is how many bits a float has, and digits how far the last may lie
// from the point.
func precision(k kind) (bits, digits int) {
	switch k.width {
	case 16:
		return 11, 10
	case 32:
		return 24, 60
	}
	return 53, 200
}

// exact reports whether floats of these bounds are all represented.
func exact(k kind, m, s int) bool {
	bits, digits := precision(k)
	return max(m, -s)+s <= bits && s <= digits && s >= -digits && m <= min(digits, 15*int(k.width)/16) && m >= -digits
}

// within makes a float that keeps to the bounds; other values pass.
func (g *gen) within(v value, m, s int) value {
	if v.t.class != 'f' {
		return v
	}
	if v.s > s {
		old := v
		v = g.glslOp([]uint32{2, 3, 8}[g.rng.IntN(3)], v.t, v.id) // RoundEven, Trunc, Floor
		v.m, v.s, v.uni = max(old.m, 0), 0, old.uni && g.uniform
	}
	if v.m > m {
		old := v
		lim := float64(uint64(1) << m)
		lo, hi := g.splat(v.t, g.float(v.t.kind, -lim)), g.splat(v.t, g.float(v.t.kind, lim))
		v = g.glslOp([]uint32{43, 81}[g.rng.IntN(2)], v.t, v.id, lo, hi)
		v.m, v.s, v.uni = m, old.s, old.uni && g.uniform
	}
	return v
}

// scoped runs f and drops the values that it adds.
func (g *gen) scoped(f func()) {
	n, vars := len(g.scope), len(g.vars)
	g.depth++
	f()
	g.depth--
	g.scope, g.vars = slices.Clip(g.scope[:n]), g.vars[:vars]
}
