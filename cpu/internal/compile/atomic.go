package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// atomicOps are the operations that WebAssembly has, for 32 and 64 bits.
var atomicOps = map[ir.Op][2]wasm.Op{
	ir.AtomicIAdd:       {wasm.I32AtomicRmwAdd, wasm.I64AtomicRmwAdd},
	ir.AtomicIIncrement: {wasm.I32AtomicRmwAdd, wasm.I64AtomicRmwAdd},
	ir.AtomicISub:       {wasm.I32AtomicRmwSub, wasm.I64AtomicRmwSub},
	ir.AtomicIDecrement: {wasm.I32AtomicRmwSub, wasm.I64AtomicRmwSub},
	ir.AtomicAnd:        {wasm.I32AtomicRmwAnd, wasm.I64AtomicRmwAnd},
	ir.AtomicOr:         {wasm.I32AtomicRmwOr, wasm.I64AtomicRmwOr},
	ir.AtomicXor:        {wasm.I32AtomicRmwXor, wasm.I64AtomicRmwXor},
	ir.AtomicExchange:   {wasm.I32AtomicRmwXchg, wasm.I64AtomicRmwXchg},
}

// atomic writes an operation on memory that other invocations change. The invocations of a
// vector run one after the other.
func (e *emitter) atomic(v *ir.Value) {
	p := v.Args[0]
	root := rootOf(p)
	if root == nil || isPrivate(root) || root.Var.IsBuiltin {
		unsupportedf("an atomic operation outside of buffers and shared memory")
	}
	t := placeOf(p).t
	if t.Kind != ir.Int && t.Kind != ir.Float || t.Bits < 32 {
		unsupportedf("an atomic operation on fewer than 32 bits")
	}
	base, last := e.limit(root, bytesOf(t))
	result := v.Type != nil && v.Type.Kind != ir.Void
	var vectors [2]uint32
	if result {
		for i := range vectors {
			vectors[i] = e.Local(wasm.V128)
		}
	}
	values := e.atomicValues(v)
	e.eachLane(func(k int) {
		e.Get(e.openInside(base, last, func() { e.pushOffset(p, k) }))
		e.I32Const(-int32(bytesOf(t))) // An access that is not aligned would trap.
		e.Op(wasm.I32And)
		addr := e.newLocal(wasm.I32)
		e.atomicLane(v.Op, t, addr, func(n int) { e.pushLane(values[n], 0, k); e.rawOf(t) })
		if result {
			e.ofRaw(t)
			x := e.newLocal(scalarType(t))
			half := 0
			if isWide(t) {
				half = k / 2
			}
			e.Get(vectors[half])
			e.Get(x)
			e.replace(t, k)
			e.Set(vectors[half])
		}
		e.End()
	})
	if result {
		e.set(v, 0, nil, func(half int) { e.Get(vectors[half]) })
	}
}

// atomicValues lists the operands that are values to compute with. The scopes and the kinds
// of ordering are constants that do not matter: everything is sequentially consistent.
func (e *emitter) atomicValues(v *ir.Value) []*ir.Value {
	switch v.Op {
	case ir.AtomicLoad, ir.AtomicIIncrement, ir.AtomicIDecrement:
		return nil
	case ir.AtomicCompareExchange:
		return v.Args[len(v.Args)-2:] // the new value, and the one to compare with
	}
	return v.Args[len(v.Args)-1:]
}

// atomicLane writes the operation of one invocation. It leaves the old bits, if the
// operation has a result.
func (e *emitter) atomicLane(op ir.Op, t *ir.Type, addr uint32, push func(n int)) {
	align := uint32(2)
	wide := 0
	if isWide(t) {
		align, wide = 3, 1
	}
	access := func(ops [2]wasm.Op) { e.Memory(ops[wide], align, 0) }
	load := [2]wasm.Op{wasm.I32AtomicLoad, wasm.I64AtomicLoad}
	swap := [2]wasm.Op{wasm.I32AtomicRmwCmpxchg, wasm.I64AtomicRmwCmpxchg}
	e.Get(addr)
	switch op {
	case ir.AtomicLoad:
		access(load)
		return
	case ir.AtomicStore:
		push(0)
		access([2]wasm.Op{wasm.I32AtomicStore, wasm.I64AtomicStore})
		return
	case ir.AtomicCompareExchange:
		push(1)
		push(0)
		access(swap)
		return
	case ir.AtomicIIncrement, ir.AtomicIDecrement:
		e.constant(rawType(t), 1)
		access(atomicOps[op])
		return
	}
	if o, ok := atomicOps[op]; ok {
		push(0)
		access(o)
		return
	}
	// The others try until nobody has changed the memory meanwhile.
	access(load)
	old := e.newLocal(scalarType(rawType(t)))
	seen := e.Local(scalarType(rawType(t)))
	again := e.Open(wasm.Loop, wasm.Empty)
	e.Get(addr)
	e.Get(old)
	e.combine(op, t, func() { e.Get(old) }, func() { push(0) })
	access(swap)
	e.Set(seen)
	e.Get(seen)
	e.Get(old)
	e.Get(seen)
	e.Set(old)
	e.byWidth(t, wasm.I32Ne, wasm.I64Ne)
	e.Br(wasm.BrIf, again)
	e.End()
	e.Get(old)
}

// combine pushes the bits of the new value of an operation that WebAssembly lacks.
func (e *emitter) combine(op ir.Op, t *ir.Type, old, with func()) {
	compare := map[ir.Op][2]wasm.Op{
		ir.AtomicSMin: {wasm.I32LtS, wasm.I64LtS}, ir.AtomicUMin: {wasm.I32LtU, wasm.I64LtU},
		ir.AtomicSMax: {wasm.I32GtS, wasm.I64GtS}, ir.AtomicUMax: {wasm.I32GtU, wasm.I64GtU},
	}
	if c, ok := compare[op]; ok {
		old()
		with()
		old()
		with()
		e.byWidth(t, c[0], c[1])
		e.Op(wasm.Select)
		return
	}
	floats := map[ir.Op][2]wasm.Op{
		ir.AtomicFAddEXT: {wasm.F32Add, wasm.F64Add}, ir.AtomicFMinEXT: {wasm.F32Min, wasm.F64Min}, ir.AtomicFMaxEXT: {wasm.F32Max, wasm.F64Max},
	}
	o, ok := floats[op]
	if !ok {
		unsupportedf("the instruction %s", spv.InstructionName(op))
	}
	old()
	e.ofRaw(t)
	with()
	e.ofRaw(t)
	e.byWidth(t, o[0], o[1])
	e.rawOf(t)
}
