package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// bytesOf is the number of bytes of a scalar in memory that invocations share.
func bytesOf(t *ir.Type) uint32 {
	if t.Kind == ir.Int || t.Kind == ir.Float {
		return t.Bits / 8
	}
	return 4
}

// loadScalar loads a scalar of a type: the address is on the stack.
func (e *emitter) loadScalar(t *ir.Type, offset uint32) {
	switch {
	case t.Kind == ir.Bool:
		e.Memory(wasm.I32Load, 2, offset)
		e.I32Const(0)
		e.Op(wasm.I32Ne)
	case isHalf(t):
		e.Memory(wasm.I32Load16U, 1, offset)
		e.ofRaw(t)
	case t.Kind == ir.Float && t.Bits == 32:
		e.Memory(wasm.F32Load, 2, offset)
	case t.Kind == ir.Float:
		e.Memory(wasm.F64Load, 3, offset)
	case t.Bits == 64:
		e.Memory(wasm.I64Load, 3, offset)
	case t.Bits == 16:
		e.Memory(pick([2]wasm.Op{wasm.I32Load16U, wasm.I32Load16S}, t.Signed), 1, offset)
	case t.Bits == 8:
		e.Memory(pick([2]wasm.Op{wasm.I32Load8U, wasm.I32Load8S}, t.Signed), 0, offset)
	default:
		e.Memory(wasm.I32Load, 2, offset)
	}
}

// storeScalar stores a scalar of a type: the address and it are on the stack.
func (e *emitter) storeScalar(t *ir.Type, offset uint32) {
	switch {
	case isHalf(t):
		e.rawOf(t)
		e.Memory(wasm.I32Store16, 1, offset)
	case t.Kind == ir.Float && t.Bits == 32:
		e.Memory(wasm.F32Store, 2, offset)
	case t.Kind == ir.Float:
		e.Memory(wasm.F64Store, 3, offset)
	case t.Kind == ir.Int && t.Bits == 64:
		e.Memory(wasm.I64Store, 3, offset)
	case t.Kind == ir.Int && t.Bits == 16:
		e.Memory(wasm.I32Store16, 1, offset)
	case t.Kind == ir.Int && t.Bits == 8:
		e.Memory(wasm.I32Store8, 0, offset)
	default:
		e.Memory(wasm.I32Store, 2, offset)
	}
}

// clamped pushes the address of an offset in a buffer. offset pushes the offset. Offsets
// behind the last possible one count as that.
func (e *emitter) clamped(base, last uint32, offset func()) {
	e.Get(base)
	offset()
	o := e.newLocal(wasm.I32)
	e.Get(o)
	e.Get(last)
	e.Get(o)
	e.Get(last)
	e.Op(wasm.I32LtU)
	e.Op(wasm.Select)
	e.Op(wasm.I32Add)
}

// An access is a scalar or a vector of a value in memory. Each is brought into its buffer by
// itself, as drivers do it, so that parts inside of the buffer are right.
type access struct {
	// leaf is the number of the first leaf, and offset the distance in bytes.
	leaf   int
	offset uint32
	// parts are the distances of the leaves from offset, and span is the number of bytes.
	parts []uint32
	span  uint32
}

// accesses divides a place.
func (l layout) accesses(p place) []access {
	leaf := 0
	return l.appendAccesses(nil, p, 0, &leaf)
}

func (l layout) appendAccesses(list []access, p place, at int64, leaf *int) []access {
	switch p.t.Kind {
	case ir.Matrix, ir.Array, ir.Struct:
		n := p.t.N
		if p.t.Kind == ir.Struct {
			n = uint32(len(p.t.Members))
		}
		for i := range n {
			part, unit, offset := l.part(p, i)
			list = l.appendAccesses(list, part, at+offset+int64(i)*unit, leaf)
		}
		return list
	}
	a := access{leaf: *leaf, offset: uint32(at), span: uint32(l.size(p))}
	for _, o := range l.offsets(p) {
		a.parts = append(a.parts, uint32(o))
	}
	*leaf += len(a.parts)
	return append(list, a)
}

// side reports whether lanes that are stride bytes apart lie side by side, for an access
// whose leaves do.
func (a *access) side(stride int32, t *ir.Type) bool {
	return uint32(stride) == a.span && a.dense(t) && (len(a.parts) == 1 || len(a.parts) != 3 && bytesOf(t) == 4)
}

