package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// scalarOps compute an operation on scalars of type t: push pushes an operand, as often as
// it is called.
var scalarOps map[ir.Op]func(e *emitter, t *ir.Type, push operands)

// vectorOps compute a half of leaf i for operands of type t with vectors. They return false,
// before they have written anything, if scalarOps must do it lane by lane.
var vectorOps map[ir.Op]func(e *emitter, v *ir.Value, i, half int, t *ir.Type) bool

func init() {
	scalarOps = map[ir.Op]func(e *emitter, t *ir.Type, push operands){
		ir.LogicalNot: func(e *emitter, _ *ir.Type, push operands) { push(0); e.Op(wasm.I32Eqz) },
		ir.Not: func(e *emitter, t *ir.Type, push operands) {
			push(0)
			e.constant(t, ^uint64(0))
			e.byWidth(t, wasm.I32Xor, wasm.I64Xor)
		},
		ir.SNegate: func(e *emitter, t *ir.Type, push operands) {
			e.constant(t, 0)
			push(0)
			e.byWidth(t, wasm.I32Sub, wasm.I64Sub)
		},
		ir.UDiv: func(e *emitter, t *ir.Type, push operands) { e.divide(t, push, wasm.I32DivU, wasm.I64DivU, false) },
		ir.UMod: func(e *emitter, t *ir.Type, push operands) { e.modulo(t, push, wasm.I32DivU, wasm.I64DivU, false) },
		ir.SDiv: func(e *emitter, t *ir.Type, push operands) { e.divide(t, push, wasm.I32DivS, wasm.I64DivS, true) },
		ir.SRem: func(e *emitter, t *ir.Type, push operands) { e.modulo(t, push, wasm.I32DivS, wasm.I64DivS, true) },
		ir.SMod: func(e *emitter, t *ir.Type, push operands) {
			// The result has the sign of the divisor.
			e.modulo(t, push, wasm.I32DivS, wasm.I64DivS, true)
			r := e.newLocal(scalarType(t))
			e.Get(r)
			push(1)
			e.Get(r)
			e.byWidth(t, wasm.I32Add, wasm.I64Add)
			e.Get(r)
			e.byWidth(t, wasm.I32Eqz, wasm.I64Eqz)
			e.Get(r)
			push(1)
			e.byWidth(t, wasm.I32Xor, wasm.I64Xor)
			e.constant(t, 0)
			e.byWidth(t, wasm.I32GeS, wasm.I64GeS)
			e.Op(wasm.I32Or)
			e.Op(wasm.Select)
		},
		ir.IsNan: func(e *emitter, t *ir.Type, push operands) { push(0); push(0); e.byWidth(t, wasm.F32Ne, wasm.F64Ne) },
		ir.IsInf: func(e *emitter, t *ir.Type, push operands) {
			push(0)
			e.byWidth(t, wasm.F32Abs, wasm.F64Abs)
			e.infinity(t)
			e.byWidth(t, wasm.F32Eq, wasm.F64Eq)
		},
		ir.FOrdNotEqual: func(e *emitter, t *ir.Type, push operands) {
			push(0)
			push(1)
			e.byWidth(t, wasm.F32Lt, wasm.F64Lt)
			push(0)
			push(1)
			e.byWidth(t, wasm.F32Gt, wasm.F64Gt)
			e.Op(wasm.I32Or)
		},
		ir.FUnordEqual: func(e *emitter, t *ir.Type, push operands) {
			scalarOps[ir.FOrdNotEqual](e, t, push)
			e.Op(wasm.I32Eqz)
		},
		ir.FRem: func(e *emitter, t *ir.Type, push operands) { e.remainder(t, push, wasm.F32Trunc, wasm.F64Trunc) },
		ir.FMod: func(e *emitter, t *ir.Type, push operands) { e.remainder(t, push, wasm.F32Floor, wasm.F64Floor) },
		ir.BitCount: func(e *emitter, t *ir.Type, push operands) {
			push(0)
			if t.Bits < 32 {
				e.normalise(&ir.Type{Kind: ir.Int, Bits: t.Bits})
			}
			e.byWidth(t, wasm.I32Popcnt, wasm.I64Popcnt)
			if isWide(t) {
				e.Op(wasm.I32WrapI64)
			}
		},
		ir.BitReverse:       func(e *emitter, t *ir.Type, push operands) { push(0); e.reverse(t) },
		ir.BitFieldInsert:   (*emitter).bitInsert,
		ir.BitFieldSExtract: func(e *emitter, t *ir.Type, push operands) { e.bitExtract(t, push, true) },
		ir.BitFieldUExtract: func(e *emitter, t *ir.Type, push operands) { e.bitExtract(t, push, false) },
	}
	scalarOps[ir.PackLevels] = (*emitter).packedLevels
	vectorOps = map[ir.Op]func(e *emitter, v *ir.Value, i, half int, t *ir.Type) bool{
		ir.PackLevels: (*emitter).packedLevelsVector,
		ir.LogicalNot: func(e *emitter, v *ir.Value, i, half int, _ *ir.Type) bool {
			e.pushVector(v.Args[0], i, half)
			e.Op(wasm.V128Not)
			return true
		},
		ir.Not: func(e *emitter, v *ir.Value, i, half int, t *ir.Type) bool {
			e.pushVector(v.Args[0], i, half)
			e.Op(wasm.V128Not)
			e.normaliseVector(t)
			return true
		},
		ir.SNegate: func(e *emitter, v *ir.Value, i, half int, t *ir.Type) bool {
			e.pushVector(v.Args[0], i, half)
			e.byWidth(t, wasm.I32x4Neg, wasm.I64x2Neg)
			e.normaliseVector(t)
			return true
		},
		ir.IsNan: func(e *emitter, v *ir.Value, i, _ int, t *ir.Type) bool {
			e.eachHalf(t, func(half int) {
				e.pushVector(v.Args[0], i, half)
				e.pushVector(v.Args[0], i, half)
				e.byWidth(t, wasm.F32x4Ne, wasm.F64x2Ne)
			})
			return true
		},
		ir.IsInf: func(e *emitter, v *ir.Value, i, _ int, t *ir.Type) bool {
			e.eachHalf(t, func(half int) {
				e.pushVector(v.Args[0], i, half)
				e.byWidth(t, wasm.F32x4Abs, wasm.F64x2Abs)
				e.infinity(t)
				e.splat(t)
				e.byWidth(t, wasm.F32x4Eq, wasm.F64x2Eq)
			})
			return true
		},
		ir.FOrdNotEqual: func(e *emitter, v *ir.Value, i, _ int, t *ir.Type) bool {
			e.eachHalf(t, func(half int) { e.lessOrGreater(v, i, half, t) })
			return true
		},
		ir.FUnordEqual: func(e *emitter, v *ir.Value, i, _ int, t *ir.Type) bool {
			e.eachHalf(t, func(half int) { e.lessOrGreater(v, i, half, t); e.Op(wasm.V128Not) })
			return true
		},
		ir.FMod: func(e *emitter, v *ir.Value, i, half int, t *ir.Type) bool {
			return e.remainderVector(v, i, half, t, wasm.F32x4Floor, wasm.F64x2Floor)
		},
		ir.FRem: func(e *emitter, v *ir.Value, i, half int, t *ir.Type) bool {
			return e.remainderVector(v, i, half, t, wasm.F32x4Trunc, wasm.F64x2Trunc)
		},
	}
}

