package generate

// around is a loop that is being written, or a switch.
type around struct {
	merge, next  uint32 // next is 0 for a switch
	types        []typ  // of the values that go on
	phis         []value
	exits, nexts []edge
	// untested says that the next round may not begin yet: the loop would not end.
	untested bool
}

// several are values of types.
func (g *gen) several(types []typ) []value {
	vals := make([]value, len(types))
	for i, t := range types {
		vals[i] = g.pick(t)
		vals[i].uni = false
	}
	return vals
}

// restore says whether all invocations are here again, after a construct.
func (g *gen) restore(was bool) { g.uniform = was && !g.gone }

// leave goes out of the innermost loop or switch, on to its next round, or out of the function,
// in some invocations.
func (g *gen) leave() {
	c := g.compared(g.position())
	if g.oneIn(2) {
		c = g.pick(boolean.of(1))
	}
	var a *around
	if len(g.arounds) > 0 {
		a = g.arounds[len(g.arounds)-1]
		if a != nil && a.next == 0 && len(g.arounds) > 1 && g.oneIn(2) {
			if b := g.arounds[len(g.arounds)-2]; b != nil && b.next != 0 {
				a = b // out of the loop around the switch
			}
		}
	}
	after := g.id()
	if a == nil || g.oneIn(8) {
		if !g.inMain || g.barriers {
			return
		}
		end := g.id()
		put(&g.body, opSelectionMerge, after, 0)
		put(&g.body, opBranchIf, c.id, end, after)
		g.label(end)
		put(&g.body, opReturn)
		g.gone, g.uniform = true, false
		g.label(after)
		return
	}
	vals := g.several(a.types)
	to := a.merge
	if a.next != 0 && !a.untested && g.oneIn(2) {
		to = a.next
		a.nexts = append(a.nexts, edge{vals, g.block})
	} else {
		a.exits = append(a.exits, edge{vals, g.block})
	}
	if a.next == 0 || g.oneIn(2) { // A way out of a loop needs no merge.
		put(&g.body, opSelectionMerge, after, uint32(g.rng.IntN(3)))
	}
	if g.oneIn(3) {
		put(&g.body, opBranchIf, c.id, after, to)
	} else {
		put(&g.body, opBranchIf, c.id, to, after)
	}
	g.uniform = false
	g.label(after)
}

// phisOf writes phis for values that come along edges. It returns their ids.
func (g *gen) phisOf(types []typ, ids []uint32, edges []edge) {
	for i, t := range types {
		var words []uint32
		for _, e := range edges {
			words = append(words, e.vals[i].id, e.from)
		}
		put(&g.body, opPhi, append([]uint32{g.typ(t), ids[i]}, words...)...)
	}
}

// counted is what a loop counts: from a number, in steps, as long as a comparison holds.
type counted struct {
	k                kind
	begin, end, step value
	down             bool
	high, rounds     int64
}

func (g *gen) count() counted {
	c := counted{k: []kind{i32, u32}[g.rng.IntN(2)], step: value{id: 0}}
	of := func(n uint32) (value, int64) { // a number up to n, with the largest that it may be
		v := g.rng.Uint32N(n + 1)
		switch g.rng.IntN(6) {
		case 0:
			return g.mask(g.pick(u32.of(1)), uint64(n)), int64(n)
		case 1:
			return g.mask(g.pushed(g.rng.IntN(len(g.words))), uint64(n)), int64(n)
		case 2:
			if g.words[4] <= n {
				return g.pushed(4), int64(g.words[4])
			}
		}
		return value{id: g.word(v), t: u32.of(1), uni: true}, int64(v)
	}
	begin, most := of(3)
	end, top := of(7)
	step := int64(1 + max(0, g.rng.IntN(5)-2))
	c.begin, c.end = g.resign(begin, c.k), g.resign(end, c.k)
	c.step = value{id: g.bits(c.k, uint64(step)), t: c.k.of(1), uni: true}
	c.high, c.rounds = max(most, top+step-1), top+1
	if c.down = g.oneIn(5); c.down {
		c.step.id = g.bits(c.k, 1)
		c.begin, c.end = c.end, c.begin
		c.high, c.rounds = top, top+1
		c.k, c.begin, c.end, c.step.id = i32, g.resign(c.begin, i32), g.resign(c.end, i32), g.bits(i32, 1)
	}
	return c
}