// dense reports whether the leaves of an access follow each other.
func (a *access) dense(t *ir.Type) bool {
	for i, o := range a.parts {
		if o != uint32(i)*bytesOf(t) {
			return false
		}
	}
	return t.Kind != ir.Bool && len(a.parts) <= 4
}

// loadShared loads a value from memory that invocations share.
func (e *emitter) loadShared(v, p, root *ir.Value) {
	leaves := leavesOf(v.Type)
	sh := e.address(p)
	for _, a := range (layout{}).accesses(placeOf(p)) {
		t := leaves[a.leaf]
		if e.loadWindow(v, p, root, &a, t) {
			continue
		}
		switch {
		case e.untested[p]:
			offset := e.reached(p, root) + a.offset
			addr := e.newLocal(wasm.I32)
			if !sh.isUniform() {
				e.rowFrom(v, &a, t, addr, offset)
				continue
			}
			for i, o := range a.parts {
				load := func() { e.Get(addr); e.loadScalar(t, offset+o) }
				e.set(v, a.leaf+i, load, func(int) { load(); e.splat(t) })
			}
		case sh.isUniform():
			if at, ok := e.inFrame(p, root, &a); ok {
				for i, o := range a.parts {
					load := func() { e.Get(paramFrame); e.loadScalar(t, at+o) }
					e.set(v, a.leaf+i, load, func(int) { load(); e.splat(t) })
				}
				continue
			}
			base, last := e.limit(root, a.span)
			e.clamped(base, last, func() { e.pushAccess(p, 0, &a) })
			addr := e.newLocal(wasm.I32)
			for i, o := range a.parts {
				load := func() { e.Get(addr); e.loadScalar(t, o) }
				e.set(v, a.leaf+i, load, func(int) { load(); e.splat(t) })
			}
		case !sh.varying && a.side(sh.stride, t):
			e.loadRow(v, p, root, &a, t)
		default:
			e.gather(v, p, root, &a, t)
		}
	}
}

// pushAccess pushes the offset of an access in one lane.
func (e *emitter) pushAccess(p *ir.Value, lane int, a *access) {
	e.pushOffset(p, lane)
	if a.offset > 0 {
		e.I32Const(int32(a.offset))
		e.Op(wasm.I32Add)
	}
}

// gather loads each lane from its own address.
func (e *emitter) gather(v, p, root *ir.Value, a *access, t *ir.Type) {
	if e.gatherSplit(v, p, root, a, t) {
		return
	}
	base, last := e.limit(root, a.span)
	var addr [lanes]uint32
	for k := range lanes {
		e.clamped(base, last, func() { e.pushAccess(p, k, a) })
		addr[k] = e.newLocal(wasm.I32)
	}
	if len(a.parts) == 4 && bytesOf(t) == 4 && a.dense(t) {
		e.transpose(e.homeOf(v), a.leaf, func(k int) (uint32, uint32) { return addr[k], 0 })
		return
	}
	for i, o := range a.parts {
		e.set(v, a.leaf+i, nil, func(half int) { e.gatherLeaf(t, half, addr, o) })
	}
}

// gatherLeaf pushes a half of a leaf whose lanes lie at several addresses.
func (e *emitter) gatherLeaf(t *ir.Type, half int, addr [lanes]uint32, offset uint32) {
	if t.Kind != ir.Bool && bytesOf(t) >= 4 {
		e.gatherFrom(t, half, addr, func(int) uint32 { return offset })
		return
	}
	if isHalf(t) { // Convert four at once.
		raw := &ir.Type{Kind: ir.Int, Bits: 16}
		e.lanewise(raw, half, func(lane int) { e.Get(addr[lane]); e.loadScalar(raw, offset) })
		e.Call(e.fromHalf())
		return
	}
	e.lanewise(t, half, func(lane int) { e.Get(addr[lane]); e.loadScalar(t, offset) })
}

// loadRow loads four lanes that lie side by side. Code that gathers runs where the row is not
// in the buffer as a whole.
func (e *emitter) loadRow(v, p, root *ir.Value, a *access, t *ir.Type) {
	addr := e.openRow(p, root, a, 0)
	e.rowFrom(v, a, t, addr, 0)
	e.Else()
	e.gather(v, p, root, a, t)
	e.End()
}