// byWidth writes one of two instructions: for types of up to 32 bits, or of 64.
func (e *emitter) byWidth(t *ir.Type, narrow, wide wasm.Op) {
	if isWide(t) {
		e.Op(wide)
		return
	}
	e.Op(narrow)
}

// eachHalf pushes the mask of a comparison, of whose operands each half is compared by f.
func (e *emitter) eachHalf(t *ir.Type, f func(half int)) {
	f(0)
	if isWide(t) {
		f(1)
		e.narrow()
	}
}

func (e *emitter) lessOrGreater(v *ir.Value, i, half int, t *ir.Type) {
	e.pushVector(v.Args[0], i, half)
	e.pushVector(v.Args[1], i, half)
	e.byWidth(t, wasm.F32x4Lt, wasm.F64x2Lt)
	e.pushVector(v.Args[0], i, half)
	e.pushVector(v.Args[1], i, half)
	e.byWidth(t, wasm.F32x4Gt, wasm.F64x2Gt)
	e.Op(wasm.V128Or)
}

// infinity pushes positive infinity.
func (e *emitter) infinity(t *ir.Type) {
	if isWide(t) {
		e.F64Const(float64FromBits(0x7ff << 52))
		return
	}
	e.F32Const(0x7f800000)
}

// divide divides integers. WebAssembly traps where SPIR-V has no result: the divisor 0
// counts as 1, and so does -1 below the least number.
func (e *emitter) divide(t *ir.Type, push operands, narrow, wide wasm.Op, overflows bool) {
	b := e.divisor(t, push, overflows)
	push(0)
	e.Get(b)
	e.byWidth(t, narrow, wide)
}

