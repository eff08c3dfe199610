package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// buffer says where a variable in memory that invocations share begins, and how long it is.
type buffer struct {
	// base and size are locals with the address and the number of bytes. If fixed is set, the
	// variable is in the frame instead, at offset base, and size is the number.
	base, size uint32
	fixed      bool
}

// limitKey names an access of some bytes to a buffer.
type limitKey struct {
	root, bytes uint32
}

// declare finds places for the variables.
func (e *emitter) declare() {
	for _, v := range e.prog.Vars {
		switch d := v.Var; d.Class {
		case ir.Workgroup:
			l := layout{}
			size := uint32(l.size(place{t: d.Type}))
			e.bufs[v.ID] = &buffer{base: e.reserve(size), size: size, fixed: true}
		case ir.PushConstant:
			e.bufs[v.ID] = &buffer{base: FramePush, size: 128, fixed: true}
		case ir.StorageBuffer, ir.Uniform:
			b := &buffer{base: e.Local(wasm.I32), size: e.Local(wasm.I32)}
			e.Get(paramFrame)
			e.Memory(wasm.I32Load, 2, FrameBindings+8*d.Slot)
			e.Set(b.base)
			e.Get(paramFrame)
			e.Memory(wasm.I32Load, 2, FrameBindings+8*d.Slot+4)
			e.Set(b.size)
			e.bufs[v.ID] = b
		case ir.Private:
		case ir.Input:
			if !d.IsBuiltin {
				unsupportedf("an input that is not built in")
			}
		default:
			unsupportedf("variables of storage class %d", d.Class)
		}
	}
	e.declareAllPrivate()
}

// declareAllPrivate finds places for the variables of an invocation.
func (e *emitter) declareAllPrivate() {
	addressed := e.addressed()
	for _, v := range slices.Concat(e.prog.Vars, e.prog.Entry.Vars) {
		if isPrivate(v) {
			e.declarePrivate(v, addressed[v])
		}
	}
}

// addressed lists the private variables that are reached by indices that are no constants.
func (e *emitter) addressed() map[*ir.Value]bool {
	list := map[*ir.Value]bool{}
	for _, b := range e.prog.Entry.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.AccessChain && slices.ContainsFunc(stepsOf(v), func(s step) bool { return s.index != nil }) {
				list[rootOf(v)] = true
			}
		}
	}
	return list
}

// declarePrivate finds a place for a variable of an invocation: local variables if there are
// few and all indices are constants, and memory otherwise.
func (e *emitter) declarePrivate(v *ir.Value, addressed bool) {
	leaves := leavesOf(v.Var.Type)
	d := &variable{memory: e.s.barriers || addressed || len(leaves) > maxLocals}
	e.vars[v] = d
	if d.memory {
		// Each leaf has a row of the vectors of the workgroup.
		d.size = uint32((layout{private: true}).size(place{t: v.Var.Type}))
		d.offset = e.reserve(d.size * e.count)
		return
	}
	for _, t := range leaves {
		d.leaves = append(d.leaves, e.newLeaf(t, e.s.vars[v]))
	}
}

// maxLocals is the number of scalars up to which a private variable is in local variables.
const maxLocals = 64

// initialise sets the variables that have an initial value.
func (e *emitter) initialise() {
	for _, v := range slices.Concat(e.prog.Vars, e.prog.Entry.Vars) {
		if isPrivate(v) && v.Var.Init != nil {
			e.store(v, v.Var.Init)
		}
	}
}

// chain computes an address: the distance in bytes from the beginning of the variable. An
// address in local variables needs none.
func (e *emitter) chain(v *ir.Value) {
	root := rootOf(v)
	if root == nil {
		unsupportedf("a pointer to a choice of variables")
	}
	if root.Var.IsBuiltin || isPrivate(root) && !e.vars[root].memory {
		return
	}
	if _, constant := constantOffset(v); constant {
		return
	}
	steps := stepsOf(v)
	e.set(v, 0, func() {
		e.push(v.Args[0], 0)
		for _, s := range steps {
			if s.index == nil {
				continue
			}
			e.pushIndex(s.index)
			e.I32Const(int32(s.unit))
			e.Op(wasm.I32Mul)
			e.Op(wasm.I32Add)
		}
		e.I32Const(int32(offsetOf(steps)))
		e.Op(wasm.I32Add)
	}, func(int) {
		e.pushVector(v.Args[0], 0, 0)
		for _, s := range steps {
			if s.index == nil {
				continue
			}
			if e.pushVector(s.index, 0, 0); isWide(s.index.Type) {
				e.pushVector(s.index, 0, 1)
				e.narrow()
			}
			splatConst(e.Func, uint32(s.unit))
			e.Op(wasm.I32x4Mul)
			e.Op(wasm.I32x4Add)
		}
		splatConst(e.Func, uint32(offsetOf(steps)))
		e.Op(wasm.I32x4Add)
	})
}

// constantOffset returns the offset of an address whose indices are all constants.
func constantOffset(p *ir.Value) (offset int64, ok bool) {
	for ; p.Op == ir.AccessChain || p.Op == ir.CopyObject; p = p.Args[0] {
		if p.Op == ir.CopyObject {
			continue
		}
		for _, s := range stepsOf(p) {
			if s.index != nil {
				return 0, false
			}
			offset += s.offset
		}
	}
	return offset, p.Op == ir.Variable
}

