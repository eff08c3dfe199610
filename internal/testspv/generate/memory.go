package generate

// atomics are the operations that come to the same in any order, one for each
// word of the buffer for atomics: each word meets only its own.
var atomics = []uint32{234, 235, 236, 237, 238, 239, 240, 241, 242, 232, 233, 234}

// local1 declares a variable of the function and gives it a value.
func (g *gen) local1() {
	k := [][]kind{g.ints, g.ints, g.floats}[g.rng.IntN(3)]
	v := variable{id: g.id(), class: classFunction, t: k[g.rng.IntN(len(k))].of(g.lanes())}
	if g.oneIn(2) {
		v.n = 1 << (1 + g.rng.IntN(3))
	}
	put(&g.locals, opVariable, g.pointer(classFunction, g.pointee(v)), v.id, classFunction)
	g.fill(&v, false)
	g.vars = append(g.vars, v)
}

// pointee is the type that a variable holds.
func (g *gen) pointee(v variable) uint32 {
	t := g.typ(v.t)
	if v.n > 0 {
		t = g.once(opTypeArray, 0, t, g.word(v.n))
	}
	return t
}

// fill stores constants into all of a variable: in the function's beginning, or
// for a variable of the module in the block that is being written.
func (g *gen) fill(v *variable, here bool) {
	c := func() uint32 {
		x := g.constant(v.t)
		return x.id
	}
	v.m, v.s = 4, 2
	id := c()
	if v.n > 0 {
		words := make([]uint32, v.n)
		for i := range words {
			words[i] = c()
		}
		id = g.compose(here, g.pointee(*v), words)
	}
	to := &g.inits
	if here {
		to = &g.body
	}
	put(to, opStore, v.id, id)
}

// compose makes an array of constants; one may be a specialisation constant,
// so it is no constant itself.
func (g *gen) compose(here bool, t uint32, words []uint32) uint32 {
	id := g.id()
	to := &g.inits
	if here {
		to = &g.body
	}
	put(to, opConstruct, append([]uint32{t, id}, words...)...)
	return id
}

// element is a pointer to an element of a variable, or to itself.
func (g *gen) element(v variable) uint32 {
	if v.n == 0 {
		return v.id
	}
	i := g.mask(g.pick([]kind{u32, i32}[g.rng.IntN(2)].of(1)), uint64(v.n-1))
	return g.raw([]uint32{65, 66}[g.rng.IntN(2)], g.pointer(v.class, g.typ(v.t)), v.id, i.id)
}

// access stores to a variable or loads from one.
func (g *gen) access() {
	if len(g.vars) == 0 {
		return
	}
	v := g.vars[g.rng.IntN(len(g.vars))]
	if g.oneIn(2) {
		x := g.within(g.pick(v.t), v.m, v.s)
		put(&g.body, opStore, g.element(v), x.id)
		return
	}
	x := g.emit(opLoad, v.t, g.element(v))
	x.m, x.s = v.m, v.s
	g.from(x, value{}) // what lies there need not be uniform
}

// outside reads from outside.
func (g *gen) outside() {
	switch {
	case g.wide != 0 && g.oneIn(2) && g.inMain:
		g.wideAccess()
	case g.texel != 0 && g.oneIn(2):
		img := g.once(25, 0, g.typ(u32.of(1)), 5, 0, 0, 0, 1, 0)
		at := g.mask(g.pick(i32.of(1)), inWords/4-1)
		loaded := g.raw(opLoad, img, g.texel)
		g.from(g.emit(95, u32.of(4), loaded, at.id), at)
	case g.oneIn(4): // a push constant that is signed
		i := uint32(g.rng.IntN(pushWords/2))*2 + 1
		p := g.raw(opAccessChain, g.pointer(classPush, g.typ(i32.of(1))), g.push, g.word(i))
		g.from(g.emit(opLoad, i32.of(1), p))
	default:
		g.input32()
	}
}

// wideAccess reads the invocation's element of the buffer of another width, and
// may write it.
func (g *gen) wideAccess() {
	t := g.wideKind.of(1)
	i := g.mask(g.index, 255/max(uint64(g.wideKind.width)/32, 1)/2)
	if g.invocations() > 64 {
		return
	}
	p := g.raw(opAccessChain, g.pointer(classStorage, g.typ(t)), g.wide, g.word(0), i.id)
	if g.oneIn(2) {
		x := g.pick(t)
		put(&g.body, opStore, p, x.id)
		return
	}
	g.from(g.emit(opLoad, t, p), g.index)
}

// atomic adds to the buffer for atomics, and uses no result.
func (g *gen) atomic() {
	if !g.Atomics {
		return
	}
	i := g.rng.Uint32N(uint32(len(atomics)))
	p := g.raw(opAccessChain, g.pointer(classStorage, g.typ(u32.of(1))), g.atom, g.word(0), g.word(i))
	scope, relaxed := g.word(1), g.word(0)
	words := []uint32{p, scope, relaxed}
	if op := atomics[i]; op != 232 && op != 233 {
		words = append(words, g.pick(u32.of(1)).id)
	}
	g.emit(atomics[i], u32.of(1), words...)
}

