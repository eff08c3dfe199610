package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// mode says how an expression is computed: as one scalar, or as a half of four lanes.
type mode struct {
	e      *emitter
	scalar bool
	half   int
}

// expression computes leaf i of a value: f pushes it, in one of the two modes.
func (e *emitter) expression(v *ir.Value, i int, f func(m mode)) {
	e.set(v, i, func() { f(mode{e: e, scalar: true}) }, func(half int) { f(mode{e: e, half: half}) })
}

// get pushes a leaf of a value.
func (m mode) get(v *ir.Value, i int) {
	if m.scalar {
		m.e.push(v, i)
		return
	}
	m.e.pushVector(v, i, m.half)
}

// constant pushes a constant.
func (m mode) constant(t *ir.Type, bits uint64) {
	if m.scalar {
		m.e.constant(t, bits)
		return
	}
	m.e.constantVector(t, bits)
}

// op writes an operation on numbers of type t, and brings the result into its form.
func (m mode) op(op ir.Op, t *ir.Type) {
	o := simple[op]
	m.ops(o, t)
	if !o.compares {
		m.normalise(t)
	}
}

// ops writes an instruction for numbers of type t.
func (m mode) ops(o opcodes, t *ir.Type) {
	if m.scalar {
		m.e.Op(o.scalar(t))
		return
	}
	m.e.Op(o.vector(t))
}

func (m mode) normalise(t *ir.Type) {
	if m.scalar {
		m.e.normalise(t)
		return
	}
	m.e.normaliseVector(t)
}

// local keeps what is on the stack, and returns a function that pushes it.
func (m mode) local(t *ir.Type) func() {
	w := wasm.V128
	if m.scalar {
		w = scalarType(t)
	}
	l := m.e.newLocal(w)
	return func() { m.e.Get(l) }
}

// linearAlgebra writes an operation on vectors and matrices, and reports whether the
// operation is one. Sums are computed from the first term on.
func (e *emitter) linearAlgebra(v *ir.Value) bool {
	a := v.Args
	sum := func(i int, t *ir.Type, n int, term func(m mode, k int)) {
		e.expression(v, i, func(m mode) {
			for k := range n {
				term(m, k)
				m.op(ir.FMul, t)
				if k > 0 {
					m.op(ir.FAdd, t)
				}
			}
		})
	}
	switch v.Op {
	case ir.Dot:
		sum(0, v.Type, int(a[0].Type.N), func(m mode, k int) { m.get(a[0], k); m.get(a[1], k) })
	case ir.VectorTimesScalar, ir.MatrixTimesScalar:
		for i := range countLeaves(v.Type) {
			sum(i, v.Type.Scalar(), 1, func(m mode, _ int) { m.get(a[0], i); m.get(a[1], 0) })
		}
	case ir.MatrixTimesVector:
		rows := int(a[0].Type.Elem.N)
		for i := range rows {
			sum(i, v.Type.Scalar(), int(a[0].Type.N), func(m mode, k int) { m.get(a[0], k*rows+i); m.get(a[1], k) })
		}
	case ir.VectorTimesMatrix:
		rows := int(a[1].Type.Elem.N)
		for i := range int(a[1].Type.N) {
			sum(i, v.Type.Scalar(), rows, func(m mode, k int) { m.get(a[0], k); m.get(a[1], i*rows+k) })
		}
	case ir.MatrixTimesMatrix:
		rows, inner := int(a[0].Type.Elem.N), int(a[0].Type.N)
		for i := range countLeaves(v.Type) {
			c, r := i/rows, i%rows
			sum(i, v.Type.Scalar(), inner, func(m mode, k int) { m.get(a[0], k*rows+r); m.get(a[1], c*inner+k) })
		}
	case ir.OuterProduct:
		rows := int(a[0].Type.N)
		for i := range countLeaves(v.Type) {
			sum(i, v.Type.Scalar(), 1, func(m mode, _ int) { m.get(a[0], i%rows); m.get(a[1], i/rows) })
		}
	default:
		return false
	}
	return true
}

// extendedArithmetic writes an operation whose result is a struct of two halves.
func (e *emitter) extendedArithmetic(v *ir.Value) {
	n := countLeaves(v.Type) / 2
	for i := range n {
		t := leavesOf(v.Type)[i]
		if t.Bits < 32 {
			unsupportedf("the carry of an integer of %d bits", t.Bits)
		}
		half := func(k int, f func(push operands)) {
			e.set(v, k, func() { f(func(a int) { e.push(v.Args[a], i) }) }, func(half int) {
				e.lanewise(t, half, func(lane int) { f(func(a int) { e.pushLane(v.Args[a], i, lane) }) })
			})
		}
		bit := func(narrow, wide wasm.Op) {
			if e.byWidth(t, narrow, wide); isWide(t) {
				e.Op(wasm.I64ExtendI32U)
			}
		}
		switch v.Op {
		case ir.IAddCarry:
			half(i, func(push operands) { push(0); push(1); e.byWidth(t, wasm.I32Add, wasm.I64Add) })
			half(n+i, func(push operands) {
				push(0)
				push(1)
				e.byWidth(t, wasm.I32Add, wasm.I64Add)
				push(0)
				bit(wasm.I32LtU, wasm.I64LtU)
			})
		case ir.ISubBorrow:
			half(i, func(push operands) { push(0); push(1); e.byWidth(t, wasm.I32Sub, wasm.I64Sub) })
			half(n+i, func(push operands) { push(0); push(1); bit(wasm.I32LtU, wasm.I64LtU) })
		default:
			half(i, func(push operands) { push(0); push(1); e.byWidth(t, wasm.I32Mul, wasm.I64Mul) })
			half(n+i, func(push operands) { e.highProduct(t, v.Op == ir.SMulExtended, push) })
		}
	}
}

