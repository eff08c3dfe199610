package generate

import "math/rand/v2"

// size chooses the sizes of a module of Options.Affine, and what the push constants hold.
func (g *gen) size() {
	g.local = [][3]uint32{{16, 1, 1}, {16, 1, 1}, {16, 1, 1}, {32, 1, 1}, {64, 1, 1}, {20, 1, 1}, {12, 1, 1}, {5, 1, 1}, {8, 4, 1}, {4, 2, 2}}[g.rng.IntN(10)]
	g.groups = [3]uint32{1 + g.rng.Uint32N(4), 1 + g.rng.Uint32N(4)/3, 1}
	g.barriers = g.oneIn(6)
	g.tame = !g.oneIn(5)
	g.magic = g.rng.Uint32() | 1
	n := g.invocations()
	end := n - g.rng.Uint32N(n/3+1)
	g.words = []uint32{end, g.rng.Uint32N(12) - 3, g.groups[0] * g.local[0], end + g.rng.Uint32N(5) - 2, g.rng.Uint32N(eachOwn), g.someWord(), g.someWord(), n}
}

// number computes the number of the invocation among all in another way than by its lane.
func (g *gen) number(y value) {
	if g.local[1] > 1 || g.oneIn(3) {
		return
	}
	width := g.local[0] * g.groups[0]
	var x value
	if v := g.input(28, u32.of(3)); g.oneIn(2) {
		x = g.emit(opExtract, u32.of(1), g.emit(opLoad, u32.of(3), v).id, 0)
	} else {
		x = g.emit(opLoad, u32.of(1), g.raw(opAccessChain, g.pointer(classInput, g.typ(u32.of(1))), v, g.word(0)))
	}
	if g.groups[1] > 1 || g.oneIn(4) {
		w := value{id: g.word(width), t: u32.of(1)}
		if g.oneIn(2) {
			w = g.pushed(2)
		}
		row := g.emit(132, u32.of(1), y.id, w.id)
		x = g.emit(opIAdd, u32.of(1), row.id, x.id)
	}
	g.index = x
}

// lineStatement emits a statement of a module of Options.Affine. Each has random numbers of
// its own, so that the others stay as they are if one is left out.
func (g *gen) lineStatement() {
	path, n, rng := g.path, g.inner, g.rng
	g.inner++
	g.path = mix(path, uint64(n))
	g.inner, g.rng = 0, rand.New(rand.NewPCG(g.seed, g.path))
	defer func() { g.path, g.inner, g.rng = path, n+1, rng }()
	if g.Skip[g.path] || g.left < 0 {
		return
	}
	g.statements = append(g.statements, g.path)
	g.left--
	switch n := g.rng.IntN(30); {
	case n < 8:
		g.anyOther()
	case n < 11:
		g.fetch()
	case n < 14:
		g.keep()
	case n < 16:
		g.edge()
	case n < 17:
		g.add(g.limited(g.position()).value)
	case n < 19 && !g.tame:
		g.wild()
	case n < 19:
		g.keep()
	case n < 20:
		g.leave()
	case n < 22:
		g.tested()
	case g.depth >= 4:
		g.integer()
	case n < 25:
		g.branch()
	case n < 28:
		g.rounds()
	default:
		g.cases()
	}
}

// anyOther emits a statement that modules without Options.Affine have, too.
func (g *gen) anyOther() {
	g.anyStatement()
}

// mix makes a number of two.
func mix(a, b uint64) uint64 {
	x := (a ^ b + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	return x ^ x>>31
}
