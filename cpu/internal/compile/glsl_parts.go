package compile

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// parts writes FrexpStruct and ModfStruct.
func (e *emitter) parts(v *ir.Value, number uint32) {
	x := v.Args[0]
	n := countLeaves(x.Type)
	t := leavesOf(x.Type)[0]
	for i := range n {
		each := func(k int, f func(push operands)) {
			to := leavesOf(v.Type)[k]
			e.set(v, k, func() { f(func(int) { e.push(x, i) }) }, func(half int) {
				e.lanewise(to, half, func(lane int) { f(func(int) { e.pushLane(x, i, lane) }) })
			})
		}
		if number == glslModfStruct {
			each(i, func(push operands) { e.fraction(t, push) })
			each(n+i, func(push operands) { push(0); e.byWidth(t, wasm.F32Trunc, wasm.F64Trunc) })
			continue
		}
		to := leavesOf(v.Type)[n+i]
		each(i, func(push operands) { e.significand(t, push) })
		each(n+i, func(push operands) {
			e.exponent(t, push)
			switch {
			case isWide(to) && !isWide(t):
				e.Op(wasm.I64ExtendI32S)
			case !isWide(to) && isWide(t):
				e.Op(wasm.I32WrapI64)
			}
			e.normalise(to)
		})
	}
}

// fraction pushes the fraction of a float, with its sign. That of infinity is 0.
func (e *emitter) fraction(t *ir.Type, push operands) {
	e.constant(t, 0)
	push(0)
	push(0)
	e.byWidth(t, wasm.F32Trunc, wasm.F64Trunc)
	e.byWidth(t, wasm.F32Sub, wasm.F64Sub)
	push(0)
	e.byWidth(t, wasm.F32Abs, wasm.F64Abs)
	e.infinity(t)
	e.byWidth(t, wasm.F32Eq, wasm.F64Eq)
	e.Op(wasm.Select)
	// The instruction copysign may be computed wrongly, for the reason that wasm.Func.Choose
	// has.
	if isWide(t) {
		e.Op(wasm.I64ReinterpretF64)
		e.I64Const(math.MaxInt64)
		e.Op(wasm.I64And)
		push(0)
		e.Op(wasm.I64ReinterpretF64)
		e.I64Const(math.MinInt64)
		e.Op(wasm.I64And)
		e.Op(wasm.I64Or)
		e.Op(wasm.F64ReinterpretI64)
		return
	}
	e.Op(wasm.I32ReinterpretF32)
	e.I32Const(math.MaxInt32)
	e.Op(wasm.I32And)
	push(0)
	e.Op(wasm.I32ReinterpretF32)
	e.I32Const(math.MinInt32)
	e.Op(wasm.I32And)
	e.Op(wasm.I32Or)
	e.Op(wasm.F32ReinterpretI32)
}

// floatLayout is the form of floats in memory. Floats of 16 bits have that of 32 here.
func floatLayout(t *ir.Type) (word *ir.Type, mantissa, bias int64) {
	if isWide(t) {
		return &ir.Type{Kind: ir.Int, Bits: 64}, 52, 1023
	}
	return &ir.Type{Kind: ir.Int, Bits: 32}, 23, 127
}

// scaled returns locals with the bits of a float, multiplied by a power of two if it is
// denormal, with the exponent in these bits, and with the number to add to the exponent.
func (e *emitter) scaled(t *ir.Type, push operands) (bits, exponent, more uint32) {
	word, mantissa, bias := floatLayout(t)
	scale := uint64(bias+mantissa+1) << mantissa // 2^(mantissa+1)
	push(0)
	if isWide(t) {
		e.F64Const(float64FromBits(scale))
	} else {
		e.F32Const(uint32(scale))
	}
	e.byWidth(t, wasm.F32Mul, wasm.F64Mul)
	push(0)
	push(0)
	e.byWidth(t, wasm.F32Abs, wasm.F64Abs)
	if isWide(t) {
		e.F64Const(float64FromBits(1 << mantissa))
	} else {
		e.F32Const(1 << mantissa)
	}
	e.byWidth(t, wasm.F32Lt, wasm.F64Lt)
	small := e.Local(wasm.I32)
	e.Tee(small)
	e.Op(wasm.Select)
	e.byWidth(t, wasm.I32ReinterpretF32, wasm.I64ReinterpretF64)
	bits = e.newLocal(scalarType(word))
	e.Get(bits)
	e.constant(word, uint64(mantissa))
	e.byWidth(t, wasm.I32ShrU, wasm.I64ShrU)
	e.constant(word, uint64(2*bias+1))
	e.byWidth(t, wasm.I32And, wasm.I64And)
	exponent = e.newLocal(scalarType(word))
	e.constant(word, uint64(-(mantissa+1)-(bias-1)))
	e.constant(word, uint64(-(bias - 1)))
	e.Get(small)
	e.Op(wasm.Select)
	return bits, exponent, e.newLocal(scalarType(word))
}

// pushSpecial pushes whether a float is zero, infinite or no number, by its exponent.
func (e *emitter) pushSpecial(t *ir.Type, exponent uint32) {
	word, _, bias := floatLayout(t)
	e.Get(exponent)
	e.byWidth(t, wasm.I32Eqz, wasm.I64Eqz)
	e.Get(exponent)
	e.constant(word, uint64(2*bias+1))
	e.byWidth(t, wasm.I32Eq, wasm.I64Eq)
	e.Op(wasm.I32Or)
}

// significand pushes the significand of a float, which is at least 0.5 and less than 1. That
// of zero, of infinity and of what is no number is the float itself.
func (e *emitter) significand(t *ir.Type, push operands) {
	word, mantissa, bias := floatLayout(t)
	bits, exponent, _ := e.scaled(t, push)
	push(0)
	e.Get(bits)
	e.constant(word, ^(uint64(2*bias+1) << mantissa))
	e.byWidth(t, wasm.I32And, wasm.I64And)
	e.constant(word, uint64(bias-1)<<mantissa)
	e.byWidth(t, wasm.I32Or, wasm.I64Or)
	e.byWidth(t, wasm.F32ReinterpretI32, wasm.F64ReinterpretI64)
	e.pushSpecial(t, exponent)
	e.Op(wasm.Select)
}

// exponent pushes the exponent that belongs to the significand, as an integer of 32 bits, or
// of 64 for floats of 64. It is 0 where the significand is the float itself.
func (e *emitter) exponent(t *ir.Type, push operands) {
	word, _, _ := floatLayout(t)
	_, exponent, more := e.scaled(t, push)
	e.constant(word, 0)
	e.Get(exponent)
	e.Get(more)
	e.byWidth(t, wasm.I32Add, wasm.I64Add)
	e.pushSpecial(t, exponent)
	e.Op(wasm.Select)
}
