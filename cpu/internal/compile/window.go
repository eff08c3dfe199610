package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// inFrame returns the offset in the frame of an access to push constants or shared memory at
// a constant index.
func (e *emitter) inFrame(p, root *ir.Value, a *access) (uint32, bool) {
	b := e.bufs[root.ID]
	offset, ok := constantOffset(p)
	offset += int64(a.offset)
	if !ok || !b.fixed || offset < 0 || offset+int64(a.span) > int64(b.size) {
		return 0, false
	}
	return b.base + uint32(offset), true
}

// loadWindow loads an access through a window, and reports whether it has one.
func (e *emitter) loadWindow(v, p, root *ir.Value, a *access, t *ir.Type) bool {
	pointer, offset, at, ok := e.window(p, root, a)
	if !ok {
		return false
	}
	switch by := uint32(at.by); {
	case by == 0:
		for i, o := range a.parts {
			load := func() { e.Get(pointer); e.loadScalar(t, offset+o) }
			e.set(v, a.leaf+i, load, func(int) { load(); e.splat(t) })
		}
	case a.side(at.by, t):
		e.rowFrom(v, a, t, pointer, offset)
	case len(a.parts) == 4 && bytesOf(t) == 4 && a.dense(t):
		e.transpose(e.homeOf(v), a.leaf, func(k int) (uint32, uint32) { return pointer, offset + uint32(k)*by })
	default:
		for i, o := range a.parts {
			e.set(v, a.leaf+i, nil, func(half int) { e.gatherBy(t, half, pointer, offset+o, by) })
		}
	}
	return true
}

// gatherBy pushes a half of a leaf whose lanes are by bytes apart.
func (e *emitter) gatherBy(t *ir.Type, half int, pointer, offset, by uint32) {
	if t.Kind != ir.Bool && bytesOf(t) >= 4 {
		e.gatherFrom(t, half, [lanes]uint32{pointer, pointer, pointer, pointer}, func(lane int) uint32 { return offset + uint32(lane)*by })
		return
	}
	raw := t
	if isHalf(t) { // Convert four at once.
		raw = &ir.Type{Kind: ir.Int, Bits: 16}
	}
	e.lanewise(raw, half, func(lane int) { e.Get(pointer); e.loadScalar(raw, offset+uint32(lane)*by) })
	if isHalf(t) {
		e.Call(e.fromHalf())
	}
}

// storeWindow stores an access through a window, and reports whether it has one.
func (e *emitter) storeWindow(p, x, root *ir.Value, a *access, t *ir.Type) bool {
	pointer, offset, at, ok := e.window(p, root, a)
	if !ok {
		return false
	}
	row := a.side(at.by, t)
	if row && e.mask != 0 {
		e.Get(e.mask)
		e.Op(wasm.I32x4AllTrue)
		e.Open(wasm.If, wasm.Empty)
	}
	if row {
		e.storeRow(x, a, t, pointer, offset)
	}
	if row && e.mask != 0 {
		e.Else()
	}
	if !row || e.mask != 0 {
		e.eachLane(func(k int) {
			for i, part := range a.parts {
				e.Get(pointer)
				e.pushLane(x, a.leaf+i, k)
				e.storeScalar(t, offset+uint32(k)*uint32(at.by)+part)
			}
		})
	}
	if row && e.mask != 0 {
		e.End()
	}
	return true
}