// rowFrom loads four lanes that lie side by side from an address.
func (e *emitter) rowFrom(v *ir.Value, a *access, t *ir.Type, addr, offset uint32) {
	h := e.homeOf(v)
	switch len(a.parts) {
	case 4:
		e.transpose(h, a.leaf, func(k int) (uint32, uint32) { return addr, offset + uint32(16*k) })
	case 2:
		var x [2]uint32
		for i := range x {
			e.Get(addr)
			e.Memory(wasm.V128Load, 2, offset+uint32(16*i))
			x[i] = e.newLocal(wasm.V128)
		}
		for i, order := range [][16]byte{{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27}, {4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31}} {
			e.Get(x[0])
			e.Get(x[1])
			e.Shuffle(order)
			e.popLeaf(&h.leaves[a.leaf+i], 0)
		}
	default:
		e.loadFour(&h.leaves[a.leaf], t, addr, offset)
	}
}

// openRow begins an if that runs when a row of four lanes is in the buffer, and when all
// invocations of mask run if it is not 0. It returns a local with the address of the row.
func (e *emitter) openRow(p, root *ir.Value, a *access, mask uint32) uint32 {
	base, last := e.limit(root, lanes*a.span)
	narrow, _ := e.limit(root, a.span)
	e.pushAccess(p, 0, a)
	o := e.newLocal(wasm.I32)
	e.Get(o)
	e.Get(last)
	e.Op(wasm.I32LeU)
	e.Get(base) // The scratch room stands for a buffer that is too small.
	e.Get(narrow)
	e.Op(wasm.I32Eq)
	e.Op(wasm.I32And)
	if mask != 0 {
		e.Get(mask)
		e.Op(wasm.I32x4AllTrue)
		e.Op(wasm.I32And)
	}
	e.Open(wasm.If, wasm.Empty)
	e.Get(base)
	e.Get(o)
	e.Op(wasm.I32Add)
	return e.newLocal(wasm.I32)
}

// transpose sets four leaves from four vectors in memory, one for each lane: at returns a
// local with an address and an offset.
func (e *emitter) transpose(h *home, leaf int, at func(k int) (addr, offset uint32)) {
	var x [lanes]uint32
	for k := range x {
		addr, offset := at(k)
		e.Get(addr)
		e.Memory(wasm.V128Load, 2, offset)
		x[k] = e.newLocal(wasm.V128)
	}
	for i, r := range e.transposed(x) {
		e.Get(r)
		e.popLeaf(&h.leaves[leaf+i], 0)
	}
}

// transposed returns locals with the columns of a matrix of four rows.
func (e *emitter) transposed(x [lanes]uint32) (columns [lanes]uint32) {
	zip := func(a, b uint32, order [16]byte) uint32 {
		e.Get(a)
		e.Get(b)
		e.Shuffle(order)
		return e.newLocal(wasm.V128)
	}
	low := [16]byte{0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23}
	high := [16]byte{8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31}
	first := [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23}
	second := [16]byte{8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31}
	a, b, c, d := zip(x[0], x[1], low), zip(x[0], x[1], high), zip(x[2], x[3], low), zip(x[2], x[3], high)
	return [lanes]uint32{zip(a, c, first), zip(a, c, second), zip(b, d, first), zip(b, d, second)}
}

// loadFour sets a leaf from four scalars in memory.
func (e *emitter) loadFour(l *leafHome, t *ir.Type, addr, offset uint32) {
	for half := range vectors(t) {
		e.Get(addr)
		switch bytesOf(t) {
		case 1:
			e.Memory(wasm.V128Load32Zero, 0, offset)
			e.Op(pick([2]wasm.Op{wasm.I16x8ExtendLowI8x16U, wasm.I16x8ExtendLowI8x16S}, t.Signed))
			e.Op(pick([2]wasm.Op{wasm.I32x4ExtendLowI16x8U, wasm.I32x4ExtendLowI16x8S}, t.Signed))
		case 2:
			if e.Memory(pick([2]wasm.Op{wasm.V128Load16x4U, wasm.V128Load16x4S}, t.Signed && t.Kind == ir.Int), 1, offset); isHalf(t) {
				e.Call(e.fromHalf())
			}
		default:
			e.Memory(wasm.V128Load, 2, offset+uint32(16*half))
		}
		e.popLeaf(l, half)
	}
}

