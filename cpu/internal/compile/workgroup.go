package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// zeroShared fills the shared memory that begins as zeros. Vulkan allows no other initial
// value there.
func (e *emitter) zeroShared() {
	for _, v := range e.prog.Vars {
		if v.Var.Class != ir.Workgroup || v.Var.Init == nil {
			continue
		}
		b := e.bufs[v.ID]
		e.Get(paramFrame)
		e.I32Const(int32(b.base))
		e.Op(wasm.I32Add)
		e.I32Const(0)
		e.I32Const(int32(b.size))
		e.MemoryFill()
	}
}

// readsClock reports whether a shader asks for the time.
func readsClock(p *ir.Program) bool {
	for _, b := range p.Entry.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.ReadClockKHR {
				return true
			}
		}
	}
	return false
}

// readClock writes ReadClockKHR. The result is one integer of 64 bits, or two of 32.
func (e *emitter) readClock(v *ir.Value) {
	e.Call(e.clock)
	now := e.newLocal(wasm.I64)
	if countLeaves(v.Type) == 1 {
		e.set(v, 0, func() { e.Get(now) }, nil)
		return
	}
	for i := range 2 {
		e.set(v, i, func() {
			e.Get(now)
			e.I64Const(int64(32 * i))
			e.Op(wasm.I64ShrU)
			e.Op(wasm.I32WrapI64)
		}, nil)
	}
}