// modulo computes a - b*(a/b) with the divisor b of divide. The remainder instructions of
// WebAssembly are not used: wazero v1.11.0 makes wrong code of them on arm64 if their
// quotient is spilled. It writes a register twice, and stores it the second time only.
func (e *emitter) modulo(t *ir.Type, push operands, narrow, wide wasm.Op, overflows bool) {
	b := e.divisor(t, push, overflows)
	push(0)
	a := e.newLocal(scalarType(t))
	e.Get(a)
	e.Get(a)
	e.Get(b)
	e.byWidth(t, narrow, wide)
	e.Get(b)
	e.byWidth(t, wasm.I32Mul, wasm.I64Mul)
	e.byWidth(t, wasm.I32Sub, wasm.I64Sub)
}

// divisor returns a local with the divisor of divide.
func (e *emitter) divisor(t *ir.Type, push operands, overflows bool) uint32 {
	push(1)
	b := e.newLocal(scalarType(t))
	e.constant(t, 1)
	e.Get(b)
	e.Get(b)
	e.byWidth(t, wasm.I32Eqz, wasm.I64Eqz)
	if overflows {
		e.Get(b)
		e.constant(&ir.Type{Kind: ir.Int, Bits: max(t.Bits, 32)}, ^uint64(0))
		e.byWidth(t, wasm.I32Eq, wasm.I64Eq)
		push(0)
		e.constant(&ir.Type{Kind: ir.Int, Bits: max(t.Bits, 32)}, 1<<(max(t.Bits, 32)-1))
		e.byWidth(t, wasm.I32Eq, wasm.I64Eq)
		e.Op(wasm.I32And)
		e.Op(wasm.I32Or)
	}
	e.Op(wasm.Select)
	return e.newLocal(scalarType(t))
}

// remainder computes x - y*round(x/y), as the specification derives it.
func (e *emitter) remainder(t *ir.Type, push operands, narrow, wide wasm.Op) {
	push(0)
	push(1)
	push(0)
	push(1)
	e.byWidth(t, wasm.F32Div, wasm.F64Div)
	e.byWidth(t, narrow, wide)
	e.byWidth(t, wasm.F32Mul, wasm.F64Mul)
	e.byWidth(t, wasm.F32Sub, wasm.F64Sub)
}

func (e *emitter) remainderVector(v *ir.Value, i, half int, t *ir.Type, narrow, wide wasm.Op) bool {
	e.pushVector(v.Args[0], i, half)
	e.pushVector(v.Args[1], i, half)
	e.pushVector(v.Args[0], i, half)
	e.pushVector(v.Args[1], i, half)
	e.byWidth(t, wasm.F32x4Div, wasm.F64x2Div)
	e.byWidth(t, narrow, wide)
	e.byWidth(t, wasm.F32x4Mul, wasm.F64x2Mul)
	e.byWidth(t, wasm.F32x4Sub, wasm.F64x2Sub)
	e.normaliseVector(t)
	return true
}

