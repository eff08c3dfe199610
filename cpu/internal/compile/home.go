package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// homeOf returns the home of a value, which is declared when it is first asked for.
func (e *emitter) homeOf(v *ir.Value) *home {
	if h := e.homes[v]; h != nil {
		return h
	}
	h := &home{piece: e.number[v]}
	if v.Op == ir.Phi && e.s.isOuterPhi(v.Block) {
		h.piece = noPiece // Each of the blocks before it has its own loop over the vectors.
	}
	for i, t := range leavesOf(v.Type) {
		sh := e.s.of(v)[i]
		l := e.newLeaf(t, sh)
		if e.shared[v] && sh.local {
			l.slot = e.reserve(16 * uint32(vectors(t)) * e.count)
		}
		h.leaves = append(h.leaves, l)
	}
	e.homes[v] = h
	return h
}

// newLeaf declares the local variables of a leaf.
func (e *emitter) newLeaf(t *ir.Type, sh shape) leafHome {
	l := leafHome{t: t, shape: sh}
	if !sh.varying {
		l.local[0] = e.Local(scalarType(t))
		return l
	}
	for i := range vectors(t) {
		l.local[i] = e.Local(wasm.V128)
	}
	return l
}

// slotAccess are the loads and stores of scalars in the frame.
var slotAccess = map[wasm.ValType]struct{ load, store wasm.Op }{
	wasm.I32: {wasm.I32Load, wasm.I32Store}, wasm.I64: {wasm.I64Load, wasm.I64Store},
	wasm.F32: {wasm.F32Load, wasm.F32Store}, wasm.F64: {wasm.F64Load, wasm.F64Store},
}

// fromMemory reports whether a leaf must be loaded because another piece has computed it.
func (e *emitter) fromMemory(h *home, l *leafHome) bool {
	return l.slot > 0 && (h.piece != e.piece || h.piece == noPiece)
}

// slotBytes is the distance of the two halves of a wide leaf in the frame.
func (e *emitter) slotBytes() uint32 { return 16 * e.count }

// push pushes a leaf that is the same in all lanes, or the first lane's of one with a
// stride.
func (e *emitter) push(v *ir.Value, i int) {
	if v.Op == ir.Const || v.Op == ir.Undef {
		e.constant(leavesOf(v.Type)[i], leafBits(v, i))
		return
	}
	if v.Op == ir.Variable {
		e.I32Const(0) // the beginning of the variable
		return
	}
	if v.Op == ir.AccessChain {
		if offset, ok := constantOffset(v); ok {
			e.I32Const(int32(offset))
			return
		}
	}
	h := e.homeOf(v)
	l := &h.leaves[i]
	if l.shape.varying {
		panic("compile: a scalar is wanted of a value that differs")
	}
	if e.fromMemory(h, l) {
		e.Get(e.slots)
		e.Memory(slotAccess[scalarType(l.t)].load, 2, l.slot)
		return
	}
	e.Get(l.local[0])
}

// constant pushes a scalar of a type.
func (e *emitter) constant(t *ir.Type, bits uint64) {
	switch {
	case t.Kind == ir.Float && t.Bits == 64:
		e.F64Const(float64FromBits(bits))
	case t.Kind == ir.Float:
		e.F32Const(floatBits(t, bits))
	case t.Kind == ir.Int && t.Bits == 64:
		e.I64Const(int64(bits))
	default:
		e.I32Const(int32(intBits(t, bits)))
	}
}

// shapeOf is the shape of a leaf.
func (e *emitter) shapeOf(v *ir.Value, i int) shape { return e.s.of(v)[i] }