// highProduct pushes the upper half of a product.
func (e *emitter) highProduct(t *ir.Type, signed bool, push operands) {
	if !isWide(t) {
		for a := range 2 {
			push(a)
			e.Op(pick([2]wasm.Op{wasm.I64ExtendI32U, wasm.I64ExtendI32S}, signed))
		}
		e.Op(wasm.I64Mul)
		e.I64Const(32)
		e.Op(wasm.I64ShrU)
		e.Op(wasm.I32WrapI64)
		return
	}
	// Four products of halves of 32 bits.
	part := func(a int, high bool) uint32 {
		push(a)
		if high {
			e.I64Const(32)
			e.Op(wasm.I64ShrU)
		} else {
			e.I64Const(0xffffffff)
			e.Op(wasm.I64And)
		}
		return e.newLocal(wasm.I64)
	}
	al, ah, bl, bh := part(0, false), part(0, true), part(1, false), part(1, true)
	product := func(x, y uint32) {
		e.Get(x)
		e.Get(y)
		e.Op(wasm.I64Mul)
	}
	product(al, bl)
	e.I64Const(32)
	e.Op(wasm.I64ShrU)
	product(ah, bl)
	e.Op(wasm.I64Add)
	mid := e.newLocal(wasm.I64)
	product(al, bh)
	e.Get(mid)
	e.I64Const(0xffffffff)
	e.Op(wasm.I64And)
	e.Op(wasm.I64Add)
	e.I64Const(32)
	e.Op(wasm.I64ShrU)
	product(ah, bh)
	e.Op(wasm.I64Add)
	e.Get(mid)
	e.I64Const(32)
	e.Op(wasm.I64ShrU)
	e.Op(wasm.I64Add)
	if !signed {
		return
	}
	for a := range 2 { // A negative factor counts 2^64 less.
		push(1 - a)
		e.I64Const(0)
		push(a)
		e.I64Const(0)
		e.Op(wasm.I64LtS)
		e.Op(wasm.Select)
		e.Op(wasm.I64Sub)
	}
}

// integerDot writes a dot product of integers, of which four may be packed in one word.
func (e *emitter) integerDot(v *ir.Value) {
	signedA := v.Op != ir.UDot && v.Op != ir.UDotAccSat
	signedB := v.Op == ir.SDot || v.Op == ir.SDotAccSat
	saturates := v.Op == ir.SDotAccSat || v.Op == ir.UDotAccSat || v.Op == ir.SUDotAccSat
	t := v.Type
	part := func(a *ir.Value, k int, signed bool, get func(i int)) {
		in := a.Type
		if in.Kind == ir.Vector {
			get(k)
			e.widened(in.Elem, signed)
			return
		}
		get(0)
		e.I32Const(int32(8 * k))
		e.Op(wasm.I32ShrU)
		e.widened(&ir.Type{Kind: ir.Int, Bits: 8}, signed)
	}
	n := 4
	if v.Args[0].Type.Kind == ir.Vector {
		n = int(v.Args[0].Type.N)
	}
	compute := func(get func(a, i int)) {
		for k := range n {
			part(v.Args[0], k, signedA, func(i int) { get(0, i) })
			part(v.Args[1], k, signedB, func(i int) { get(1, i) })
			e.Op(wasm.I64Mul)
			if k > 0 {
				e.Op(wasm.I64Add)
			}
		}
		if saturates {
			get(2, 0)
			e.widened(t, signedA)
			e.Op(wasm.I64Add)
			low, high := int64(0), int64(1)<<min(t.Bits, 62)-1
			if signedA {
				low, high = -(1 << (min(t.Bits, 63) - 1)), 1<<(min(t.Bits, 63)-1)-1
			}
			e.clampInt(&ir.Type{Kind: ir.Int, Bits: 64}, low, high)
		}
		if !isWide(t) {
			e.Op(wasm.I32WrapI64)
		}
		e.normalise(t)
	}
	e.set(v, 0, func() { compute(func(a, i int) { e.push(v.Args[a], i) }) }, func(half int) {
		e.lanewise(t, half, func(lane int) { compute(func(a, i int) { e.pushLane(v.Args[a], i, lane) }) })
	})
}

// clampInt brings the integer on the stack between two bounds.
func (e *emitter) clampInt(t *ir.Type, low, high int64) {
	for _, bound := range []struct {
		at           int64
		narrow, wide wasm.Op
	}{{low, wasm.I32GtS, wasm.I64GtS}, {high, wasm.I32LtS, wasm.I64LtS}} {
		x := e.newLocal(scalarType(t))
		e.Get(x)
		e.constant(t, uint64(bound.at))
		e.Get(x)
		e.constant(t, uint64(bound.at))
		e.byWidth(t, bound.narrow, bound.wide)
		e.Op(wasm.Select)
	}
}

// widened extends the integer on the stack to 64 bits.
func (e *emitter) widened(t *ir.Type, signed bool) {
	if isWide(t) {
		return
	}
	e.normalise(&ir.Type{Kind: ir.Int, Bits: t.Bits, Signed: signed})
	e.Op(pick([2]wasm.Op{wasm.I64ExtendI32U, wasm.I64ExtendI32S}, signed))
}