// reverse reverses the bits of the scalar on the stack.
func (e *emitter) reverse(t *ir.Type) {
	w := scalarType(t)
	x := e.newLocal(w)
	for _, s := range []struct {
		by   uint64
		mask uint64
	}{{1, 0x5555555555555555}, {2, 0x3333333333333333}, {4, 0x0f0f0f0f0f0f0f0f}, {8, 0x00ff00ff00ff00ff}, {16, 0x0000ffff0000ffff}, {32, 0x00000000ffffffff}} {
		if s.by == 32 && w == wasm.I32 {
			break
		}
		wide := &ir.Type{Kind: ir.Int, Bits: 32}
		if w == wasm.I64 {
			wide.Bits = 64
		}
		e.Get(x)
		e.constant(wide, s.by)
		e.byWidth(t, wasm.I32ShrU, wasm.I64ShrU)
		e.constant(wide, s.mask)
		e.byWidth(t, wasm.I32And, wasm.I64And)
		e.Get(x)
		e.constant(wide, s.mask)
		e.byWidth(t, wasm.I32And, wasm.I64And)
		e.constant(wide, s.by)
		e.byWidth(t, wasm.I32Shl, wasm.I64Shl)
		e.byWidth(t, wasm.I32Or, wasm.I64Or)
		e.Set(x)
	}
	e.Get(x)
	if t.Bits < 32 {
		e.I32Const(int32(32 - t.Bits))
		e.Op(wasm.I32ShrU)
	}
}

// pushCount pushes an operand that is a number of bits with the width of t.
func (e *emitter) pushCount(t *ir.Type, push operands, k int) {
	push(k)
	if isWide(t) {
		e.Op(wasm.I64ExtendI32U)
	}
}

// bitMask pushes 2^count - 1, for a count of up to the width.
func (e *emitter) bitMask(t *ir.Type, push operands, k int) {
	wide := &ir.Type{Kind: ir.Int, Bits: max(t.Bits, 32)}
	e.constant(wide, ^uint64(0))
	e.constant(wide, 1)
	e.pushCount(t, push, k)
	e.byWidth(t, wasm.I32Shl, wasm.I64Shl)
	e.constant(wide, 1)
	e.byWidth(t, wasm.I32Sub, wasm.I64Sub)
	push(k)
	e.I32Const(int32(wide.Bits))
	e.Op(wasm.I32GeU)
	e.Op(wasm.Select)
}

// bitInsert computes base with count bits of insert from offset on. The operands are base,
// insert, offset, count.
func (e *emitter) bitInsert(t *ir.Type, push operands) {
	e.bitMask(t, push, 3)
	e.pushCount(t, push, 2)
	e.byWidth(t, wasm.I32Shl, wasm.I64Shl)
	mask := e.newLocal(scalarType(t))
	push(0)
	e.Get(mask)
	e.constant(&ir.Type{Kind: ir.Int, Bits: max(t.Bits, 32)}, ^uint64(0))
	e.byWidth(t, wasm.I32Xor, wasm.I64Xor)
	e.byWidth(t, wasm.I32And, wasm.I64And)
	push(1)
	e.pushCount(t, push, 2)
	e.byWidth(t, wasm.I32Shl, wasm.I64Shl)
	e.Get(mask)
	e.byWidth(t, wasm.I32And, wasm.I64And)
	e.byWidth(t, wasm.I32Or, wasm.I64Or)
}

// bitExtract computes count bits of base from offset on. The operands are base, offset,
// count.
func (e *emitter) bitExtract(t *ir.Type, push operands, signed bool) {
	wide := &ir.Type{Kind: ir.Int, Bits: max(t.Bits, 32)}
	push(0)
	if t.Bits < 32 {
		e.normalise(&ir.Type{Kind: ir.Int, Bits: t.Bits})
	}
	e.pushCount(t, push, 1)
	e.byWidth(t, wasm.I32ShrU, wasm.I64ShrU)
	e.bitMask(t, push, 2)
	e.byWidth(t, wasm.I32And, wasm.I64And)
	if !signed {
		return
	}
	// Shifting to the left and back again extends the sign. No bits at all are 0.
	x := e.newLocal(scalarType(t))
	shift := func() {
		e.constant(wide, uint64(wide.Bits))
		e.pushCount(t, push, 2)
		e.byWidth(t, wasm.I32Sub, wasm.I64Sub)
	}
	e.Get(x)
	shift()
	e.byWidth(t, wasm.I32Shl, wasm.I64Shl)
	shift()
	e.byWidth(t, wasm.I32ShrS, wasm.I64ShrS)
	e.constant(wide, 0)
	push(2)
	e.Op(wasm.Select)
}
