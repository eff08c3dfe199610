// Package generate makes compute shaders at random whose results are defined
// by SPIR-V and Vulkan to the last bit: integer arithmetic of every width and
// signedness, floats that stay exact, composites, control flow, functions, all
// kinds of memory. What a module computes is told by package interp; any
// driver must come to the same.
//
// Undefined behaviour is kept out by construction: divisors are not zero, shifts
// are below the width, indices are masked. Floats are exact because the
// generator knows of each one a bound on its size and on the size of its last
// bit, and forms no sum or product that would have to be rounded. Only tests import it.
package generate

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// Options say which classes of constructs may occur. The zero value allows what
// every device of Lathe runs.
type Options struct {
	Wide      bool // integers of 8, 16 and 64 bits, floats of 16 and 64
	Carries   bool // IAddCarry and its like
	Atomics   bool
	Subgroups bool
	Texels    bool
	SMod      bool
	// Mixed allows operands whose signedness is not that of the instruction.
	Mixed bool
	// Affine makes modules of another kind: with loads and stores at affine functions of
	// the invocation, comparisons of positions with sizes, loops of every form, and exits
	// from them.
	Affine bool
	// Bottom allows loops that test their end last.
	Bottom bool
	// Skip are statements to leave out, of those that Module.Statements lists, to reduce a
	// module.
	Skip map[uint64]bool
}

// Module is a generated module and a launch of it.
type Module struct {
	Code    []byte
	Buffers [][]byte // by binding
	Push    []byte
	Groups  [3]uint32
	// Floats says of a buffer that it holds f32 values, which are compared as
	// numbers (so that −0 is 0). Near says that they are not exact: within a
	// thousandth.
	Floats, Near map[int]bool
	// Open has the bindings whose words nobody foretells: each is one of these.
	Open map[int][]uint32
	// Statements names the statements of a module of Options.Affine.
	Statements []uint64
}

// Bindings of every module.
const (
	slotIn    = 0 // u32, read
	slotOut   = 1 // u32
	slotFloat = 2 // f32, exact
	slotNear  = 3 // f32, nearly
	slotAtom  = 4 // u32, by atomics
	slotWide  = 5 // of another width, read and written
	slotTexel = 6 // texel buffer of u32
)

const (
	inWords    = 256
	pushWords  = 8
	outEach    = 12 // words an invocation writes
	floatsEach = 6
	nearEach   = 3
)

// gen makes one module.
type gen struct {
	*builder
	rng *rand.Rand
	Options
	ints, floats []kind

	local, groups [3]uint32
	in, out       uint32 // variables
	outF, outN    uint32
	push, atom    uint32
	wide, texel   uint32
	wideKind      kind
	privates      []variable
	spec          []uint32
	helpers       []helper

	// Of the function being written.
	body    []uint32
	locals  []uint32 // OpVariables, which stand at its start
	inits   []uint32 // stores that give them values
	first   uint32   // label of the first block
	block   uint32   // label of the current one
	scope   []value
	vars    []variable
	index   value // of the invocation among all; main only
	lane    value // within the workgroup; main only
	inMain  bool
	uniform bool // all invocations of the workgroup are here
	depth   int
	left    int // instructions that may still be written
	near    int // slots of outN used
	loops   int // product of the lengths of the loops around

	// Of modules of Options.Affine.
	words      []uint32 // the push constants
	tab        []table
	open       uint32 // buffer of what was loaded from anywhere
	magic      uint32 // what all invocations store
	barriers   bool
	tame       bool // accesses are in range, and comparisons are of numbers near the ends
	statements []uint64
	path       uint64 // of the statement that is being written
	inner      int    // statements within it so far
	seed       uint64
	counters   []position // of the loops around
	arounds    []*around  // nil for one that nothing leaves
	gone       bool       // some invocations have returned
}

// value is a result that can be used from here on.
type value struct {
	id uint32
	t  typ
	// Of floats: |v| ≤ 2^m, and v is a multiple of 2^-s.
	m, s int
	uni  bool // the same in all invocations of the workgroup
}

// variable is a pointer to an array or a scalar.
type variable struct {
	id    uint32
	class uint32
	t     typ    // of an element
	n     uint32 // elements, a power of two; 0 for no array
	m, s  int    // bound of all floats stored in it
}

type helper struct {
	id     uint32
	result typ
	m, s   int
	params []value // id 0; a bound for floats
}

