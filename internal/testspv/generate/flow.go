package generate

// statement emits one thing of any kind.
func (g *gen) statement() {
	if g.Affine {
		g.lineStatement()
		return
	}
	g.anyStatement()
}

// anyStatement emits one of those that modules without Options.Affine have.
func (g *gen) anyStatement() {
	g.left--
	switch n := g.rng.IntN(40); {
	case n < 14:
		g.integer()
	case n < 19:
		g.real()
	case n < 22:
		g.logic()
	case n < 25:
		g.vector()
	case n < 29:
		g.access()
	case n < 31:
		g.outside()
	case n == 31:
		g.matrix()
	case n == 32:
		g.structure()
	case n == 33:
		g.atomic()
		g.subgroup()
	case n == 34:
		g.exchange()
		g.inexact()
	case n == 35:
		g.call()
	case g.depth >= 3:
		g.integer()
	case n == 36 || n == 37:
		g.branch()
	case n == 38:
		g.loop()
	case n == 39:
		g.choice()
	}
}

// some emits a few statements.
func (g *gen) some() {
	for range 1 + g.rng.IntN(5) {
		g.statement()
	}
}

func (g *gen) label(id uint32) {
	put(&g.body, opLabel, id)
	g.block = id
}

// branch is a selection, with values of both sides joined after it.
func (g *gen) branch() {
	c := g.pick(boolean.of(1))
	yes, no, merge := g.id(), g.id(), g.id()
	types := []typ{g.anyType(), g.anyType()}
	both := g.oneIn(2)
	target := no
	if !both {
		target = merge
	}
	was := g.uniform
	outside := make([]value, len(types))
	for i, t := range types {
		outside[i] = g.pick(t)
	}
	from := g.block
	put(&g.body, opSelectionMerge, merge, uint32(g.rng.IntN(3)))
	put(&g.body, opBranchIf, c.id, yes, target)
	g.uniform = was && c.uni
	side := func(label uint32) (vals []value, end uint32) {
		g.label(label)
		g.scoped(func() {
			g.some()
			for _, t := range types {
				vals = append(vals, g.pick(t))
			}
		})
		end = g.block
		put(&g.body, opBranch, merge)
		return vals, end
	}
	a, endA := side(yes)
	b, endB := outside, from
	if both {
		b, endB = side(no)
	}
	g.restore(was)
	g.label(merge)
	g.join(types, []edge{{a, endA}, {b, endB}}, c)
}

// edge is a way into a block, with the values that come along it.
type edge struct {
	vals []value
	from uint32
}

// join writes the phis of a block.
func (g *gen) join(types []typ, edges []edge, by ...value) {
	var made []value
	for i, t := range types {
		var words []uint32
		v := value{t: t}
		of := append([]value(nil), by...)
		for _, e := range edges {
			x := e.vals[i]
			words = append(words, x.id, e.from)
			v.m, v.s = max(v.m, x.m), max(v.s, x.s)
			of = append(of, x)
		}
		id := g.emit(opPhi, t, words...).id
		v.id, v.uni = id, g.uniform
		for _, o := range of {
			v.uni = v.uni && o.uni
		}
		if t.class == 'f' && !exact(t.kind, v.m, v.s) {
			continue
		}
		made = append(made, v)
	}
	for _, v := range made {
		g.add(v)
	}
}

