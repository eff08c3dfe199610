package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// conversion writes a conversion, and reports whether the operation is one.
func (e *emitter) conversion(v *ir.Value) bool {
	switch v.Op {
	case ir.ConvertFToU, ir.ConvertFToS, ir.ConvertSToF, ir.ConvertUToF, ir.UConvert, ir.SConvert, ir.FConvert, ir.QuantizeToF16:
	case ir.Bitcast:
		e.bitcast(v)
		return true
	default:
		return false
	}
	for i := range countLeaves(v.Type) {
		from, to := leavesOf(v.Args[0].Type)[i], leavesOf(v.Type)[i]
		e.set(v, i, func() {
			e.push(v.Args[0], i)
			e.convert(v.Op, from, to)
		}, func(half int) {
			if e.convertVector(v, i, half, from, to) {
				return
			}
			e.lanewise(to, half, func(lane int) {
				e.pushLane(v.Args[0], i, lane)
				e.convert(v.Op, from, to)
			})
		})
	}
	return true
}

// convert converts the scalar on the stack.
func (e *emitter) convert(op ir.Op, from, to *ir.Type) {
	switch op {
	case ir.ConvertFToU, ir.ConvertFToS:
		signed := op == ir.ConvertFToS
		table := map[[2]bool][2]wasm.Op{ // the source is wide, the result is wide; unsigned, signed
			{false, false}: {wasm.I32TruncSatF32U, wasm.I32TruncSatF32S}, {false, true}: {wasm.I64TruncSatF32U, wasm.I64TruncSatF32S},
			{true, false}: {wasm.I32TruncSatF64U, wasm.I32TruncSatF64S}, {true, true}: {wasm.I64TruncSatF64U, wasm.I64TruncSatF64S},
		}
		e.Op(pick(table[[2]bool{isWide(from), isWide(to)}], signed))
	case ir.ConvertSToF, ir.ConvertUToF:
		signed := op == ir.ConvertSToF
		if from.Bits < 32 && from.Signed != signed {
			e.normalise(&ir.Type{Kind: ir.Int, Bits: from.Bits, Signed: signed})
		}
		table := map[[2]bool][2]wasm.Op{
			{false, false}: {wasm.F32ConvertI32U, wasm.F32ConvertI32S}, {false, true}: {wasm.F64ConvertI32U, wasm.F64ConvertI32S},
			{true, false}: {wasm.F32ConvertI64U, wasm.F32ConvertI64S}, {true, true}: {wasm.F64ConvertI64U, wasm.F64ConvertI64S},
		}
		if isHalf(to) && from.Bits >= 32 { // A float of 64 bits holds it, or rounds to an odd last bit far below.
			e.Op(pick(table[[2]bool{isWide(from), true}], signed))
			e.roundDouble()
			return
		}
		e.Op(pick(table[[2]bool{isWide(from), isWide(to)}], signed))
	case ir.UConvert, ir.SConvert:
		signed := op == ir.SConvert
		if from.Bits < 32 && from.Signed != signed {
			e.normalise(&ir.Type{Kind: ir.Int, Bits: from.Bits, Signed: signed})
		}
		switch {
		case isWide(from) && !isWide(to):
			e.Op(wasm.I32WrapI64)
		case !isWide(from) && isWide(to):
			e.Op(pick([2]wasm.Op{wasm.I64ExtendI32U, wasm.I64ExtendI32S}, signed))
		}
	case ir.FConvert:
		switch {
		case isWide(from) && isHalf(to):
			e.roundDouble()
			return
		case isWide(from) && !isWide(to):
			e.Op(wasm.F32DemoteF64)
		case !isWide(from) && isWide(to):
			e.Op(wasm.F64PromoteF32)
		}
	case ir.QuantizeToF16:
		e.normalise(&ir.Type{Kind: ir.Float, Bits: 16})
		return
	}
	e.normalise(to)
}

func pick(ops [2]wasm.Op, second bool) wasm.Op {
	if second {
		return ops[1]
	}
	return ops[0]
}

