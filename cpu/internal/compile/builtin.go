package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// loadBuiltin loads a built-in input, or a component of one.
func (e *emitter) loadBuiltin(v, p, root *ir.Value) {
	number := root.Var.Builtin
	if p.Op == ir.AccessChain {
		k, ok := constantLeaf(p.Args[1], 0)
		if !ok {
			unsupportedf("a component of a built-in input at an index that is no constant")
		}
		k = min(k, uint64(countLeaves(root.Var.Type)-1))
		e.builtin(v, 0, number, int(k))
		return
	}
	for i := range countLeaves(v.Type) {
		e.builtin(v, i, number, i)
	}
}

// builtin sets leaf i of a value to a component of a built-in input.
func (e *emitter) builtin(v *ir.Value, i int, number uint32, c int) {
	size := e.prog.LocalSize
	zero := func() { e.I32Const(0) }
	scalar := func(f func()) { e.set(v, i, f, func(int) { f(); e.Op(wasm.I32x4Splat) }) }
	switch number {
	case builtinNumWorkgroups:
		scalar(func() { e.Get(e.groups[c]) })
	case builtinWorkgroupSize:
		scalar(func() { e.I32Const(int32(size[c])) })
	case builtinWorkgroupID:
		scalar(func() { e.Get(e.group[c]) })
	case builtinLocalIndex:
		scalar(e.pushLocalIndex)
	case builtinInvocation:
		scalar(zero)
	case builtinSubgroupSize:
		scalar(func() { e.I32Const(lanes) })
	case builtinNumSubgroups:
		scalar(func() { e.I32Const(int32(e.count)) })
	case builtinSubgroupID:
		scalar(func() {
			e.pushLocalIndex()
			e.I32Const(2)
			e.Op(wasm.I32ShrU)
		})
	case builtinLocalID, builtinGlobalID:
		before := uint32(1)
		for _, n := range size[:c] {
			before *= n
		}
		local := func(push func()) {
			if size[c] == 1 {
				e.I32Const(0)
				return
			}
			push()
			if before > 1 {
				e.I32Const(int32(before))
				e.Op(wasm.I32DivU)
			}
			if before*size[c] < size[0]*size[1]*size[2] {
				by, rest := e.Local(wasm.I32), e.Local(wasm.I32)
				e.I32Const(int32(size[c]))
				e.Set(by)
				e.divmod(by, rest)
				e.Op(wasm.Drop)
				e.Get(rest)
			}
		}
		add := func() {
			if number == builtinGlobalID {
				e.Get(e.group[c])
				e.I32Const(int32(size[c]))
				e.Op(wasm.I32Mul)
				e.Op(wasm.I32Add)
			}
		}
		e.set(v, i, func() { local(e.pushLocalIndex); add() }, func(int) {
			e.lanewise(v.Type.Scalar(), 0, func(lane int) {
				local(func() {
					e.pushLocalIndex()
					e.I32Const(int32(lane))
					e.Op(wasm.I32Add)
				})
				add()
			})
		})
	case builtinEqMask, builtinGeMask, builtinGtMask, builtinLeMask, builtinLtMask:
		words := map[uint32][4]uint32{builtinEqMask: {1, 2, 4, 8}, builtinGeMask: {15, 14, 12, 8}, builtinGtMask: {14, 12, 8, 0}, builtinLeMask: {1, 3, 7, 15}, builtinLtMask: {0, 1, 3, 7}}[number]
		e.set(v, i, zero, func(int) {
			if c > 0 {
				words = [4]uint32{}
			}
			e.V128Const(words)
		})
	default:
		unsupportedf("the built-in input %d", number)
	}
}