// New makes the module of a seed.
func New(seed uint64, o Options) *Module {
	g := &gen{builder: newBuilder(), rng: rand.New(rand.NewPCG(seed, 0x5eed)), Options: o, seed: seed}
	g.ints, g.floats = []kind{i32, u32}, []kind{f32}
	if o.Wide {
		for _, w := range []uint32{8, 16, 64} {
			if g.oneIn(2) {
				g.ints = append(g.ints, kind{'i', w}, kind{'u', w})
			}
		}
		for _, w := range []uint32{16, 64} {
			if g.oneIn(2) {
				g.floats = append(g.floats, kind{'f', w})
			}
		}
	}
	g.local = [][3]uint32{{8, 1, 1}, {16, 1, 1}, {4, 2, 1}, {2, 2, 2}, {32, 1, 1}, {1, 1, 1}, {8, 4, 1}}[g.rng.IntN(7)]
	g.groups = [][3]uint32{{1, 1, 1}, {2, 1, 1}, {2, 2, 1}, {1, 1, 3}}[g.rng.IntN(4)]
	if o.Affine {
		g.size()
	}
	g.resources()
	for range g.rng.IntN(4) {
		g.helper()
	}
	main := g.main()
	code := g.module(main, g.local)
	return g.launch(code)
}

// oneIn is true once in n times.
func (g *gen) oneIn(n int) bool { return g.rng.IntN(n) == 0 }

func (g *gen) invocations() uint32 {
	return g.local[0] * g.local[1] * g.local[2] * g.groups[0] * g.groups[1] * g.groups[2]
}

// resources declares what the module shares with the outside.
func (g *gen) resources() {
	word, float := g.typ(u32.of(1)), g.typ(f32.of(1))
	g.in = g.buffer(slotIn, word, 4, g.oneIn(2))
	g.out = g.buffer(slotOut, word, 4, false)
	g.outF = g.buffer(slotFloat, float, 4, false)
	g.outN = g.buffer(slotNear, float, 4, false)
	if g.Atomics {
		g.atom = g.buffer(slotAtom, word, 4, false)
	}
	if g.Wide && g.oneIn(2) {
		g.wideKind = []kind{{'u', 16}, {'i', 16}, {'u', 8}, {'i', 8}, {'u', 64}, {'i', 64}}[g.rng.IntN(6)]
		switch g.wideKind.width {
		case 8:
			g.caps[4448], g.exts["SPV_KHR_8bit_storage"] = true, true
		case 16:
			g.caps[4433] = true
		}
		g.wide = g.buffer(slotWide, g.typ(g.wideKind.of(1)), g.wideKind.width/8, false)
		g.ints = append(g.ints, g.wideKind.signed(), g.wideKind.unsigned())
	}
	if g.Texels {
		g.caps[46] = true
		img := g.once(25, 0, word, 5, 0, 0, 0, 1, 0)
		v := g.variable(0, img)
		g.decorate(v, 34, 0)
		g.decorate(v, 33, slotTexel)
		g.texel = v
	}
	members := make([]uint32, pushWords)
	for i := range members {
		members[i] = g.typ([]kind{u32, i32}[i%2].of(1))
	}
	block := g.fresh(opTypeStruct, members...)
	g.decorate(block, 2)
	for i := range members {
		g.decorateMember(block, uint32(i), 35, uint32(4*i))
	}
	g.push = g.variable(classPush, block)
	if g.Affine {
		g.tables()
		g.open = g.buffer(slotTable+uint32(len(g.tab)), word, 4, false)
	}
	for range g.rng.IntN(4) {
		k := []kind{i32, u32}[g.rng.IntN(2)]
		n := uint32(1) << g.rng.IntN(4)
		t := g.typ(k.of(1))
		if n > 1 {
			t = g.once(opTypeArray, 0, t, g.word(n))
		}
		g.privates = append(g.privates, variable{g.variable(classPrivate, t), classPrivate, k.of(1), n &^ 1, 4, 2})
	}
	for range g.rng.IntN(3) {
		id := g.id()
		put(&g.global, opSpecConstant, g.typ(u32.of(1)), id, g.rng.Uint32())
		g.decorate(id, 1, uint32(len(g.spec)))
		g.spec = append(g.spec, id)
	}
}

// main writes the entry point.
func (g *gen) main() uint32 {
	g.begin(true)
	g.left = 60 + g.rng.IntN(140)
	void := g.once(opTypeVoid, 0)
	fn := g.id()
	g.place()
	for _, p := range g.privates {
		g.fill(&p, true)
		g.vars = append(g.vars, p)
	}
	if g.Affine {
		g.left = 500
		n := 1 + g.rng.IntN(14)
		if g.tame {
			n = 1 + g.rng.IntN(6)
		}
		for range n {
			g.statement()
		}
	}
	for !g.Affine && g.left > 0 {
		g.statement()
	}
	g.results()
	put(&g.body, opReturn)
	g.end(fn, void, g.once(opTypeFunction, 0, void), nil)
	return fn
}

