package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// geometric writes the instructions of GLSL.std.450 whose leaves depend on all leaves of the
// operands, and reports whether the instruction is one.
func (e *emitter) geometric(v *ir.Value, number uint32) bool {
	a := v.Args
	n := countLeaves(a[0].Type)
	t := leavesOf(a[0].Type)[0]
	// dot pushes the sum of products of what x and y push.
	dot := func(m mode, x, y func(k int)) {
		for k := range n {
			x(k)
			y(k)
			m.op(ir.FMul, t)
			if k > 0 {
				m.op(ir.FAdd, t)
			}
		}
	}
	switch number {
	case glslLength:
		e.expression(v, 0, func(m mode) {
			x := func(k int) { m.get(a[0], k) }
			dot(m, x, x)
			m.ops(glslSimple[glslSqrt], t)
			m.normalise(t)
		})
	case glslDistance:
		e.expression(v, 0, func(m mode) {
			var parts []func()
			for k := range n {
				m.get(a[0], k)
				m.get(a[1], k)
				m.op(ir.FSub, t)
				parts = append(parts, m.local(t))
			}
			x := func(k int) { parts[k]() }
			dot(m, x, x)
			m.ops(glslSimple[glslSqrt], t)
			m.normalise(t)
		})
	case glslNormalize:
		for i := range n {
			e.expression(v, i, func(m mode) {
				x := func(k int) { m.get(a[0], k) }
				x(i)
				dot(m, x, x)
				m.ops(glslSimple[glslSqrt], t)
				m.normalise(t)
				m.op(ir.FDiv, t)
			})
		}
	case glslCross:
		for i := range n {
			p, q := (i+1)%3, (i+2)%3
			e.expression(v, i, func(m mode) {
				m.get(a[0], p)
				m.get(a[1], q)
				m.op(ir.FMul, t)
				m.get(a[1], p)
				m.get(a[0], q)
				m.op(ir.FMul, t)
				m.op(ir.FSub, t)
			})
		}
	case glslReflect: // I - 2*dot(N, I)*N
		for i := range n {
			e.expression(v, i, func(m mode) {
				m.get(a[0], i)
				dot(m, func(k int) { m.get(a[1], k) }, func(k int) { m.get(a[0], k) })
				m.constant(t, float(t, 2))
				m.op(ir.FMul, t)
				m.get(a[1], i)
				m.op(ir.FMul, t)
				m.op(ir.FSub, t)
			})
		}
	case glslFaceForward: // N if dot(Nref, I) < 0, otherwise -N
		for i := range n {
			e.expression(v, i, func(m mode) {
				m.get(a[0], i)
				m.get(a[0], i)
				m.ops(simple[ir.FNegate], t)
				dot(m, func(k int) { m.get(a[2], k) }, func(k int) { m.get(a[1], k) })
				m.constant(t, 0)
				m.compare(ir.FOrdLessThan, t)
				m.selects(t)
			})
		}
	case glslRefract:
		e.refract(v)
	case glslDeterminant:
		e.determinant(v)
	case glslInverse:
		e.inverse(v)
	case glslFrexpStruct, glslModfStruct:
		e.parts(v, number)
	case glslPackHalf:
		e.set(v, 0, func() { e.packHalf(func(k int) { e.push(a[0], k) }, true) }, func(int) { e.packHalf(func(k int) { e.pushVector(a[0], k, 0) }, false) })
	case glslUnpackHalf:
		for i := range 2 {
			unpack := func() {
				e.pushVector(a[0], 0, 0)
				if i == 1 {
					e.I32Const(16)
					e.Op(wasm.I32x4ShrU)
				} else {
					splatConst(e.Func, 0xffff)
					e.Op(wasm.V128And)
				}
				e.Call(e.fromHalf())
			}
			e.set(v, i, func() { unpack(); e.Lane(wasm.F32x4ExtractLane, 0) }, func(int) { unpack() })
		}
	case glslPackDouble, glslUnpackDouble: // The lower word is the first.
		e.bitcast(v)
	default:
		if f, ok := packings[number]; ok {
			e.pack(v, f)
			return true
		}
		return false
	}
	return true
}

