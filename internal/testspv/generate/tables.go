package generate

// table is a buffer of elements that modules of Options.Affine access at positions.
type table struct {
	slot   uint32
	v      uint32 // the variable
	class  uint32
	member uint32 // of the block that has the elements
	elem   typ
	stride uint32
	head   uint32 // bytes before the elements
	len    int64  // elements
	use    use
}

// use says what invocations do to the elements of a table.
type use int

const (
	read     use = iota // any of them loads any
	own                 // invocation i has the elements i·eachOwn and following
	striped             // invocation i has every so many elements, as many as there are invocations
	magic               // all of them store the same
	anywhere            // the same, in range or out of it
)

const (
	slotTable = 7 // the first table
	eachOwn   = 8 // elements of an invocation
)

// tables declares the tables. There is at least one for each use.
func (g *gen) tables() {
	n := int64(g.invocations())
	uses := []use{read, own, striped, magic, anywhere}
	for range g.rng.IntN(3) {
		uses = append(uses, use(g.rng.IntN(3)))
	}
	for i, u := range uses {
		t := table{slot: slotTable + uint32(i), use: u, elem: g.element32()}
		switch u {
		case own:
			t.len = n * eachOwn
		case striped:
			t.len = n * eachOwn
			if g.oneIn(2) {
				t.len = n * (1 + int64(g.rng.IntN(eachOwn)))
			}
		case magic, anywhere:
			t.elem, t.len = u32.of(1), 1+int64(g.rng.IntN(int(n)+20))
		default:
			t.len = []int64{n, n + 1 + int64(g.rng.IntN(9)), n*4 + 3, 3 * n, 1 + int64(g.rng.IntN(20))}[g.rng.IntN(4)+g.rng.IntN(4)/3]
		}
		if i == 0 {
			t.elem = u32.of(1) // the one for loads from anywhere
		}
		t.stride = max(t.elem.width/8*t.elem.n, t.elem.width/8)
		if t.elem.n == 3 {
			t.stride = t.elem.width / 8 * 4
		}
		for t.len*int64(t.stride)%4 != 0 {
			t.len++ // bindings are of whole words
		}
		if g.oneIn(4) {
			t.head = 32
		}
		g.declareTable(&t)
		g.tab = append(g.tab, t)
	}
}

// element32 is a type of elements, one word each in most cases.
func (g *gen) element32() typ {
	k := []kind{u32, i32}[g.rng.IntN(2)]
	if g.Wide && g.oneIn(2) {
		k = kind{"ui"[g.rng.IntN(2)], []uint32{8, 16, 64}[g.rng.IntN(3)]}
		switch k.width {
		case 8:
			g.caps[4448], g.exts["SPV_KHR_8bit_storage"] = true, true
		case 16:
			g.caps[4433] = true
		}
		g.ints = append(g.ints, k.signed(), k.unsigned())
	}
	if g.oneIn(2) {
		return k.of(1)
	}
	return k.of([]uint32{1, 2, 3, 4, 4, 4}[g.rng.IntN(6)])
}

// declareTable writes the variable of a table.
func (g *gen) declareTable(t *table) {
	members := []uint32{}
	if t.head > 0 {
		members = append(members, g.typ(u32.of(4)))
		t.member = 1
	}
	run := g.fresh(opTypeRuntimeArray, g.typ(t.elem))
	g.decorate(run, 6, t.stride)
	block := g.fresh(opTypeStruct, append(members, run)...)
	t.class = classStorage
	if old := g.oneIn(6); old && t.elem.width == 32 { // as Vulkan 1.0 has them
		t.class = 2
		g.decorate(block, 3)
	} else {
		g.decorate(block, 2)
	}
	if t.head > 0 {
		g.decorateMember(block, 0, 35, 0)
	}
	g.decorateMember(block, t.member, 35, t.head)
	if t.use == read && g.oneIn(2) {
		if t.head > 0 {
			g.decorateMember(block, 0, 24)
		}
		g.decorateMember(block, t.member, 24)
	}
	t.v = g.variable(t.class, block)
	g.decorate(t.v, 34, 0)
	g.decorate(t.v, 33, t.slot)
}

// tableOf is a table of a use.
func (g *gen) tableOf(u use) *table {
	var fit []*table
	for i := range g.tab {
		if g.tab[i].use == u {
			fit = append(fit, &g.tab[i])
		}
	}
	return fit[g.rng.IntN(len(fit))]
}

// at is a pointer to an element of a table, or to a component of it.
func (g *gen) at(t *table, index uint32) (ptr uint32, elem typ) {
	words := []uint32{t.v, g.word(t.member), index}
	elem = t.elem
	if elem.n > 1 && g.oneIn(3) {
		i := g.word(g.rng.Uint32N(elem.n))
		if elem.n != 3 && g.oneIn(4) {
			i = g.mask(g.pick(u32.of(1)), uint64(elem.n-1)).id
		}
		words, elem = append(words, i), elem.kind.of(1)
	}
	return g.raw([]uint32{opAccessChain, 66}[g.rng.IntN(2)], g.pointer(t.class, g.typ(elem)), words...), elem
}

// fillTable makes what a table holds at first.
func (g *gen) fillTable(t *table) []byte {
	b := make([]byte, int64(t.head)+t.len*int64(t.stride))
	if t.use >= magic {
		return b
	}
	for i := 0; i < len(b); i += 4 {
		w := g.someWord()
		b[i], b[i+1], b[i+2], b[i+3] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
	}
	return b
}

// length is the number of elements of a table, or a smaller number.
func (g *gen) length(t *table) value {
	n := g.rng.IntN(4)
	if g.tame && !g.oneIn(6) {
		n = 2 + n/2
	}
	switch n {
	case 0:
		return value{id: g.word(uint32(t.len)), t: u32.of(1), uni: true}
	case 1:
		return value{id: g.word(uint32(g.rng.Int64N(t.len + 1))), t: u32.of(1), uni: true}
	case 2:
		i := g.rng.IntN(len(g.words))
		if int64(g.words[i]) <= t.len {
			return g.pushed(i)
		}
	}
	v := g.emit(68, u32.of(1), t.v, t.member)
	v.uni = g.uniform
	return v
}

// pushed is a push constant as u32.
func (g *gen) pushed(i int) value {
	k := []kind{u32, i32}[i%2]
	p := g.raw(opAccessChain, g.pointer(classPush, g.typ(k.of(1))), g.push, g.word(uint32(i)))
	v := g.emit(opLoad, k.of(1), p)
	v.uni = g.uniform
	return g.resign(v, u32)
}