// place computes which invocation this is.
func (g *gen) place() {
	load := func(builtIn uint32, t typ) value {
		return g.emit(opLoad, t, g.input(builtIn, t))
	}
	groupID := load(26, u32.of(3))
	g.lane = load(29, u32.of(1))
	part := func(i uint32) value { return g.emit(opExtract, u32.of(1), groupID.id, i) }
	x, y, z := part(0), part(1), part(2)
	at := g.emit(132, u32.of(1), z.id, g.word(g.groups[1]))
	at = g.emit(opIAdd, u32.of(1), at.id, y.id)
	at = g.emit(132, u32.of(1), at.id, g.word(g.groups[0]))
	at = g.emit(opIAdd, u32.of(1), at.id, x.id)
	at = g.emit(132, u32.of(1), at.id, g.word(g.local[0]*g.local[1]*g.local[2]))
	g.index = g.emit(opIAdd, u32.of(1), at.id, g.lane.id)
	if g.Affine {
		g.number(y)
	}
	for _, v := range []value{x, y, z} {
		v.uni = true
		g.add(v)
	}
	g.add(g.lane)
	g.add(g.index)
	if g.oneIn(2) {
		g.add(load(27, u32.of(3)))
		g.add(load(28, u32.of(3)))
		n := load(24, u32.of(3))
		n.uni = true
		g.add(n)
	}
}

// begin starts a function.
func (g *gen) begin(main bool) {
	g.body, g.locals, g.inits, g.scope, g.vars = nil, nil, nil, nil, nil
	g.first, g.inMain, g.uniform, g.depth, g.loops, g.gone = g.id(), main, main, 0, 1, false
	g.counters, g.arounds = nil, nil
	g.block = g.first
	for range 1 + g.rng.IntN(3) {
		g.local1()
	}
}

// end writes the function out. params are its OpFunctionParameters.
func (g *gen) end(fn, result, t uint32, params []uint32) {
	put(&g.code, opFunction, result, fn, 0, t)
	g.code = append(g.code, params...)
	put(&g.code, opLabel, g.first)
	g.code = append(append(append(g.code, g.locals...), g.inits...), g.body...)
	put(&g.code, opFunctionEnd)
}

// helper writes a function that others may call.
func (g *gen) helper() {
	g.begin(false)
	g.left = 8 + g.rng.IntN(25)
	h := helper{id: g.id()}
	var params, types []uint32
	for range 1 + g.rng.IntN(3) {
		p := value{t: g.anyType(), m: 6, s: 4}
		id := g.id()
		put(&params, opParameter, g.typ(p.t), id)
		types = append(types, g.typ(p.t))
		h.params = append(h.params, p)
		p.id = id
		g.add(p)
	}
	g.vars = append(g.vars, g.privates...)
	h.result = g.anyType()
	for n := 0; g.left > 0 && n < 50; n++ {
		g.statement()
		if g.depth == 0 && g.oneIn(8) {
			g.earlyReturn(&h)
		}
	}
	r := g.within(g.pick(h.result), 6, 4)
	h.m, h.s = 6, 4
	put(&g.body, opReturnValue, r.id)
	result := g.typ(h.result)
	g.end(h.id, result, g.once(opTypeFunction, 0, append([]uint32{result}, types...)...), params)
	g.helpers = append(g.helpers, h)
}

// launch makes the buffers.
func (g *gen) launch(code []byte) *Module {
	n := int(g.invocations())
	m := &Module{Code: code, Groups: g.groups, Floats: map[int]bool{slotFloat: true, slotNear: true}, Near: map[int]bool{slotNear: true}}
	words := func(n int, f func(i int) uint32) []byte {
		b := make([]byte, 4*n)
		for i := range n {
			binary.LittleEndian.PutUint32(b[4*i:], f(i))
		}
		return b
	}
	zero := func(int) uint32 { return 0 }
	m.Buffers = [][]byte{
		words(inWords, func(int) uint32 { return g.someWord() }), words(n*outEach, zero), words(n*floatsEach, zero), words(n*nearEach, zero),
		words(len(atomics), func(int) uint32 { return g.rng.Uint32() }), words(inWords, func(int) uint32 { return g.someWord() }),
		words(inWords, func(int) uint32 { return g.someWord() }),
	}
	if !g.Affine {
		m.Push = words(pushWords, func(int) uint32 { return g.someWord() })
		return m
	}
	m.Push = words(pushWords, func(i int) uint32 { return g.words[i] })
	m.Statements, m.Open = g.statements, map[int][]uint32{}
	for i := range g.tab {
		if g.tab[i].use == anywhere {
			m.Open[len(m.Buffers)] = []uint32{0, g.magic}
		}
		m.Buffers = append(m.Buffers, g.fillTable(&g.tab[i]))
	}
	some := []uint32{0}
	for b := m.Buffers[slotTable]; len(b) > 0; b = b[4:] {
		some = append(some, binary.LittleEndian.Uint32(b))
	}
	m.Open[len(m.Buffers)] = some
	m.Buffers = append(m.Buffers, words(n*eachOwn, zero))
	return m
}

// someWord is a number of the kind that arithmetic gets wrong, or any.
func (g *gen) someWord() uint32 {
	switch g.rng.IntN(4) {
	case 0:
		return uint32(g.rng.IntN(33)) - 16
	case 1:
		return []uint32{0, 1, math.MaxInt32, 1 << 31, math.MaxUint32, 0xffff, 0x8000, 0x7fff, 0x80, 0x7f, 0xff, 0x10000}[g.rng.IntN(12)]
	}
	return g.rng.Uint32()
}