// packing is a format of several small numbers in one word.
type packing struct {
	unpacks, signed bool
	bits            uint32
}

// packings are the formats of normalised integers.
var packings = map[uint32]packing{
	54: {bits: 8, signed: true}, 55: {bits: 8}, 56: {bits: 16, signed: true}, 57: {bits: 16},
	60: {unpacks: true, bits: 16, signed: true}, 61: {unpacks: true, bits: 16}, 63: {unpacks: true, bits: 8, signed: true}, 64: {unpacks: true, bits: 8},
}

// pack converts floats between -1 or 0 and 1 to integers in a word, or back.
func (e *emitter) pack(v *ir.Value, f packing) {
	a := v.Args[0]
	f32, i32 := &ir.Type{Kind: ir.Float, Bits: 32}, &ir.Type{Kind: ir.Int, Bits: 32}
	most := float64(uint32(1)<<f.bits - 1)
	least := 0.0
	if f.signed {
		most, least = float64(uint32(1)<<(f.bits-1)-1), -1
	}
	clamp := func(m mode) {
		for _, bound := range []struct {
			at float64
			op ir.Op
		}{{least, ir.FOrdGreaterThan}, {1, ir.FOrdLessThan}} {
			x := m.local(f32)
			x()
			m.constant(f32, float(f32, bound.at))
			x()
			m.constant(f32, float(f32, bound.at))
			m.compare(bound.op, f32)
			m.selects(f32)
		}
	}
	toInt, fromInt := opcodes{f32: wasm.I32TruncSatF32S, f32x4: wasm.I32x4TruncSatF32x4S}, opcodes{i32: wasm.F32ConvertI32U, i32x4: wasm.F32x4ConvertI32x4U}
	if f.signed {
		fromInt = opcodes{i32: wasm.F32ConvertI32S, i32x4: wasm.F32x4ConvertI32x4S}
	}
	shift := func(m mode, left, signed bool, by int32) {
		e.I32Const(by)
		switch {
		case left:
			m.ops(opcodes{i32: wasm.I32Shl, i32x4: wasm.I32x4Shl}, i32)
		case signed:
			m.ops(opcodes{i32: wasm.I32ShrS, i32x4: wasm.I32x4ShrS}, i32)
		default:
			m.ops(opcodes{i32: wasm.I32ShrU, i32x4: wasm.I32x4ShrU}, i32)
		}
	}
	if f.unpacks {
		for i := range countLeaves(v.Type) {
			e.expression(v, i, func(m mode) {
				m.get(a, 0)
				shift(m, true, false, 32-int32(f.bits)*int32(i+1))
				shift(m, false, f.signed, 32-int32(f.bits))
				m.ops(fromInt, i32)
				m.constant(f32, float(f32, most))
				m.op(ir.FDiv, f32)
				clamp(m)
			})
		}
		return
	}
	e.expression(v, 0, func(m mode) {
		for i := range countLeaves(a.Type) {
			m.get(a, i)
			clamp(m)
			m.constant(f32, float(f32, most))
			m.op(ir.FMul, f32)
			m.ops(glslSimple[glslRoundEven], f32)
			m.ops(toInt, f32)
			m.constant(i32, uint64(uint32(1)<<f.bits-1))
			m.op(ir.BitwiseAnd, i32)
			if i > 0 {
				shift(m, true, false, int32(f.bits)*int32(i))
				m.op(ir.BitwiseOr, i32)
			}
		}
	})
}

// packHalf pushes two floats, rounded to 16 bits, in one word.
func (e *emitter) packHalf(push func(k int), scalar bool) {
	for k := range 2 {
		push(k)
		if scalar {
			e.Op(wasm.F32x4Splat)
		}
		if e.Call(e.toHalf()); k == 1 {
			e.I32Const(16)
			e.Op(wasm.I32x4Shl)
			e.Op(wasm.V128Or)
		}
	}
	if scalar {
		e.Lane(wasm.I32x4ExtractLane, 0)
	}
}
