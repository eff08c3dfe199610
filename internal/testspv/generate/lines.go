package generate

// position is a number k·i + t modulo 2^32, where i is the number of the invocation
// among all, and t is from low to high. If k is 0, it is any number from low to high.
type position struct {
	value
	k, low, high int64
}

// bounds are the least and the largest number of all invocations, not reduced.
func (g *gen) bounds(p position) (low, high int64) {
	last := p.k * int64(g.invocations()-1)
	return p.low + min(0, last), p.high + max(0, last)
}

// calc emits an operation on numbers of 32 bits, of either signedness.
func (g *gen) calc(op uint32, x, y value) value {
	t := u32.of(1)
	if g.oneIn(4) {
		t = i32.of(1)
	}
	x, y = g.resign(x, t.kind), g.resign(y, t.kind)
	v := g.emit(op, t, x.id, y.id)
	v.uni = x.uni && y.uni && g.uniform
	return g.resign(v, u32)
}

// shift adds a constant to a position, modulo 2^32.
func (g *gen) shift(p position, by int64) position {
	c := value{id: g.word(uint32(by)), t: u32.of(1), uni: true}
	switch g.rng.IntN(3) {
	case 0:
		c.id = g.word(uint32(-by))
		p.value = g.calc(130, p.value, c)
	case 1:
		p.value = g.calc(opIAdd, c, p.value)
	default:
		p.value = g.calc(opIAdd, p.value, c)
	}
	p.low, p.high = p.low+by, p.high+by
	return p
}

// times multiplies a position.
func (g *gen) times(p position, by int64) position {
	c := value{id: g.word(uint32(by)), t: u32.of(1), uni: true}
	switch {
	case by > 0 && by&(by-1) == 0 && g.oneIn(2):
		n := uint32(0)
		for by>>n > 1 {
			n++
		}
		p.value = g.calc(196, p.value, value{id: g.word(n), t: u32.of(1), uni: true})
	case by == -1 && g.oneIn(2):
		x := g.resign(p.value, i32)
		v := g.emit(126, i32.of(1), x.id)
		v.uni = x.uni && g.uniform
		p.value = g.resign(v, u32)
	default:
		p.value = g.calc(132, p.value, c)
	}
	p.k, p.low, p.high = p.k*by, p.low*by, p.high*by
	if by < 0 {
		p.low, p.high = p.high, p.low
	}
	return p
}

// plus adds two positions.
func (g *gen) plus(p, q position) position {
	return position{g.calc(opIAdd, p.value, q.value), p.k + q.k, p.low + q.low, p.high + q.high}
}

// small is a number from 0 to 7: a constant, a counter of a loop, one from outside, or any.
func (g *gen) small() position {
	of := func(v value, low, high int64) position { return position{v, 0, low, high} }
	switch n := g.rng.IntN(8); {
	case n < 3 && len(g.counters) > 0:
		c := g.counters[g.rng.IntN(len(g.counters))]
		if c.high < eachOwn {
			return c
		}
		return of(g.mask(c.value, eachOwn-1), 0, eachOwn-1)
	case n < 5:
		c := int64(g.rng.IntN(eachOwn))
		return of(value{id: g.word(uint32(c)), t: u32.of(1), uni: true}, c, c)
	case n == 5:
		return of(g.pushed(4), int64(g.words[4]), int64(g.words[4]))
	case n == 6:
		v := g.emit(137, u32.of(1), g.pick(u32.of(1)).id, g.word(eachOwn))
		return of(v, 0, eachOwn-1)
	}
	return of(g.mask(g.pick(u32.of(1)), eachOwn-1), 0, eachOwn-1)
}

// start is the number of the invocation, or a number that all of them have.
func (g *gen) start() position {
	if !g.inMain || g.oneIn(6) {
		return g.small()
	}
	return position{value: g.index, k: 1}
}