// goesOn reports whether a counted loop goes on with its counter.
func (g *gen) goesOn(c *counted, counter uint32) value {
	x, y := value{id: counter, t: c.k.of(1)}, c.end
	op := uint32(176) // ULessThan
	if c.k == i32 {
		op = 177
	}
	if c.down {
		op = 173 // SGreaterThan
	}
	v := g.emit(op, boolean.of(1), x.id, y.id)
	if g.oneIn(4) {
		v = g.emit(167, boolean.of(1), v.id, g.pick(boolean.of(1)).id)
	}
	return v
}

// The forms of loops.
const (
	testInHead    = iota // the head tests, and may do something before
	testBehind           // the block behind the head tests
	testLast             // the block that goes back tests
	oneBlock             // the head is all there is, and tests last
	testInMiddle         // a block in the middle tests
	variableCount        // as testBehind, and the counter is a variable
	formsOfLoops
)

// rounds loops over a few statements, in any form that a loop may have.
func (g *gen) rounds() {
	form := g.rng.IntN(formsOfLoops)
	if !g.Bottom && (form == testLast || form == oneBlock) {
		form = testBehind
	}
	c := g.count()
	if int64(g.loops)*c.rounds > 40 {
		return
	}
	g.loops *= int(c.rounds)
	defer func() { g.loops /= int(c.rounds) }()
	a := &around{}
	for range 1 + g.rng.IntN(3) {
		a.types = append(a.types, []typ{u32.of(1), g.anyInt().of(g.lanes()), boolean.of(1)}[g.rng.IntN(3)])
	}
	begins := g.several(a.types)
	counter := variable{id: 0, class: classFunction, t: c.k.of(1)}
	if form == variableCount {
		counter.id = g.id()
		put(&g.locals, opVariable, g.pointer(classFunction, g.typ(counter.t)), counter.id, classFunction)
		put(&g.body, opStore, counter.id, c.begin.id)
	}
	pre, was := g.block, g.uniform
	head, test, body := g.id(), g.id(), g.id()
	a.merge, a.next = g.id(), g.id()
	if form == oneBlock {
		a.next = head
	}
	put(&g.body, opBranch, head)
	g.label(head)
	g.uniform = false
	scope, vars := len(g.scope), len(g.vars)
	counters := len(g.counters)
	g.depth++
	g.arounds = append(g.arounds, a)
	// The phis are written when the values of all edges are known.
	at := len(g.body)
	i := g.id()
	for _, t := range a.types {
		v := value{id: g.id(), t: t}
		a.phis = append(a.phis, v)
		g.add(v)
	}
	see := func() {
		if form == variableCount {
			i = g.emit(opLoad, counter.t, counter.id).id
		}
		v := g.resign(value{id: i, t: c.k.of(1)}, u32)
		g.add(v)
		g.counters = append(g.counters, position{v, 0, 0, c.high})
	}
	if form != variableCount {
		see()
	}
	if g.oneIn(2) || form == oneBlock {
		g.straight(1 + g.rng.IntN(4))
	}
	heads := len(g.scope)
	var step value
	advance := func() { // to the next number
		x := value{id: i, t: c.k.of(1)}
		if form == variableCount {
			x = g.emit(opLoad, counter.t, counter.id)
		}
		op := uint32(opIAdd)
		if c.down {
			op = 130
		}
		step = g.emit(op, c.k.of(1), x.id, c.step.id)
		if form == variableCount {
			put(&g.body, opStore, counter.id, step.id)
		}
	}
	var last value // whether the loop goes on, where it is tested last
	if form == oneBlock {
		advance()
		last = g.goesOn(&c, step.id)
		a.nexts = append(a.nexts, edge{g.several(a.types), g.block})
		heads = len(g.scope)
	}
	var tested value
	if form == testInHead {
		tested = g.goesOn(&c, i)
	}
	control := uint32([]int{0, 0, 1, 2}[g.rng.IntN(4)])
	put(&g.body, opLoopMerge, a.merge, a.next, control)
	current := func() []value { return append([]value(nil), a.phis...) }
	leaves := func(c value, to uint32) {
		a.exits = append(a.exits, edge{current(), g.block})
		put(&g.body, opBranchIf, c.id, to, a.merge)
	}
	switch form {
	case testInHead:
		leaves(tested, body)
	case testBehind, variableCount:
		put(&g.body, opBranch, test)
		g.label(test)
		if form == variableCount {
			see()
		}
		if g.oneIn(4) {
			g.straight(2)
		}
		leaves(g.goesOn(&c, i), body)
	case oneBlock:
		a.exits = append(a.exits, edge{a.nexts[0].vals, g.block})
		put(&g.body, opBranchIf, last.id, head, a.merge)
	default:
		put(&g.body, opBranch, body)
	}
	ends := 0 // values in scope behind the loop
	if form != oneBlock {
		g.label(body)
		g.scoped(func() {
			a.untested = form == testInMiddle
			g.some()
			if form == testInMiddle {
				a.untested = false
				rest := g.id()
				leaves(g.goesOn(&c, i), rest)
				g.label(rest)
				g.some()
			}
			a.nexts = append(a.nexts, edge{g.several(a.types), g.block})
		})
		put(&g.body, opBranch, a.next)
		g.label(a.next)
		ids := make([]uint32, len(a.types))
		for k, t := range a.types {
			ids[k] = g.id()
			g.add(value{id: ids[k], t: t})
		}
		g.phisOf(a.types, ids, a.nexts)
		inNext := make([]value, len(ids))
		for k, id := range ids {
			inNext[k] = value{id: id, t: a.types[k]}
		}
		if g.oneIn(3) {
			g.straight(1 + g.rng.IntN(2))
		}
		advance()
		a.nexts = []edge{{inNext, a.next}}
		if form == testLast {
			more := g.goesOn(&c, step.id)
			if len(a.exits) == 0 {
				ends = len(g.scope)
			}
			a.exits = append(a.exits, edge{g.several(a.types), a.next})
			put(&g.body, opBranchIf, more.id, head, a.merge)
		} else {
			put(&g.body, opBranch, head)
		}
	}
	// The phis of the head.
	rest := append([]uint32(nil), g.body[at:]...)
	g.body = g.body[:at]
	if form != variableCount {
		put(&g.body, opPhi, g.typ(c.k.of(1)), i, c.begin.id, pre, step.id, a.nexts[0].from)
	}
	ids := make([]uint32, len(a.phis))
	for k, v := range a.phis {
		ids[k] = v.id
	}
	g.phisOf(a.types, ids, []edge{{begins, pre}, a.nexts[0]})
	g.body = append(g.body, rest...)

	g.arounds = g.arounds[:len(g.arounds)-1]
	g.counters = g.counters[:counters]
	g.depth--
	// Values of the head are known behind the loop, and so are those of the last block where it
	// is the only one that leaves.
	g.scope, g.vars = g.scope[:max(heads, ends, scope)], g.vars[:vars]
	for k := scope; k < len(g.scope); k++ {
		g.scope[k].uni = false
	}
	g.restore(was)
	g.label(a.merge)
	g.join(a.types, a.exits, value{})
}

