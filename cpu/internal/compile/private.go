package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// privateAddress pushes the address of the row of a private variable in memory that an
// offset, which is the same in all lanes, points at.
func (e *emitter) privateAddress(p, root *ir.Value, span int64) {
	d := e.vars[root]
	e.Get(e.slots)
	e.pushOffset(p, 0)
	e.clampOffset(d, span)
	e.Op(wasm.I32Add)
}

// clampOffset brings the offset on the stack into a private variable, and multiplies it by
// the number of vectors, because rows of all vectors lie side by side.
func (e *emitter) clampOffset(d *variable, span int64) {
	last := e.newLocal(wasm.I32)
	e.Get(last)
	e.I32Const(int32(int64(d.size) - span))
	e.Get(last)
	e.I32Const(int32(int64(d.size) - span))
	e.Op(wasm.I32LtU)
	e.Op(wasm.Select)
	if e.count > 1 {
		e.I32Const(int32(e.count))
		e.Op(wasm.I32Mul)
	}
}

// pushOffset pushes the offset of an address in one lane.
func (e *emitter) pushOffset(p *ir.Value, lane int) {
	for p.Op == ir.CopyObject {
		p = p.Args[0]
	}
	if p.Op == ir.Variable {
		e.I32Const(0)
		return
	}
	e.pushLane(p, 0, lane)
}

// loadPrivate loads from a private variable in memory.
func (e *emitter) loadPrivate(v, p, root *ir.Value) {
	d := e.vars[root]
	l := layout{private: true}
	offsets := l.offsets(placeOf(p))
	span := l.size(placeOf(p))
	leaves := leavesOf(v.Type)
	at := func(i int, half int) uint32 {
		return d.offset + uint32(offsets[i])*e.count + uint32(half)*e.slotBytes()
	}
	if e.address(p).isUniform() {
		e.privateAddress(p, root, span)
		base := e.newLocal(wasm.I32)
		for i, t := range leaves {
			e.set(v, i, func() {
				e.Get(base)
				e.Memory(wasm.V128Load, 4, at(i, 0))
				e.extract(t, 0)
			}, func(half int) {
				e.Get(base)
				e.Memory(wasm.V128Load, 4, at(i, half))
			})
		}
		return
	}
	var bases [lanes]uint32
	for k := range lanes {
		e.Get(e.slots)
		e.pushOffset(p, k)
		e.clampOffset(d, span)
		e.Op(wasm.I32Add)
		bases[k] = e.newLocal(wasm.I32)
	}
	for i, t := range leaves {
		e.set(v, i, func() { panic("compile: one value from several addresses") }, func(half int) {
			e.gatherFrom(t, half, bases, func(lane int) uint32 {
				return at(i, 0) + e.laneOffset(t, lane)
			})
		})
	}
}

// laneOffset is the distance of a lane in a row of private memory.
func (e *emitter) laneOffset(t *ir.Type, lane int) uint32 {
	if isWide(t) {
		return uint32(lane/2)*e.slotBytes() + uint32(lane%2)*8
	}
	return 4 * uint32(lane)
}

// gatherFrom pushes a half of a vector whose lanes are words of registers at several
// addresses.
func (e *emitter) gatherFrom(t *ir.Type, half int, bases [lanes]uint32, offset func(lane int) uint32) {
	if isWide(t) {
		e.Get(bases[2*half])
		e.Memory(wasm.V128Load64Zero, 3, offset(2*half))
		x := e.newLocal(wasm.V128)
		e.Get(bases[2*half+1])
		e.Get(x)
		e.MemoryLane(wasm.V128Load64Lane, 3, offset(2*half+1), 1)
		return
	}
	e.Get(bases[0])
	e.Memory(wasm.V128Load32Zero, 2, offset(0))
	for k := 1; k < lanes; k++ {
		x := e.newLocal(wasm.V128)
		e.Get(bases[k])
		e.Get(x)
		e.MemoryLane(wasm.V128Load32Lane, 2, offset(k), byte(k))
	}
}

// address is the shape of an address.
func (e *emitter) address(p *ir.Value) shape { return e.s.scalar(p) }

// storePrivate stores to a private variable in memory.
func (e *emitter) storePrivate(p, x, root *ir.Value) {
	d := e.vars[root]
	l := layout{private: true}
	offsets := l.offsets(placeOf(p))
	span := l.size(placeOf(p))
	at := func(i, half int) uint32 {
		return d.offset + uint32(offsets[i])*e.count + uint32(half)*e.slotBytes()
	}
	if e.address(p).isUniform() {
		e.privateAddress(p, root, span)
		base := e.newLocal(wasm.I32)
		// If the invocations that have not returned all hold the same, it is in all lanes: loads
		// take that of lane 0.
		same := !e.s.vars[root].varying
		for i, t := range leavesOf(x.Type) {
			for half := range vectors(t) {
				e.Get(base)
				e.pushVector(x, i, half)
				if e.mask != 0 && !same {
					e.Get(base)
					e.Memory(wasm.V128Load, 4, at(i, half))
					e.pushLanes(e.mask, t, half)
					e.Choose()
				}
				e.Memory(wasm.V128Store, 4, at(i, half))
			}
		}
		return
	}
	e.eachLane(func(k int) {
		e.Get(e.slots)
		e.pushOffset(p, k)
		e.clampOffset(d, span)
		e.Op(wasm.I32Add)
		base := e.newLocal(wasm.I32)
		for i, t := range leavesOf(x.Type) {
			e.Get(base)
			if isWide(t) {
				e.pushVector(x, i, k/2)
				e.MemoryLane(wasm.V128Store64Lane, 3, at(i, 0)+e.laneOffset(t, k), byte(k%2))
				continue
			}
			e.pushVector(x, i, 0)
			e.MemoryLane(wasm.V128Store32Lane, 2, at(i, 0)+e.laneOffset(t, k), byte(k))
		}
	})
}

// eachLane calls f for each lane, in code that runs if the invocation does.
func (e *emitter) eachLane(f func(k int)) {
	if e.mask == 0 {
		for k := range lanes {
			f(k)
		}
		return
	}
	e.Get(e.mask)
	e.Op(wasm.I32x4Bitmask)
	bits := e.newLocal(wasm.I32)
	for k := range lanes {
		e.Get(bits)
		e.I32Const(1 << k)
		e.Op(wasm.I32And)
		e.Open(wasm.If, wasm.Empty)
		f(k)
		e.End()
	}
}