// roundDouble rounds the float of 64 bits on the stack to 16 bits, and leaves one of 32. It
// first rounds to 32 bits such that the last bit is odd if anything was lost, so that the
// second rounding is right.
func (e *emitter) roundDouble() {
	x := e.newLocal(wasm.F64)
	e.Get(x)
	e.Op(wasm.F32DemoteF64)
	y := e.newLocal(wasm.F32)
	bits := e.Local(wasm.I32)
	e.Get(y)
	e.Op(wasm.I32ReinterpretF32)
	e.Set(bits)
	// lost: y != x, both numbers
	e.Get(y)
	e.Op(wasm.F64PromoteF32)
	e.Get(x)
	e.Op(wasm.F64Ne)
	e.Get(x)
	e.Get(x)
	e.Op(wasm.F64Eq)
	e.Op(wasm.I32And)
	e.Get(bits)
	e.I32Const(0x7fffffff)
	e.Op(wasm.I32And)
	e.I32Const(0x7f800000)
	e.Op(wasm.I32Ne)
	e.Op(wasm.I32And)
	e.Open(wasm.If, wasm.Empty)
	// Toward zero first, then the last bit.
	e.Get(bits)
	e.Get(y)
	e.Op(wasm.F64PromoteF32)
	e.Op(wasm.F64Abs)
	e.Get(x)
	e.Op(wasm.F64Abs)
	e.Op(wasm.F64Gt)
	e.Op(wasm.I32Sub)
	e.I32Const(1)
	e.Op(wasm.I32Or)
	e.Set(bits)
	e.End()
	e.Get(bits)
	e.Op(wasm.F32ReinterpretI32)
	e.normalise(&ir.Type{Kind: ir.Float, Bits: 16})
}

// convertVector converts with vectors where there are instructions for it. It returns false,
// before it has written anything, if there are none.
func (e *emitter) convertVector(v *ir.Value, i, half int, from, to *ir.Type) bool {
	a := v.Args[0]
	fw, tw := isWide(from), isWide(to)
	signed := v.Op == ir.ConvertSToF || v.Op == ir.ConvertFToS || v.Op == ir.SConvert
	extend := func() {
		if from.Kind == ir.Int && from.Bits < 32 && from.Signed != signed {
			e.normaliseVector(&ir.Type{Kind: ir.Int, Bits: from.Bits, Signed: signed})
		}
	}
	switch v.Op {
	case ir.QuantizeToF16:
		e.pushVector(a, i, half)
		e.Call(e.roundHalf())
		return true
	case ir.ConvertFToU, ir.ConvertFToS:
		if fw || tw {
			return false
		}
		e.pushVector(a, i, half)
		e.Op(pick([2]wasm.Op{wasm.I32x4TruncSatF32x4U, wasm.I32x4TruncSatF32x4S}, signed))
	case ir.ConvertSToF, ir.ConvertUToF:
		switch {
		case fw || isHalf(to) && from.Bits >= 32:
			return false
		case tw:
			e.pushVector(a, i, 0)
			if extend(); half == 1 {
				e.high()
			}
			e.Op(pick([2]wasm.Op{wasm.F64x2ConvertLowI32x4U, wasm.F64x2ConvertLowI32x4S}, signed))
			return true
		}
		e.pushVector(a, i, half)
		extend()
		e.Op(pick([2]wasm.Op{wasm.F32x4ConvertI32x4U, wasm.F32x4ConvertI32x4S}, signed))
	case ir.UConvert, ir.SConvert:
		switch {
		case fw && !tw:
			e.pushVector(a, i, 0)
			e.pushVector(a, i, 1)
			e.narrow()
		case !fw && tw:
			e.pushVector(a, i, 0)
			extend()
			if half == 0 {
				e.Op(pick([2]wasm.Op{wasm.I64x2ExtendLowI32x4U, wasm.I64x2ExtendLowI32x4S}, signed))
			} else {
				e.Op(pick([2]wasm.Op{wasm.I64x2ExtendHighI32x4U, wasm.I64x2ExtendHighI32x4S}, signed))
			}
			return true
		default:
			e.pushVector(a, i, half)
			extend()
		}
	case ir.FConvert:
		switch {
		case fw && isHalf(to):
			return false
		case fw && !tw:
			e.pushVector(a, i, 0)
			e.Op(wasm.F32x4DemoteF64x2Zero)
			e.pushVector(a, i, 1)
			e.Op(wasm.F32x4DemoteF64x2Zero)
			e.Shuffle([16]byte{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23})
		case !fw && tw:
			e.pushVector(a, i, 0)
			if half == 1 {
				e.high()
			}
			e.Op(wasm.F64x2PromoteLowF32x4)
			return true
		default:
			e.pushVector(a, i, half)
		}
	}
	e.normaliseVector(to)
	return true
}