// loop runs a constant number of times, with a break or a continue in between
// for some invocations.
func (g *gen) loop() {
	n := uint32(1 + g.rng.IntN(6))
	if g.loops*int(n) > 40 {
		return
	}
	g.loops *= int(n)
	k := []kind{i32, u32}[g.rng.IntN(2)]
	acc := g.anyInt().of(g.lanes())
	begin := g.pick(acc)
	pre := g.block
	header, test, body, next, merge := g.id(), g.id(), g.id(), g.id(), g.id()
	i, a, iNext, aNext := g.id(), g.id(), g.id(), g.id()
	put(&g.body, opBranch, header)
	g.label(header)
	put(&g.body, opPhi, g.typ(k.of(1)), i, g.bits(k, 0), pre, iNext, next)
	put(&g.body, opPhi, g.typ(acc), a, begin.id, pre, aNext, next)
	put(&g.body, opLoopMerge, merge, next, uint32([]int{0, 0, 1, 2}[g.rng.IntN(4)]))
	put(&g.body, opBranch, test)
	g.label(test)
	less := uint32(176) // ULessThan
	if k == i32 {
		less = 177
	}
	c := g.emit(less, boolean.of(1), i, g.bits(k, uint64(n)))
	put(&g.body, opBranchIf, c.id, body, merge)
	g.label(body)
	was := g.uniform
	exits := []edge{{[]value{{id: a, t: acc}}, test}}
	var nexts []edge
	breaks := g.oneIn(2)
	g.uniform = was && !breaks
	g.arounds = append(g.arounds, nil)
	g.scoped(func() {
		g.add(value{id: i, t: k.of(1), uni: g.uniform})
		g.add(value{id: a, t: acc})
		g.some()
		if breaks {
			cond, v := g.pick(boolean.of(1)), g.pick(acc)
			after := g.id()
			put(&g.body, opSelectionMerge, after, 0)
			if g.oneIn(2) {
				put(&g.body, opBranchIf, cond.id, merge, after)
				exits = append(exits, edge{[]value{v}, g.block})
			} else {
				put(&g.body, opBranchIf, cond.id, next, after)
				nexts = append(nexts, edge{[]value{v}, g.block})
			}
			g.label(after)
			g.some()
		}
		nexts = append(nexts, edge{[]value{g.pick(acc)}, g.block})
	})
	g.arounds = g.arounds[:len(g.arounds)-1]
	put(&g.body, opBranch, next)
	g.label(next)
	var words []uint32
	for _, e := range nexts {
		words = append(words, e.vals[0].id, e.from)
	}
	put(&g.body, opPhi, append([]uint32{g.typ(acc), aNext}, words...)...)
	put(&g.body, opIAdd, g.typ(k.of(1)), iNext, i, g.bits(k, 1))
	put(&g.body, opBranch, header)
	g.restore(was)
	g.label(merge)
	g.join([]typ{acc}, exits, value{}) // not uniform
	g.loops /= int(n)
}

// choice is a switch, some of whose cases go on into the next one.
func (g *gen) choice() {
	k := []kind{i32, u32}[g.rng.IntN(2)]
	x := g.mask(g.pick(k.of(1)), 7)
	n := 1 + g.rng.IntN(4)
	merge, other := g.id(), g.id()
	if g.oneIn(3) {
		other = merge
	}
	labels := make([]uint32, n)
	words := []uint32{x.id, other}
	first := g.rng.Uint32N(4)
	for i := range labels {
		labels[i] = g.id()
		words = append(words, first+uint32(i), labels[i])
	}
	was := g.uniform
	put(&g.body, opSelectionMerge, merge, 0)
	put(&g.body, opSwitch, words...)
	g.uniform = false
	g.arounds = append(g.arounds, nil)
	for i, l := range labels {
		g.label(l)
		g.scoped(g.some)
		to := merge
		if i+1 < n && g.oneIn(4) {
			to = labels[i+1]
		}
		put(&g.body, opBranch, to)
	}
	if other != merge {
		g.label(other)
		g.scoped(g.some)
		put(&g.body, opBranch, merge)
	}
	g.arounds = g.arounds[:len(g.arounds)-1]
	g.restore(was)
	g.label(merge)
}

// earlyReturn leaves the helper for some invocations.
func (g *gen) earlyReturn(h *helper) {
	c, v := g.pick(boolean.of(1)), g.within(g.pick(h.result), 6, 4)
	leave, merge := g.id(), g.id()
	put(&g.body, opSelectionMerge, merge, 0)
	put(&g.body, opBranchIf, c.id, leave, merge)
	put(&g.body, opLabel, leave)
	put(&g.body, opReturnValue, v.id)
	g.label(merge)
}

// call calls one of the functions written before.
func (g *gen) call() {
	if len(g.helpers) == 0 {
		return
	}
	h := g.helpers[g.rng.IntN(len(g.helpers))]
	words := []uint32{h.id}
	for _, p := range h.params {
		words = append(words, g.within(g.pick(p.t), p.m, p.s).id)
	}
	v := g.emit(opCall, h.result, words...)
	v.m, v.s = h.m, h.s
	g.from(v, value{})
}