// position makes one at random. Its numbers may be huge.
func (g *gen) position() position {
	p := g.start()
	for range g.rng.IntN(4) {
		switch g.rng.IntN(9) {
		case 0, 1:
			p = g.shift(p, int64(g.rng.IntN(60))-20)
		case 2:
			p = g.shift(p, g.far())
		case 3:
			p = g.times(p, []int64{1, 2, 3, 4, 8, 12, 16, -1, -2, 1 << 10, 1 << 27}[g.rng.IntN(11)])
		case 4:
			p = g.plus(p, g.small())
		case 5:
			q := g.times(g.small(), []int64{1, 2, 4, 16, int64(g.invocations())}[g.rng.IntN(5)])
			p = g.plus(p, q)
		case 6:
			p = g.plus(p, g.start())
		case 7:
			i := g.rng.IntN(len(g.words))
			c := int64(int32(g.words[i]))
			p = g.plus(p, position{g.pushed(i), 0, c, c})
		case 8:
			p = g.limited(p)
		}
		// The numbers stay small enough for sums of them. k counts modulo 2^32.
		p.k = int64(int32(p.k))
		if p.high-p.low >= 1<<32 {
			p.k, p.low, p.high = 0, 0, 1<<32-1
		}
		whole := p.low >> 32 << 32
		p.low, p.high = p.low-whole, p.high-whole
	}
	return p
}

// neighbour is the number of the invocation, or one close to it, or several times it.
func (g *gen) neighbour() position {
	p := position{value: g.index, k: 1}
	if g.oneIn(2) {
		p = g.times(p, 1+int64(g.rng.IntN(4)))
	}
	if g.oneIn(2) {
		p = g.shift(p, int64(g.rng.IntN(9))-2)
	}
	return p
}

// far is a distance that is too large for any buffer.
func (g *gen) far() int64 {
	return []int64{1 << 31, -1 << 31, 1<<32 - 1, 1 << 27, -1 << 27, 1 << 28, 1 << 30, 3 << 28, int64(g.rng.Uint32())}[g.rng.IntN(9)]
}

// limited is a position that an instruction keeps below a limit, or above one.
func (g *gen) limited(p position) position {
	if g.tame && g.inMain && g.oneIn(2) {
		p = g.neighbour()
	}
	limit := int64(g.rng.IntN(int(2 * g.invocations())))
	if g.tame && !g.oneIn(6) {
		limit = int64(g.words[0]) + int64(g.rng.IntN(9)) - 4
	}
	limit = max(limit, 0)
	c := value{id: g.word(uint32(limit)), t: u32.of(1), uni: true}
	if i := g.rng.IntN(len(g.words)) &^ 3; g.oneIn(2) && int32(g.words[i]) >= 0 {
		limit, c = int64(g.words[i]), g.pushed(i)
	}
	low := int64(g.rng.IntN(4))
	if low > limit {
		low = 0
	}
	is := func(v value, low, high int64) position {
		v.uni = p.uni && g.uniform
		return position{v, 0, low, high}
	}
	zero := g.word(uint32(low))
	x := p.value
	switch g.rng.IntN(7) {
	case 0:
		return is(g.glslOp(38, u32.of(1), x.id, c.id), 0, limit)
	case 1:
		return is(g.glslOp(44, u32.of(1), x.id, zero, c.id), low, limit)
	case 2: // clamp(int(x), low, c)
		s, top := g.resign(x, i32), g.resign(c, i32)
		v := g.glslOp(45, i32.of(1), s.id, g.bits(i32, uint64(low)), top.id)
		return is(g.resign(v, u32), low, limit)
	case 3: // min(max(int(x), low), c)
		s, top := g.resign(x, i32), g.resign(c, i32)
		v := g.glslOp(42, i32.of(1), s.id, g.bits(i32, uint64(low)))
		v = g.glslOp(39, i32.of(1), v.id, top.id)
		return is(g.resign(v, u32), low, limit)
	case 4:
		return is(g.emit(137, u32.of(1), x.id, g.word(uint32(limit|1))), 0, limit|1-1)
	case 5:
		// abs(int(x)) below a limit
		v := g.glslOp(5, i32.of(1), g.resign(x, i32).id)
		v = g.resign(v, u32)
		return is(g.glslOp(38, u32.of(1), v.id, c.id), 0, limit)
	}
	n := g.rng.Uint32N(6)
	v := g.emit(194, u32.of(1), x.id, g.word(26+n))
	return is(v, 0, 1<<(6-n)-1)
}