// offsetOf is the sum of the constant steps.
func offsetOf(steps []step) (n int64) {
	for _, s := range steps {
		n += s.offset
	}
	return n
}

// leafIndex is the number of the first leaf of a private variable that an address with
// constant indices points at.
func leafIndex(p *ir.Value) int {
	n := 0
	for ; p.Op == ir.AccessChain || p.Op == ir.CopyObject; p = p.Args[0] {
		if p.Op == ir.CopyObject {
			continue
		}
		t := placeOf(p.Args[0]).t
		for _, i := range p.Args[1:] {
			k, _ := constantLeaf(i, 0)
			part, before := partOf(t, uint32(k))
			n, t = n+before, part
		}
	}
	return n
}

// limit returns locals with the address of a buffer and the largest offset at which an
// access of some bytes is inside of it. If the buffer is smaller, they are those of the
// scratch room in the frame.
func (e *emitter) limit(root *ir.Value, bytes uint32) (base, last uint32) {
	key := limitKey{root.ID, bytes}
	if known := e.limits[key]; known != 0 {
		return known, known + 1
	}
	e.limits[key] = e.Local(wasm.I32)
	e.wanted = append(e.wanted, key)
	return e.limits[key], e.Local(wasm.I32)
}

// setLimits computes what limit returns, for the accesses that the first writing of the
// function has found.
func (e *emitter) setLimits(wanted []limitKey) {
	for _, key := range wanted {
		b, base, last := e.bufs[key.root], e.Local(wasm.I32), e.Local(wasm.I32)
		e.limits[key] = base
		bytes := int32(key.bytes)
		if b.fixed {
			at, end := b.base, int32(b.size)-bytes
			if end < 0 {
				at, end = e.scratch, 0
			}
			e.Get(paramFrame)
			e.I32Const(int32(at))
			e.Op(wasm.I32Add)
			e.Set(base)
			e.I32Const(end)
			e.Set(last)
			continue
		}
		fits := func() {
			e.Get(b.size)
			e.I32Const(bytes)
			e.Op(wasm.I32GeU)
			e.Op(wasm.Select)
		}
		e.Get(b.base)
		e.Get(paramFrame)
		e.I32Const(int32(e.scratch))
		e.Op(wasm.I32Add)
		fits()
		e.Set(base)
		e.Get(b.size)
		e.I32Const(bytes)
		e.Op(wasm.I32Sub)
		e.I32Const(0)
		fits()
		e.Set(last)
	}
}

// load loads a value.
func (e *emitter) load(v *ir.Value) {
	if v.Type.Kind == ir.TexelBuffer {
		return
	}
	p := v.Args[0]
	root := rootOf(p)
	switch {
	case root == nil:
		unsupportedf("a pointer to a choice of variables")
	case root.Var.IsBuiltin:
		e.loadBuiltin(v, p, root)
	case isPrivate(root) && !e.vars[root].memory:
		first := leafIndex(p)
		for i := range countLeaves(v.Type) {
			l := &e.vars[root].leaves[first+i]
			e.set(v, i, func() { e.Get(l.local[0]) }, func(half int) { e.getLeaf(l, half) })
		}
	case isPrivate(root):
		e.loadPrivate(v, p, root)
	default:
		e.loadShared(v, p, root)
	}
}

// getLeaf pushes four lanes of a leaf in local variables.
func (e *emitter) getLeaf(l *leafHome, half int) {
	if l.shape.varying {
		e.Get(l.local[half])
		return
	}
	e.Get(l.local[0])
	e.splat(l.t)
	if s := uint32(l.shape.stride); s != 0 {
		e.V128Const([4]uint32{0, s, 2 * s, 3 * s})
		e.Op(wasm.I32x4Add)
	}
}

// store stores a value for the invocations that run.
func (e *emitter) store(p, x *ir.Value) {
	root := rootOf(p)
	switch {
	case root == nil:
		unsupportedf("a pointer to a choice of variables")
	case isPrivate(root) && !e.vars[root].memory:
		first := leafIndex(p)
		for i := range countLeaves(x.Type) {
			l := &e.vars[root].leaves[first+i]
			if !l.shape.varying {
				e.push(x, i)
				e.Set(l.local[0])
				continue
			}
			for half := range vectors(l.t) {
				e.pushVector(x, i, half)
				if e.mask != 0 {
					e.Get(l.local[half])
					e.pushLanes(e.mask, l.t, half)
					e.Choose()
				}
				e.Set(l.local[half])
			}
		}
	case isPrivate(root):
		e.storePrivate(p, x, root)
	default:
		e.storeShared(p, x, root)
	}
}

// arrayLength computes the number of elements of the array at the end of a buffer.
func (e *emitter) arrayLength(v *ir.Value) {
	root := rootOf(v.Args[0])
	b := e.bufs[root.ID]
	t := root.Var.Type
	l := layout{}
	i := v.Literals[0]
	part, _, offset := l.part(place{t: t}, i)
	_, unit, _ := l.part(part, 0)
	e.set(v, 0, func() {
		e.Get(b.size)
		e.I32Const(int32(offset))
		e.Op(wasm.I32Sub)
		e.I32Const(0)
		e.Get(b.size)
		e.I32Const(int32(offset))
		e.Op(wasm.I32GeU)
		e.Op(wasm.Select)
		e.I32Const(int32(max(unit, 1)))
		e.Op(wasm.I32DivU)
	}, nil)
}