// straight emits a few statements without branches.
func (g *gen) straight(n int) {
	for range n {
		switch g.rng.IntN(5) {
		case 0:
			g.integer()
		case 1:
			g.keep()
		case 2:
			g.edge()
		case 3:
			g.fetch()
		case 4:
			g.access()
		}
	}
}

// cases is a switch with loads, stores and ways out of it.
func (g *gen) cases() {
	k := []kind{i32, u32}[g.rng.IntN(2)]
	x := g.mask(g.pick(k.of(1)), 3)
	n := 1 + g.rng.IntN(4)
	a := &around{merge: g.id()}
	for range g.rng.IntN(2) {
		a.types = append(a.types, g.anyInt().of(1))
	}
	other := g.id()
	if g.oneIn(3) && len(a.types) == 0 {
		other = a.merge
	}
	labels := make([]uint32, n)
	words := []uint32{x.id, other}
	for i := range labels {
		labels[i] = g.id()
		words = append(words, uint32(i), labels[i])
	}
	order := append([]uint32(nil), labels...)
	if other != a.merge {
		at := g.rng.IntN(n + 1) // the default may stand anywhere
		order = append(append(append([]uint32(nil), order[:at]...), other), order[at:]...)
	}
	was := g.uniform
	put(&g.body, opSelectionMerge, a.merge, 0)
	put(&g.body, opSwitch, words...)
	g.uniform = false
	g.arounds = append(g.arounds, a)
	g.depth++
	for i, l := range order {
		g.label(l)
		var vals []value
		g.scoped(func() {
			g.some()
			vals = g.several(a.types)
		})
		if i+1 < len(order) && g.oneIn(3) {
			put(&g.body, opBranch, order[i+1])
			continue
		}
		a.exits = append(a.exits, edge{vals, g.block})
		put(&g.body, opBranch, a.merge)
	}
	g.depth--
	g.arounds = g.arounds[:len(g.arounds)-1]
	g.restore(was)
	g.label(a.merge)
	if len(a.types) > 0 {
		g.join(a.types, a.exits, value{})
	}
}
