package generate

// vector emits what takes vectors apart and puts them together.
func (g *gen) vector() {
	k := [][]kind{g.ints, g.floats, {boolean}}[g.rng.IntN(3)]
	e := k[g.rng.IntN(len(k))]
	t := e.of(2 + uint32(g.rng.IntN(3)))
	x := g.pick(t)
	keep := func(v value, of ...value) {
		for _, o := range of {
			v.m, v.s = max(v.m, o.m), max(v.s, o.s)
		}
		if e.class == 'f' && !exact(e, v.m, v.s) {
			return
		}
		g.from(v, of...)
	}
	// at is an index below t.n.
	at := func() value {
		y := g.pick(u32.of(1))
		switch t.n {
		case 2, 4:
			return g.mask(y, uint64(t.n-1))
		}
		i := g.emit(137, u32.of(1), y.id, g.word(t.n))
		i.uni = y.uni && g.uniform
		return i
	}
	switch g.rng.IntN(6) {
	case 0:
		keep(g.emit(opExtract, e.of(1), x.id, g.rng.Uint32N(t.n)), x)
	case 1:
		y := g.pick(e.of(1))
		keep(g.emit(opInsert, t, y.id, x.id, g.rng.Uint32N(t.n)), x, y)
	case 2: // VectorShuffle
		y := g.pick(e.of(2 + uint32(g.rng.IntN(3))))
		r := e.of(2 + uint32(g.rng.IntN(3)))
		words := []uint32{x.id, y.id}
		for range r.n {
			words = append(words, g.rng.Uint32N(t.n+y.t.n))
		}
		keep(g.emit(opShuffle, r, words...), x, y)
	case 3: // VectorExtractDynamic
		i := at()
		keep(g.emit(77, e.of(1), x.id, i.id), x, i)
	case 4: // VectorInsertDynamic
		i, y := at(), g.pick(e.of(1))
		keep(g.emit(78, t, x.id, y.id, i.id), x, y, i)
	case 5: // of a smaller one and scalars
		if t.n < 4 {
			y := g.pick(e.of(1))
			keep(g.emit(opConstruct, e.of(t.n+1), x.id, y.id), x, y)
		} else {
			keep(g.emit(83, t, x.id), x) // CopyObject
		}
	}
}

// matrix emits a product of matrices of small whole numbers, and takes a vector of it.
func (g *gen) matrix() {
	k := f32
	rows, cols := 2+uint32(g.rng.IntN(3)), 2+uint32(g.rng.IntN(3))
	matrixType := func(rows, cols uint32) uint32 { return g.once(opTypeMatrix, 0, g.typ(k.of(rows)), cols) }
	var used []value
	small := func(t typ) value {
		v := g.within(g.pick(t), 2, 0)
		used = append(used, v)
		return v
	}
	construct := func(rows, cols uint32) uint32 {
		var words []uint32
		for range cols {
			words = append(words, small(k.of(rows)).id)
		}
		return g.raw(opConstruct, matrixType(rows, cols), words...)
	}
	keep := func(v value, m int) {
		v.m = m
		g.from(v, used...)
	}
	m := construct(rows, cols)
	switch g.rng.IntN(8) {
	case 0: // MatrixTimesVector
		keep(g.emit(145, k.of(rows), m, small(k.of(cols)).id), 6)
	case 1: // VectorTimesMatrix
		keep(g.emit(144, k.of(cols), small(k.of(rows)).id, m), 6)
	case 2: // MatrixTimesMatrix
		n := 2 + uint32(g.rng.IntN(3))
		p := g.raw(146, matrixType(rows, n), m, construct(cols, n))
		keep(g.emit(opExtract, k.of(rows), p, g.rng.Uint32N(n)), 6)
	case 3: // Transpose
		p := g.raw(84, matrixType(cols, rows), m)
		keep(g.emit(opExtract, k.of(1), p, g.rng.Uint32N(rows), g.rng.Uint32N(cols)), 2)
	case 4: // OuterProduct
		p := g.raw(147, matrixType(rows, cols), small(k.of(rows)).id, small(k.of(cols)).id)
		keep(g.emit(opExtract, k.of(rows), p, g.rng.Uint32N(cols)), 4)
	case 5: // MatrixTimesScalar
		p := g.raw(143, matrixType(rows, cols), m, small(k.of(1)).id)
		keep(g.emit(opExtract, k.of(rows), p, g.rng.Uint32N(cols)), 4)
	case 6: // Dot
		keep(g.emit(148, k.of(1), small(k.of(rows)).id, small(k.of(rows)).id), 6)
	case 7: // Determinant
		keep(g.glslOp(33, k.of(1), construct(rows, rows)), 14)
	}
}

// structure makes a struct that holds an array and a vector, changes a part and
// takes another.
func (g *gen) structure() {
	a, b := g.anyInt().of(1), g.anyInt().of(2+uint32(g.rng.IntN(3)))
	arr := g.once(opTypeArray, 0, g.typ(a), g.word(3))
	t := g.once(opTypeStruct, 0, arr, g.typ(b), g.typ(a))
	x, y, z, w, v := g.pick(a), g.pick(a), g.pick(a), g.pick(b), g.pick(a)
	list := g.raw(opConstruct, arr, x.id, y.id, z.id)
	s := g.raw(opConstruct, t, list, w.id, v.id)
	n := g.rng.Uint32N(3)
	s = g.raw(opInsert, t, v.id, s, 0, n)
	if b.kind == a.kind {
		s = g.raw(opInsert, t, x.id, s, 1, g.rng.Uint32N(b.n))
	}
	g.from(g.emit(opExtract, a, s, 0, g.rng.Uint32N(3)), x, y, z, v)
	g.from(g.emit(opExtract, b, s, 1), w, x)
}
