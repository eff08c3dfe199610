package generate

// integer emits an operation on integers.
func (g *gen) integer() {
	k := g.anyInt()
	t := k.of(g.lanes())
	// operand is of t, or with Mixed of the other signedness.
	operand := func() value {
		if g.Mixed && g.oneIn(2) {
			return g.pick(kind{"ui"[g.rng.IntN(2)], k.width}.of(t.n))
		}
		return g.pick(t)
	}
	// as is an operand of a signedness that the instruction is about.
	as := func(class byte) value {
		if g.Mixed && g.oneIn(2) {
			return operand()
		}
		return g.resign(g.pick(t), kind{class, k.width})
	}
	result := func(class byte) typ {
		if g.Mixed && g.oneIn(2) {
			return t
		}
		return kind{class, k.width}.of(t.n)
	}
	switch g.rng.IntN(14) {
	case 0, 1, 2: // IAdd ISub IMul
		x, y := operand(), operand()
		g.from(g.emit([]uint32{128, 130, 132}[g.rng.IntN(3)], t, x.id, y.id), x, y)
	case 3: // Or Xor And
		x, y := operand(), operand()
		g.from(g.emit(197+uint32(g.rng.IntN(3)), t, x.id, y.id), x, y)
	case 4: // Not, SNegate
		if g.oneIn(2) {
			x := operand()
			g.from(g.emit(200, t, x.id), x)
		} else {
			x := as('i')
			g.from(g.emit(126, result('i'), x.id), x)
		}
	case 5: // UDiv UMod
		x, y := g.resign(g.pick(t), k.unsigned()), g.resign(g.pick(t), k.unsigned())
		d := g.emit(opOr, y.t, y.id, g.splat(y.t, g.bits(y.t.kind, 1)))
		g.from(g.emit([]uint32{134, 137}[g.rng.IntN(2)], x.t, x.id, d.id), x, y)
	case 6: // SDiv
		x, y := as('i'), as('i')
		if g.oneIn(2) { // a positive divisor
			d := g.mask(y, 1<<(k.width-1)-1)
			d = g.emit(opOr, d.t, d.id, g.splat(d.t, g.bits(d.t.kind, 1)))
			g.from(g.emit(135, result('i'), x.id, d.id), x, y)
		} else { // a negative one, and not the lowest number over −1
			d := g.emit(opOr, y.t, y.id, g.splat(y.t, g.bits(y.t.kind, 1<<(k.width-1)|1)))
			half := g.emit(195, x.t, x.id, g.splat(x.t, g.bits(x.t.kind, 1)))
			g.from(g.emit(135, result('i'), half.id, d.id), x, y)
		}
	case 7: // SRem SMod, which Vulkan defines for numbers that are not negative
		x, y := g.mask(as('i'), 1<<(k.width-1)-1), g.mask(as('i'), 1<<(k.width-1)-1)
		d := g.emit(opOr, y.t, y.id, g.splat(y.t, g.bits(y.t.kind, 1)))
		op := uint32(138)
		if g.SMod && g.oneIn(2) {
			op = 139
		}
		g.from(g.emit(op, result('i'), x.id, d.id), x, y)
	case 8: // shifts
		op := 194 + uint32(g.rng.IntN(3))
		x := operand()
		rt := t
		if op == 195 {
			x, rt = as('i'), result('i')
		} else if op == 194 {
			x, rt = as('u'), result('u')
		}
		amount := x.t
		if g.Mixed {
			amount = g.anyInt().of(t.n)
		}
		y := g.mask(g.pick(amount), uint64(k.width-1))
		g.from(g.emit(op, rt, x.id, y.id), x, y)
	case 9:
		g.bitOps()
	case 10: // comparisons
		if g.tame && g.inMain && !g.oneIn(4) {
			g.edge()
			return
		}
		op := 170 + uint32(g.rng.IntN(10))
		x, y := operand(), operand()
		if op >= 172 {
			class := "ui"[(op-172)%2]
			x, y = as(class), as(class)
		}
		if !g.Mixed {
			y = g.resign(y, x.t.kind)
		}
		g.from(g.emit(op, boolean.of(t.n), x.id, y.id), x, y)
	case 11: // SMin UMin SMax UMax, SAbs SSign, clamps
		g.minima(t, as, result)
	case 12: // to another width
		g.widen(t)
	case 13:
		g.extended()
	}
}