// exchange lets the workgroup's invocations read each other's values through
// shared memory.
func (g *gen) exchange() {
	if !g.inMain || !g.uniform || g.loops > 8 || g.Affine && !g.barriers {
		return
	}
	n := g.local[0] * g.local[1] * g.local[2] // a power of two
	k := [][]kind{{u32}, {i32}, {f32}}[g.rng.IntN(3)][0]
	t := k.of(g.lanes())
	arr := g.once(opTypeArray, 0, g.typ(t), g.word(n))
	shared := g.variable(classShared, arr)
	ptr := g.pointer(classShared, g.typ(t))
	x := g.pick(t)
	put(&g.body, opStore, g.raw(opAccessChain, ptr, shared, g.lane.id), x.id)
	g.barrier()
	other := g.emit(opIAdd, u32.of(1), g.lane.id, g.word(g.rng.Uint32N(n)))
	if g.oneIn(2) {
		other = g.emit(198, u32.of(1), g.lane.id, g.word(g.rng.Uint32N(n)))
	}
	other = g.mask(other, uint64(n-1))
	y := g.emit(opLoad, t, g.raw(opAccessChain, ptr, shared, other.id))
	y.m, y.s = x.m, x.s
	g.from(y, value{})
	g.barrier() // the memory may be used again in the next round of a loop
}

func (g *gen) barrier() {
	put(&g.body, 224, g.word(2), g.word(2), g.word(0x108))
}

// subgroup emits an operation of the subgroup on a value that is the same in
// all invocations, so that its size does not matter.
func (g *gen) subgroup() {
	if !g.Subgroups || !g.uniform {
		return
	}
	scope := g.word(3)
	var uni []value
	for _, v := range g.scope {
		if v.uni && v.t.width == 32 && v.t.isInt() || v.uni && v.t == boolean.of(1) {
			uni = append(uni, v)
		}
	}
	if len(uni) == 0 {
		return
	}
	x := uni[g.rng.IntN(len(uni))]
	if x.t.class == 'b' {
		g.caps[61], g.caps[62] = true, true
		g.from(g.emit(334+uint32(g.rng.IntN(2)), x.t, scope, x.id), x)
		return
	}
	switch g.rng.IntN(4) {
	case 0: // AllEqual
		g.caps[61], g.caps[62] = true, true
		g.from(g.emit(336, boolean.of(1), scope, x.id), x)
	case 1: // BroadcastFirst
		g.caps[61], g.caps[64] = true, true
		g.from(g.emit(338, x.t, scope, x.id), x)
	case 2: // SMin UMin SMax UMax And Or
		g.caps[61], g.caps[63] = true, true
		op := []uint32{353, 354, 356, 357, 359, 360}[g.rng.IntN(6)]
		if !g.Mixed && (op == 353 || op == 356) && x.t.class == 'u' || !g.Mixed && (op == 354 || op == 357) && x.t.class == 'i' {
			op = 359
		}
		g.from(g.emit(op, x.t, scope, 0, x.id), x)
	case 3: // ShuffleXor
		g.caps[61], g.caps[65] = true, true
		g.from(g.emit(346, x.t, scope, x.id, g.word(0)), x)
	}
}

// storeOut writes v to element slot of the invocation's part of a buffer.
func (g *gen) storeOut(buffer uint32, k kind, each, slot int, v value) {
	at := g.emit(132, u32.of(1), g.index.id, g.word(uint32(each)))
	at = g.emit(opIAdd, u32.of(1), at.id, g.word(uint32(slot)))
	p := g.raw(opAccessChain, g.pointer(classStorage, g.typ(k.of(1))), buffer, g.word(0), at.id)
	put(&g.body, opStore, p, v.id)
}

// results writes values that are left in scope, the last ones first.
func (g *gen) results() {
	words, floats := 0, 0
	list := append([]value(nil), g.scope...)
	for _, v := range g.vars { // what the variables hold at the end
		x := g.emit(opLoad, v.t, g.element(v))
		x.m, x.s = v.m, v.s
		list = append(list, x)
	}
	for n := len(list) - 1; n >= 0; n-- {
		v := list[n]
		if v.t.n > 1 {
			w := g.emit(opExtract, v.t.kind.of(1), v.id, g.rng.Uint32N(v.t.n))
			w.m, w.s = v.m, v.s
			v = w
		}
		if v.t.class == 'f' {
			if v.t.width != 32 {
				if !exact(f32, v.m, v.s) {
					continue
				}
				v = g.emit(115, f32.of(1), v.id)
			}
			if floats < floatsEach {
				g.storeOut(g.outF, f32, floatsEach, floats, v)
				floats++
			}
			continue
		}
		if words == outEach {
			continue
		}
		switch {
		case v.t.class == 'b':
			v = g.emit(opSelect, u32.of(1), v.id, g.word(1), g.word(0))
		case v.t.width == 64:
			v = g.resign(v, v.t.kind.unsigned())
			high := g.emit(194, v.t, v.id, g.bits(v.t.kind, 32))
			v = g.emit(198, v.t, v.id, high.id)
			v = g.emit(113, u32.of(1), v.id)
		case v.t.width < 32:
			v = g.resign(v, v.t.kind.unsigned())
			v = g.emit(113, u32.of(1), v.id)
		default:
			v = g.resign(v, u32)
		}
		g.storeOut(g.out, u32, outEach, words, v)
		words++
	}
}