// high moves the upper half of the vector on the stack down.
func (e *emitter) high() {
	x := e.newLocal(wasm.V128)
	e.Get(x)
	e.Get(x)
	e.Shuffle([16]byte{8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15})
}

// bitcast writes a Bitcast between scalars or vectors of as many bits.
func (e *emitter) bitcast(v *ir.Value) {
	in := v.Args[0]
	if in.Type.Kind == ir.Pointer || v.Type.Kind == ir.Pointer {
		unsupportedf("a pointer as a number")
	}
	from, to := leavesOf(in.Type), leavesOf(v.Type)
	if len(from) == len(to) {
		for i := range to {
			e.set(v, i, func() { e.push(in, i); e.rawOf(from[i]); e.ofRaw(to[i]) }, func(half int) {
				e.pushVector(in, i, half)
				e.rawVector(from[i])
				e.ofRawVector(to[i])
			})
		}
		return
	}
	// The lower numbered components have the lower bits.
	for i := range to {
		lane := func(lane int) func() {
			return func() {
				if len(from) > len(to) { // Several make one.
					n := len(from) / len(to)
					for k := range n {
						e.pushLane(in, i*n+k, lane)
						e.rawOf(from[i*n+k])
						e.zeroExtended(from[i*n+k], to[i])
						if k > 0 {
							e.constant(rawType(to[i]), uint64(k)*uint64(from[0].Bits))
							e.byWidth(to[i], wasm.I32Shl, wasm.I64Shl)
							e.byWidth(to[i], wasm.I32Or, wasm.I64Or)
						}
					}
					e.ofRaw(to[i])
					return
				}
				n := len(to) / len(from)
				e.pushLane(in, i/n, lane)
				e.rawOf(from[i/n])
				if k := i % n; k > 0 {
					e.constant(rawType(from[i/n]), uint64(k)*uint64(to[0].Bits))
					e.byWidth(from[i/n], wasm.I32ShrU, wasm.I64ShrU)
				}
				if isWide(from[i/n]) {
					e.Op(wasm.I32WrapI64)
				}
				e.ofRaw(to[i])
			}
		}
		e.set(v, i, lane(0), func(half int) { e.lanewise(to[i], half, func(l int) { lane(l)() }) })
	}
}

// rawType is the type of the bits of a scalar.
func rawType(t *ir.Type) *ir.Type {
	if isWide(t) {
		return &ir.Type{Kind: ir.Int, Bits: 64}
	}
	return &ir.Type{Kind: ir.Int, Bits: 32}
}

// zeroExtended extends the bits of a scalar on the stack without a sign.
func (e *emitter) zeroExtended(from, to *ir.Type) {
	if from.Bits < 32 {
		e.normalise(&ir.Type{Kind: ir.Int, Bits: from.Bits})
	}
	if isWide(to) && !isWide(from) {
		e.Op(wasm.I64ExtendI32U)
	}
}

// rawOf replaces the scalar on the stack by an integer with its bits.
func (e *emitter) rawOf(t *ir.Type) {
	switch {
	case isHalf(t):
		e.Op(wasm.F32x4Splat)
		e.Call(e.toHalf())
		e.Lane(wasm.I32x4ExtractLane, 0)
	case t.Kind == ir.Float:
		e.byWidth(t, wasm.I32ReinterpretF32, wasm.I64ReinterpretF64)
	}
}

// ofRaw replaces the integer on the stack by the scalar with its bits.
func (e *emitter) ofRaw(t *ir.Type) {
	switch {
	case isHalf(t):
		e.Op(wasm.I32x4Splat)
		e.Call(e.fromHalf())
		e.Lane(wasm.F32x4ExtractLane, 0)
	case t.Kind == ir.Float:
		e.byWidth(t, wasm.F32ReinterpretI32, wasm.F64ReinterpretI64)
	default:
		e.normalise(t)
	}
}

func (e *emitter) rawVector(t *ir.Type) {
	if isHalf(t) {
		e.Call(e.toHalf())
	}
}

func (e *emitter) ofRawVector(t *ir.Type) {
	if isHalf(t) {
		e.Call(e.fromHalf())
		return
	}
	if t.Kind == ir.Int {
		e.normaliseVector(t)
	}
}