// bitOps are those that Vulkan defines for 32 bits only.
func (g *gen) bitOps() {
	n := g.lanes()
	k := []kind{i32, u32}[g.rng.IntN(2)]
	t := k.of(n)
	small := func() value { return g.mask(g.pick(u32.of(1)), 15) }
	x := g.pick(t)
	switch g.rng.IntN(6) {
	case 0:
		g.from(g.emit(204, t, x.id), x) // BitReverse
	case 1:
		g.from(g.emit(205, t, x.id), x) // BitCount
	case 2: // BitFieldInsert
		y, off, count := g.pick(t), small(), small()
		g.from(g.emit(201, t, x.id, y.id, off.id, count.id), x, y, off, count)
	case 3: // BitFieldSExtract
		if !g.Mixed {
			x = g.resign(x, i32)
		}
		off, count := small(), small()
		g.from(g.emit(202, x.t, x.id, off.id, count.id), x, off, count)
	case 4: // BitFieldUExtract
		if !g.Mixed {
			x = g.resign(x, u32)
		}
		off, count := small(), small()
		g.from(g.emit(203, x.t, x.id, off.id, count.id), x, off, count)
	case 5: // FindILsb FindSMsb FindUMsb
		n := 73 + uint32(g.rng.IntN(3))
		if n != 73 && !g.Mixed {
			x = g.resign(x, []kind{i32, u32}[n-74])
		}
		g.from(g.glslOp(n, x.t, x.id), x)
	}
}

func (g *gen) minima(t typ, as func(byte) value, result func(byte) typ) {
	signed := g.oneIn(2)
	class, at := byte('u'), uint32(0)
	if signed {
		class, at = 'i', 1
	}
	x, y := as(class), as(class)
	switch g.rng.IntN(4) {
	case 0:
		g.from(g.glslOp(38+at, result(class), x.id, y.id), x, y)
	case 1:
		g.from(g.glslOp(41+at, result(class), x.id, y.id), x, y)
	case 2: // clamps between constants in order
		lo, hi := uint64(g.rng.IntN(50)), uint64(50+g.rng.IntN(70))
		if signed {
			lo = uint64(-int64(g.rng.IntN(50)))
		}
		g.from(g.glslOp(44+at, result(class), x.id, g.splat(x.t, g.bits(x.t.kind, lo)), g.splat(x.t, g.bits(x.t.kind, hi))), x)
	case 3:
		x := as('i')
		g.from(g.glslOp([]uint32{5, 7}[g.rng.IntN(2)], result('i'), x.id), x)
	}
}

// widen converts between widths, and between integers and bits.
func (g *gen) widen(t typ) {
	to := g.anyInt()
	x := g.pick(t)
	if to.width == t.width {
		g.from(g.emit(opBitcast, kind{"ui"[g.rng.IntN(2)], t.width}.of(t.n), x.id), x)
		return
	}
	if g.oneIn(2) { // UConvert
		if !g.Mixed {
			x = g.resign(x, t.kind.unsigned())
		}
		g.from(g.emit(113, to.unsigned().of(t.n), x.id), x)
		return
	}
	if !g.Mixed {
		x, to = g.resign(x, t.kind.signed()), to.signed()
	}
	g.from(g.emit(114, to.of(t.n), x.id), x)
}

// extended is IAddCarry and the like, where they are allowed.
func (g *gen) extended() {
	if !g.Carries {
		g.logic()
		return
	}
	op := 149 + uint32(g.rng.IntN(4))
	k := u32
	if op == 152 {
		k = i32
	}
	t := k.of(g.lanes())
	x, y := g.pick(t), g.pick(t)
	pair := g.once(opTypeStruct, 0, g.typ(t), g.typ(t))
	r := g.raw(op, pair, x.id, y.id)
	g.from(g.emit(opExtract, t, r, 0), x, y)
	g.from(g.emit(opExtract, t, r, 1), x, y)
}

// logic emits an operation on truth values, or a choice by one.
func (g *gen) logic() {
	t := boolean.of(g.lanes())
	x := g.pick(t)
	switch g.rng.IntN(5) {
	case 0:
		y := g.pick(t)
		g.from(g.emit(164+uint32(g.rng.IntN(4)), t, x.id, y.id), x, y)
	case 1:
		g.from(g.emit(168, t, x.id), x)
	case 2:
		if t.n > 1 { // Any, All
			g.from(g.emit(154+uint32(g.rng.IntN(2)), boolean.of(1), x.id), x)
			return
		}
		fallthrough
	default:
		of := g.anyType()
		c := g.pick(boolean.of(of.n))
		y, z := g.pick(of), g.pick(of)
		v := g.emit(opSelect, of, c.id, y.id, z.id)
		v.m, v.s = max(y.m, z.m), max(y.s, z.s)
		if of.class == 'f' && !exact(of.kind, v.m, v.s) {
			return // a choice is exact, but what becomes of it need not be
		}
		g.from(v, c, y, z)
	}
}