// storeShared stores a value to memory that invocations share. What lies outside of the
// buffer is not stored.
func (e *emitter) storeShared(p, x, root *ir.Value) {
	leaves := leavesOf(x.Type)
	sh := e.address(p)
	for _, a := range (layout{}).accesses(placeOf(p)) {
		t := leaves[a.leaf]
		if e.storeWindow(p, x, root, &a, t) {
			continue
		}
		if sh.varying || sh.isUniform() || !a.side(sh.stride, t) {
			if !e.scatterSplit(p, x, root, &a, t) {
				e.scatter(p, x, root, &a, t)
			}
			continue
		}
		if e.untested[p] && e.mask == 0 {
			offset := e.reached(p, root) + a.offset
			e.storeRow(x, &a, t, e.newLocal(wasm.I32), offset)
			continue
		}
		addr := e.openRow(p, root, &a, e.mask)
		e.storeRow(x, &a, t, addr, 0)
		e.Else()
		e.scatter(p, x, root, &a, t)
		e.End()
	}
}

// scatter stores each lane to its own address.
func (e *emitter) scatter(p, x, root *ir.Value, a *access, t *ir.Type) {
	base, last := e.limit(root, a.span)
	e.eachLane(func(k int) {
		addr := e.openInside(base, last, func() { e.pushAccess(p, k, a) })
		for i, part := range a.parts {
			e.Get(addr)
			e.pushLane(x, a.leaf+i, k)
			e.storeScalar(t, part)
		}
		e.End()
	})
}

// openInside begins an if that runs when an offset is inside of a buffer. It returns a local
// with the address. offset pushes the offset.
func (e *emitter) openInside(base, last uint32, offset func()) uint32 {
	offset()
	o := e.newLocal(wasm.I32)
	e.Get(o)
	e.Get(last)
	e.Op(wasm.I32LeU)
	e.Open(wasm.If, wasm.Empty)
	e.Get(base)
	e.Get(o)
	e.Op(wasm.I32Add)
	return e.newLocal(wasm.I32)
}

// storeRow stores four lanes side by side.
func (e *emitter) storeRow(x *ir.Value, a *access, t *ir.Type, addr, offset uint32) {
	get := func(i int) uint32 {
		e.pushVector(x, a.leaf+i, 0)
		return e.newLocal(wasm.V128)
	}
	switch len(a.parts) {
	case 4:
		for k, row := range e.transposed([lanes]uint32{get(0), get(1), get(2), get(3)}) {
			e.Get(addr)
			e.Get(row)
			e.Memory(wasm.V128Store, 2, offset+uint32(16*k))
		}
	case 2:
		u, v := get(0), get(1)
		for k, order := range [][16]byte{{0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23}, {8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31}} {
			e.Get(addr)
			e.Get(u)
			e.Get(v)
			e.Shuffle(order)
			e.Memory(wasm.V128Store, 2, offset+uint32(16*k))
		}
	default:
		e.storeFour(x, a.leaf, t, addr, offset)
	}
}

// storeFour stores four scalars.
func (e *emitter) storeFour(x *ir.Value, leaf int, t *ir.Type, addr, offset uint32) {
	for half := range vectors(t) {
		e.Get(addr)
		e.pushVector(x, leaf, half)
		switch bytesOf(t) {
		case 1:
			v := e.newLocal(wasm.V128)
			e.Get(v)
			e.Get(v)
			e.Shuffle([16]byte{0, 4, 8, 12})
			e.MemoryLane(wasm.V128Store32Lane, 0, offset, 0)
		case 2:
			if isHalf(t) {
				e.Call(e.toHalf())
			}
			v := e.newLocal(wasm.V128)
			e.Get(v)
			e.Get(v)
			e.Shuffle([16]byte{0, 1, 4, 5, 8, 9, 12, 13})
			e.MemoryLane(wasm.V128Store64Lane, 1, offset, 0)
		default:
			e.Memory(wasm.V128Store, 2, offset+uint32(16*half))
		}
	}
}