// into makes a position that is in range of n elements in all invocations.
func (g *gen) into(p position, n int64) value {
	low, high := g.bounds(p)
	if high-low < n {
		return g.shift(p, g.rng.Int64N(n-(high-low))-low).value
	}
	c := value{id: g.word(uint32(n - 1)), t: u32.of(1), uni: true}
	switch g.rng.IntN(3) {
	case 0:
		v := g.emit(137, u32.of(1), p.id, g.word(uint32(n)))
		v.uni = p.uni && g.uniform
		return v
	case 1: // min(x, n - 1)
		v := g.glslOp(38, u32.of(1), p.id, c.id)
		v.uni = p.uni && g.uniform
		return v
	}
	v := g.glslOp(45, i32.of(1), g.resign(p.value, i32).id, g.bits(i32, 0), g.resign(c, i32).id)
	v.uni = p.uni && g.uniform
	return g.resign(v, u32)
}

// mine is a position of an element that the invocation has for itself.
func (g *gen) mine(t *table) value {
	n := int64(g.invocations())
	p := position{value: g.index, k: 1}
	q := g.small()
	if t.use == own {
		p = g.times(p, eachOwn)
	} else {
		if rows := t.len / n; rows < eachOwn {
			q = position{g.into(q, rows), 0, 0, rows - 1}
		}
		q = g.times(q, n)
	}
	switch g.rng.IntN(6) {
	case 0, 1: // a huge sum between
		by := g.far()
		return g.shift(g.plus(g.shift(p, by), q), -by).value
	case 2:
		by := int64(g.rng.IntN(100))
		return g.shift(g.plus(g.shift(p, -by), q), by).value
	case 3:
		return g.plus(q, p).value
	}
	return g.plus(p, q).value
}

// loaded puts a value that was loaded in scope.
func (g *gen) loaded(v value, uniform bool) {
	v.uni = uniform && g.uniform
	g.add(v)
}

// fetch loads from a table at a position.
func (g *gen) fetch() {
	if g.inMain && g.oneIn(3) {
		t := g.tableOf([]use{own, striped}[g.rng.IntN(2)])
		p, e := g.at(t, g.mine(t).id)
		g.loaded(g.emit(opLoad, e, p), false)
		return
	}
	t := g.tableOf(read)
	at := g.into(g.position(), t.len)
	p, e := g.at(t, at.id)
	g.loaded(g.emit(opLoad, e, p), at.uni)
}

// keep stores to an element of the invocation, and may add to what is there.
func (g *gen) keep() {
	if !g.inMain {
		g.fetch()
		return
	}
	t := g.tableOf([]use{own, striped}[g.rng.IntN(2)])
	p, e := g.at(t, g.mine(t).id)
	x := g.pick(e)
	if g.oneIn(3) {
		old := g.emit(opLoad, e, p)
		x = g.emit([]uint32{opIAdd, 198, 130}[g.rng.IntN(3)], e, old.id, x.id)
		g.add(x)
	}
	put(&g.body, opStore, p, x.id)
}

// edge compares a position with what may be the end of something.
func (g *gen) edge() {
	g.add(g.compared(g.position()))
}

func (g *gen) compared(p position) value {
	x := p.value
	var y value
	n := g.rng.IntN(4)
	if g.tame && g.inMain && !g.oneIn(8) {
		p = g.neighbour()
		x, n = p.value, g.rng.IntN(2)*3
	}
	switch n {
	case 0:
		y = g.length(&g.tab[g.rng.IntN(len(g.tab))])
	case 1:
		y = value{id: g.word(uint32(g.rng.IntN(40))), t: u32.of(1), uni: true}
	case 2:
		y = g.pick(u32.of(1))
	default:
		i := g.rng.IntN(len(g.words))
		if g.tame {
			i = []int{0, 0, 3, 7}[g.rng.IntN(4)]
		}
		y = g.pushed(i)
	}
	if g.oneIn(3) {
		x, y = y, x
	}
	op := 170 + uint32(g.rng.IntN(10))
	if op >= 172 && (op-172)%2 == 1 {
		x, y = g.resign(x, i32), g.resign(y, i32)
	}
	c := g.emit(op, boolean.of(1), x.id, y.id)
	c.uni = x.uni && y.uni && g.uniform
	return c
}