// The functions below have one parameter and one result of four lanes.
var vectorFunc = wasm.FuncType{Params: []wasm.ValType{wasm.V128}, Results: []wasm.ValType{wasm.V128}}

// splatConst pushes a word in all lanes.
func splatConst(f *wasm.Func, w uint32) { f.V128Const([4]uint32{w, w, w, w}) }

// toHalf returns the function that rounds floats of 32 bits to 16, to nearest, ties to even.
// The result are the bits, in the lower half of each lane.
func (e *emitter) toHalf() uint32 {
	return e.helper("toHalf", vectorFunc, func(f *wasm.Func) {
		const x = 0
		abs, sign, small := f.Local(wasm.V128), f.Local(wasm.V128), f.Local(wasm.V128)
		f.Get(x)
		splatConst(f, 0x7fffffff)
		f.Op(wasm.V128And)
		f.Set(abs)
		f.Get(x)
		splatConst(f, 0x80000000)
		f.Op(wasm.V128And)
		f.I32Const(16)
		f.Op(wasm.I32x4ShrU)
		f.Set(sign)
		// Below 2^-14 the result is subnormal: adding 0.5 leaves its bits at the end.
		f.Get(abs)
		splatConst(f, 0x3f000000)
		f.Op(wasm.F32x4Add)
		splatConst(f, 0x3f000000)
		f.Op(wasm.I32x4Sub)
		f.Set(small)
		// A normal result: the exponent moves by 112, and the lost bits round to even.
		f.Get(abs)
		f.I32Const(13)
		f.Op(wasm.I32x4ShrU)
		splatConst(f, 1)
		f.Op(wasm.V128And)
		f.Get(abs)
		f.Op(wasm.I32x4Add)
		splatConst(f, 0xc8000fff) // 0xfff less 112 in the exponent
		f.Op(wasm.I32x4Add)
		f.I32Const(13)
		f.Op(wasm.I32x4ShrU)
		// Infinity, and what rounds to it.
		splatConst(f, 0x7c00)
		f.Get(abs)
		splatConst(f, 0x477ff000)
		f.Op(wasm.I32x4LtU)
		f.Choose()
		f.Get(small)
		f.Get(abs)
		splatConst(f, 0x38800000)
		f.Op(wasm.I32x4GeU)
		f.Choose()
		// NaN
		splatConst(f, 0x7e00)
		f.Get(abs)
		splatConst(f, 0x7f800000)
		f.Op(wasm.I32x4LeU)
		f.Choose()
		f.Get(sign)
		f.Op(wasm.V128Or)
	})
}

// fromHalf returns the function that converts the bits of floats of 16 bits in the lower half
// of each lane.
func (e *emitter) fromHalf() uint32 {
	return e.helper("fromHalf", vectorFunc, func(f *wasm.Func) {
		const x = 0
		mag, out := f.Local(wasm.V128), f.Local(wasm.V128)
		f.Get(x)
		splatConst(f, 0x7fff)
		f.Op(wasm.V128And)
		f.Set(mag)
		// Multiplying by 2^112 moves the exponent, and makes subnormal numbers normal.
		f.Get(mag)
		f.I32Const(13)
		f.Op(wasm.I32x4Shl)
		splatConst(f, 0x77800000)
		f.Op(wasm.F32x4Mul)
		f.Set(out)
		// Infinity and NaN keep the largest exponent.
		f.Get(out)
		f.Get(mag)
		splatConst(f, 0x7c00)
		f.Op(wasm.I32x4GeU)
		splatConst(f, 0x7f800000)
		f.Op(wasm.V128And)
		f.Op(wasm.V128Or)
		f.Get(x)
		splatConst(f, 0x8000)
		f.Op(wasm.V128And)
		f.I32Const(16)
		f.Op(wasm.I32x4Shl)
		f.Op(wasm.V128Or)
	})
}

// roundHalf returns the function that rounds floats of 32 bits to those that 16 bits hold.
func (e *emitter) roundHalf() uint32 {
	to, from := e.toHalf(), e.fromHalf()
	return e.helper("roundHalf", vectorFunc, func(f *wasm.Func) {
		f.Get(0)
		f.Call(to)
		f.Call(from)
	})
}