// pushVector pushes four lanes of a leaf, or half of them if it is wide: 0 or 1.
func (e *emitter) pushVector(v *ir.Value, i, half int) {
	t := leavesOf(v.Type)[i]
	if v.Op == ir.Const || v.Op == ir.Undef {
		e.constantVector(t, leafBits(v, i))
		return
	}
	if sh := e.shapeOf(v, i); !sh.varying {
		if at := (leafOf{v, i}); e.fixed[v] {
			e.vectorUses[at] = true
			if l := e.splats[at]; l != 0 {
				e.Get(l)
				return
			}
		}
		key := leafOf{v, i}
		if l, ok := e.recent[key]; ok && e.caching && !isWide(t) {
			e.Get(l)
			return
		}
		e.push(v, i)
		e.splat(t)
		if sh.stride != 0 {
			s := uint32(sh.stride)
			e.V128Const([4]uint32{0, s, 2 * s, 3 * s})
			e.Op(wasm.I32x4Add)
		}
		if e.caching && e.Depth() == e.blockDepth {
			l := e.Local(wasm.V128)
			e.Tee(l)
			e.recent[key] = l
		}
		return
	}
	h := e.homeOf(v)
	l := &h.leaves[i]
	if e.fromMemory(h, l) {
		e.Get(e.slots)
		e.Memory(wasm.V128Load, 4, l.slot+uint32(half)*e.slotBytes())
		return
	}
	e.Get(l.local[half])
}

// constantVector pushes a constant in all lanes.
func (e *emitter) constantVector(t *ir.Type, bits uint64) {
	if isWide(t) {
		low, high := uint32(bits), uint32(bits>>32)
		e.V128Const([4]uint32{low, high, low, high})
		return
	}
	word := intBits(t, bits)
	switch t.Kind {
	case ir.Float:
		word = floatBits(t, bits)
	case ir.Bool:
		word = -(word & 1)
	}
	e.V128Const([4]uint32{word, word, word, word})
}

// splat makes a vector of the scalar on the stack.
func (e *emitter) splat(t *ir.Type) {
	switch scalarType(t) {
	case wasm.I32:
		e.Op(wasm.I32x4Splat)
		if t.Kind == ir.Bool { // 0 or 1 becomes a mask.
			e.Op(wasm.I32x4Neg)
		}
	case wasm.I64:
		e.Op(wasm.I64x2Splat)
	case wasm.F32:
		e.Op(wasm.F32x4Splat)
	default:
		e.Op(wasm.F64x2Splat)
	}
}

// popLeaf sets a local variable from the stack, and its slot in memory if it has one.
func (e *emitter) popLeaf(l *leafHome, half int) {
	e.Set(l.local[half])
	if l.slot == 0 {
		return
	}
	e.Get(e.slots)
	e.Get(l.local[half])
	if l.shape.varying {
		e.Memory(wasm.V128Store, 4, l.slot+uint32(half)*e.slotBytes())
		return
	}
	e.Memory(slotAccess[scalarType(l.t)].store, 2, l.slot)
}

// set computes a leaf of a value: scalar pushes it as a scalar, vector pushes a half of its
// lanes.
func (e *emitter) set(v *ir.Value, i int, scalar func(), vector func(half int)) {
	h := e.homeOf(v)
	l := &h.leaves[i]
	if !l.shape.varying {
		scalar()
		e.popLeaf(l, 0)
		return
	}
	for half := range vectors(l.t) {
		vector(half)
	}
	for half := vectors(l.t) - 1; half >= 0; half-- {
		e.popLeaf(l, half)
	}
}

// maskOf pushes the mask of the invocations that run.
func (e *emitter) pushMask() {
	if e.mask == 0 {
		e.V128Const([4]uint32{^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)})
		return
	}
	e.Get(e.mask)
}

// newLocal sets a new local variable from the stack.
func (e *emitter) newLocal(t wasm.ValType) uint32 {
	l := e.Local(t)
	e.Set(l)
	return l
}

// helper returns a function of the module, which write declares when it is first asked for.
func (e *emitter) helper(name string, t wasm.FuncType, write func(f *wasm.Func)) uint32 {
	if i, ok := e.helpers[name]; ok {
		return i
	}
	f := e.module.Func(t)
	e.helpers[name] = f.Index()
	write(f)
	return f.Index()
}