// inside reports whether a position is in range of a table, so that a load there may stand
// behind it. no says that it reports the opposite.
func (g *gen) inside(p value, t *table) (c value, no bool) {
	n := g.length(t)
	b := boolean.of(1)
	switch g.rng.IntN(6) {
	case 0: // n > p
		c = g.emit(172, b, n.id, p.id)
	case 1: // p ≥ n
		c, no = g.emit(174, b, p.id, n.id), true
	case 2: // int(p) ≥ 0 && int(p) < int(n)
		s, m := g.resign(p, i32), g.resign(n, i32)
		low := g.emit(175, b, s.id, g.bits(i32, 0))
		high := g.emit(177, b, s.id, m.id)
		c = g.emit(167, b, low.id, high.id)
	case 3: // int(p) < 0 || int(p) ≥ int(n)
		s, m := g.resign(p, i32), g.resign(n, i32)
		low := g.emit(177, b, s.id, g.bits(i32, 0))
		high := g.emit(175, b, s.id, m.id)
		c, no = g.emit(166, b, low.id, high.id), true
	default: // p < n
		c = g.emit(176, b, p.id, n.id)
	}
	c.uni = p.uni && n.uni && g.uniform
	return c, no
}

// tested loads where a position is in range, which it need not be, or stores.
func (g *gen) tested() {
	t := g.tableOf([]use{read, read, magic}[g.rng.IntN(3)])
	p := g.position()
	if g.tame && g.inMain && !g.oneIn(8) {
		p = g.neighbour()
	} else if g.oneIn(2) {
		p = g.shift(p, int64(g.rng.IntN(16))-8)
	}
	c, no := g.inside(p.value, t)
	if t.use != magic && g.oneIn(4) { // x[in range ? p : 0]
		a, b := p.value, value{id: g.word(0), t: u32.of(1), uni: true}
		if no {
			a, b = b, a
		}
		if t.len > 0 {
			at := g.emit(opSelect, u32.of(1), c.id, a.id, b.id)
			ptr, e := g.at(t, at.id)
			g.loaded(g.emit(opLoad, e, ptr), false)
		}
		return
	}
	then, other, merge := g.id(), g.id(), g.id()
	put(&g.body, opSelectionMerge, merge, uint32(g.rng.IntN(3)))
	yes, not := then, other
	if no {
		yes, not = not, yes
	}
	put(&g.body, opBranchIf, c.id, yes, not)
	was := g.uniform
	g.uniform = was && c.uni
	g.label(then)
	var v value
	var e typ
	g.scoped(func() {
		var ptr uint32
		ptr, e = g.at(t, p.id)
		if t.use == magic {
			put(&g.body, opStore, ptr, g.word(g.magic))
		} else {
			v = g.emit(opLoad, e, ptr)
			g.add(v)
			if g.oneIn(2) {
				g.statement()
			}
		}
	})
	from := g.block
	put(&g.body, opBranch, merge)
	g.label(other)
	var els value
	g.scoped(func() {
		if g.oneIn(3) {
			g.statement()
		}
		if t.use != magic {
			els = g.pick(e)
		}
	})
	end := g.block
	put(&g.body, opBranch, merge)
	g.restore(was)
	g.label(merge)
	if t.use != magic {
		v.uni, els.uni = false, false
		g.join([]typ{e}, []edge{{[]value{v}, from}, {[]value{els}, end}}, c, value{})
	}
}

// wild loads or stores at any position. What it loads is kept apart, since nobody says what
// it is.
func (g *gen) wild() {
	if !g.inMain {
		g.fetch()
		return
	}
	p := g.position()
	if g.oneIn(3) {
		p = g.shift(p, g.far())
	}
	if g.oneIn(2) {
		t := g.tableOf(anywhere)
		ptr, _ := g.at(t, p.id)
		put(&g.body, opStore, ptr, g.word(g.magic))
		return
	}
	t := &g.tab[0]
	ptr, _ := g.at(t, p.id)
	x := g.emit(opLoad, u32.of(1), ptr)
	n := int64(g.invocations())
	to := g.plus(position{value: g.index, k: 1}, g.times(g.small(), n))
	put(&g.body, opStore, g.raw(opAccessChain, g.pointer(classStorage, g.typ(u32.of(1))), g.open, g.word(0), to.id), x.id)
}
