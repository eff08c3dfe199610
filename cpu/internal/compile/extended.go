package compile

import (
	"math"

	"github.com/lathe-gpu/lathe/cpu/internal/vecmath"
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// The instructions of GLSL.std.450. Source: Khronos, "SPIR-V Extended Instructions for GLSL".
const (
	glslRound        = 1
	glslRoundEven    = 2
	glslTrunc        = 3
	glslFAbs         = 4
	glslSAbs         = 5
	glslFSign        = 6
	glslSSign        = 7
	glslFloor        = 8
	glslCeil         = 9
	glslFract        = 10
	glslRadians      = 11
	glslDegrees      = 12
	glslSin          = 13
	glslCos          = 14
	glslTan          = 15
	glslAsin         = 16
	glslAcos         = 17
	glslAtan         = 18
	glslSinh         = 19
	glslCosh         = 20
	glslTanh         = 21
	glslAsinh        = 22
	glslAcosh        = 23
	glslAtanh        = 24
	glslAtan2        = 25
	glslPow          = 26
	glslExp          = 27
	glslLog          = 28
	glslExp2         = 29
	glslLog2         = 30
	glslSqrt         = 31
	glslInverseSqrt  = 32
	glslDeterminant  = 33
	glslInverse      = 34
	glslModf         = 35
	glslModfStruct   = 36
	glslFMin         = 37
	glslUMin         = 38
	glslSMin         = 39
	glslFMax         = 40
	glslUMax         = 41
	glslSMax         = 42
	glslFClamp       = 43
	glslUClamp       = 44
	glslSClamp       = 45
	glslFMix         = 46
	glslStep         = 48
	glslSmoothStep   = 49
	glslFma          = 50
	glslFrexp        = 51
	glslFrexpStruct  = 52
	glslLdexp        = 53
	glslPackHalf     = 58
	glslPackDouble   = 59
	glslUnpackHalf   = 62
	glslUnpackDouble = 65
	glslLength       = 66
	glslDistance     = 67
	glslCross        = 68
	glslNormalize    = 69
	glslFaceForward  = 70
	glslReflect      = 71
	glslRefract      = 72
	glslFindILsb     = 73
	glslFindSMsb     = 74
	glslFindUMsb     = 75
	glslNMin         = 79
	glslNMax         = 80
	glslNClamp       = 81
)

// elementary are the instructions that are functions of vecmath.
var elementary = map[uint32]vecmath.Name{
	glslSin: vecmath.Sin, glslCos: vecmath.Cos, glslTan: vecmath.Tan, glslAsin: vecmath.Asin, glslAcos: vecmath.Acos, glslAtan: vecmath.Atan,
	glslSinh: vecmath.Sinh, glslCosh: vecmath.Cosh, glslTanh: vecmath.Tanh, glslAsinh: vecmath.Asinh, glslAcosh: vecmath.Acosh, glslAtanh: vecmath.Atanh,
	glslAtan2: vecmath.Atan2, glslPow: vecmath.Pow, glslExp: vecmath.Exp, glslLog: vecmath.Log, glslExp2: vecmath.Exp2, glslLog2: vecmath.Log2,
}

// The instructions that are one of WebAssembly's.
var glslSimple = map[uint32]opcodes{
	glslRound:     {f32: wasm.F32Nearest, f64: wasm.F64Nearest, f32x4: wasm.F32x4Nearest, f64x2: wasm.F64x2Nearest},
	glslRoundEven: {f32: wasm.F32Nearest, f64: wasm.F64Nearest, f32x4: wasm.F32x4Nearest, f64x2: wasm.F64x2Nearest},
	glslTrunc:     {f32: wasm.F32Trunc, f64: wasm.F64Trunc, f32x4: wasm.F32x4Trunc, f64x2: wasm.F64x2Trunc},
	glslFAbs:      {f32: wasm.F32Abs, f64: wasm.F64Abs, f32x4: wasm.F32x4Abs, f64x2: wasm.F64x2Abs},
	glslFloor:     {f32: wasm.F32Floor, f64: wasm.F64Floor, f32x4: wasm.F32x4Floor, f64x2: wasm.F64x2Floor},
	glslCeil:      {f32: wasm.F32Ceil, f64: wasm.F64Ceil, f32x4: wasm.F32x4Ceil, f64x2: wasm.F64x2Ceil},
	glslSqrt:      {f32: wasm.F32Sqrt, f64: wasm.F64Sqrt, f32x4: wasm.F32x4Sqrt, f64x2: wasm.F64x2Sqrt},
}

// extended writes an instruction of GLSL.std.450.
func (e *emitter) extended(v *ir.Value) {
	number := v.Literals[0]
	if name, ok := elementary[number]; ok {
		e.elementary(v, name)
		return
	}
	if e.geometric(v, number) {
		return
	}
	for i := range countLeaves(v.Type) {
		t := leavesOf(v.Type)[i]
		f := e.glslLeaf(v, i, number, t)
		if f == nil {
			unsupportedf("the instruction %d of GLSL.std.450", number)
		}
		f()
	}
}

// elementary calls a function of vecmath.
func (e *emitter) elementary(v *ir.Value, name vecmath.Name) {
	for i := range countLeaves(v.Type) {
		t := leavesOf(v.Type)[i]
		if isWide(t) {
			unsupportedf("%s of 64 bits", string(name))
		}
		call := func() {
			for _, a := range v.Args {
				e.pushVector(a, i, 0)
			}
			e.Call(e.lib.Func(name))
			e.normaliseVector(t)
		}
		e.set(v, i, func() { call(); e.Lane(wasm.F32x4ExtractLane, 0) }, func(int) { call() })
	}
}

// one is the number 1 of a float type.
func one(t *ir.Type) uint64 { return float(t, 1) }

// float returns the bits of a float of a type.
func float(t *ir.Type, x float64) uint64 {
	switch t.Bits {
	case 64:
		return math.Float64bits(x)
	case 16:
		return uint64(halfBits(x))
	}
	return uint64(math.Float32bits(float32(x)))
}

// halfBits returns the bits of a float of 16 bits for a number that it holds exactly, and of
// a number near others.
func halfBits(x float64) uint16 {
	b := math.Float32bits(float32(x))
	if b<<1 == 0 {
		return uint16(b >> 16)
	}
	exp := int(b>>23&0xff) - 112
	return uint16(b>>16&0x8000) | uint16(exp<<10) | uint16(b>>13&0x3ff)
}

// glslLeaf returns what computes a leaf of an instruction, or nil if there is none.
func (e *emitter) glslLeaf(v *ir.Value, i int, number uint32, t *ir.Type) func() {
	a := v.Args
	expr := func(f func(m mode)) func() { return func() { e.expression(v, i, f) } }
	get := func(m mode, k int) { m.get(a[k], min(i, countLeaves(a[k].Type)-1)) }
	if o, ok := glslSimple[number]; ok {
		return expr(func(m mode) { get(m, 0); m.ops(o, t); m.normalise(t) })
	}
	// less and more are the minimum and the maximum of two numbers on the stack below.
	choose := func(m mode, first, second func(), compare ir.Op) {
		if op := extremes[compare]; !m.scalar && !isWide(t) && op != wasm.Unreachable {
			second() // pmin takes its first operand unless the second one is less.
			first()
			m.e.Op(op)
			return
		}
		first()
		second()
		first()
		second()
		m.compare(compare, t)
		m.selects(t)
	}
	switch number {
	case glslFMin, glslNMin, glslUMin, glslSMin, glslFMax, glslNMax, glslUMax, glslSMax:
		return expr(func(m mode) {
			x, y := func() { get(m, 0) }, func() { get(m, 1) }
			choose(m, x, y, orders[number])
			if number == glslNMin || number == glslNMax {
				m.unlessNaN(t, x, y)
			}
		})
	case glslFClamp, glslNClamp, glslUClamp, glslSClamp:
		lower := map[uint32]ir.Op{glslFClamp: ir.FOrdGreaterThan, glslNClamp: ir.FOrdGreaterThan, glslUClamp: ir.UGreaterThan, glslSClamp: ir.SGreaterThan}[number]
		upper := map[uint32]ir.Op{glslFClamp: ir.FOrdLessThan, glslNClamp: ir.FOrdLessThan, glslUClamp: ir.ULessThan, glslSClamp: ir.SLessThan}[number]
		return expr(func(m mode) {
			choose(m, func() { get(m, 0) }, func() { get(m, 1) }, lower)
			x := m.local(t)
			choose(m, x, func() { get(m, 2) }, upper)
		})
	case glslSAbs:
		return expr(func(m mode) {
			m.constant(t, 0)
			get(m, 0)
			m.op(ir.ISub, t)
			minus := m.local(t)
			choose(m, func() { get(m, 0) }, minus, ir.SGreaterThan)
			m.normalise(t)
		})
	case glslFSign, glslSSign:
		plus, minus, zero := one(t), float(t, -1), uint64(0)
		greater, less := ir.FOrdGreaterThan, ir.FOrdLessThan
		if number == glslSSign {
			plus, minus, greater, less = 1, ^uint64(0), ir.SGreaterThan, ir.SLessThan
		}
		return expr(func(m mode) {
			m.constant(t, plus)
			m.constant(t, minus)
			get(m, 0)
			get(m, 0)
			m.constant(t, zero)
			m.compare(less, t)
			m.selects(t)
			get(m, 0)
			m.constant(t, zero)
			m.compare(greater, t)
			m.selects(t)
		})
	case glslFract:
		return expr(func(m mode) {
			get(m, 0)
			get(m, 0)
			m.ops(glslSimple[glslFloor], t)
			m.op(ir.FSub, t)
		})
	case glslRadians, glslDegrees:
		factor := math.Pi / 180
		if number == glslDegrees {
			factor = 180 / math.Pi
		}
		exact := t
		if isHalf(t) { // The factor has more bits than such a float.
			exact = &ir.Type{Kind: ir.Float, Bits: 32}
		}
		return expr(func(m mode) { get(m, 0); m.constant(exact, float(exact, factor)); m.op(ir.FMul, exact); m.normalise(t) })
	case glslInverseSqrt:
		return expr(func(m mode) {
			m.constant(t, one(t))
			get(m, 0)
			m.ops(glslSimple[glslSqrt], t)
			m.op(ir.FDiv, t)
		})
	case glslFMix: // x*(1-a) + y*a
		return expr(func(m mode) {
			get(m, 0)
			m.constant(t, one(t))
			get(m, 2)
			m.op(ir.FSub, t)
			m.op(ir.FMul, t)
			get(m, 1)
			get(m, 2)
			m.op(ir.FMul, t)
			m.op(ir.FAdd, t)
		})
	case glslStep:
		return expr(func(m mode) {
			m.constant(t, 0)
			m.constant(t, one(t))
			get(m, 1)
			get(m, 0)
			m.compare(ir.FOrdLessThan, t)
			m.selects(t)
		})
	case glslSmoothStep:
		return expr(func(m mode) {
			get(m, 2)
			get(m, 0)
			m.op(ir.FSub, t)
			get(m, 1)
			get(m, 0)
			m.op(ir.FSub, t)
			m.op(ir.FDiv, t)
			x := m.local(t)
			choose(m, x, func() { m.constant(t, 0) }, ir.FOrdGreaterThan)
			y := m.local(t)
			choose(m, y, func() { m.constant(t, one(t)) }, ir.FOrdLessThan)
			z := m.local(t)
			z()
			z()
			m.op(ir.FMul, t)
			m.constant(t, float(t, 3))
			m.constant(t, float(t, 2))
			z()
			m.op(ir.FMul, t)
			m.op(ir.FSub, t)
			m.op(ir.FMul, t)
		})
	case glslFma: // The specification lets it round twice.
		return expr(func(m mode) {
			get(m, 0)
			get(m, 1)
			m.op(ir.FMul, t)
			get(m, 2)
			m.op(ir.FAdd, t)
		})
	case glslLdexp:
		return e.perLane(v, i, t, func(push operands) { e.ldexp(t, push) })
	case glslFindILsb, glslFindUMsb, glslFindSMsb:
		return e.perLane(v, i, t, func(push operands) { e.findBit(number, leavesOf(a[0].Type)[i], push) })
	}
	return nil
}

// orders are the comparisons by which the second operand is taken if the first one does not
// come before it.
var orders = map[uint32]ir.Op{
	glslFMin: ir.FOrdLessThan, glslNMin: ir.FOrdLessThan, glslUMin: ir.ULessThan, glslSMin: ir.SLessThan,
	glslFMax: ir.FOrdGreaterThan, glslNMax: ir.FOrdGreaterThan, glslUMax: ir.UGreaterThan, glslSMax: ir.SGreaterThan,
}

// extremes are the instructions that choose from two vectors by a comparison.
var extremes = map[ir.Op]wasm.Op{
	ir.FOrdLessThan: wasm.F32x4Pmin, ir.FOrdGreaterThan: wasm.F32x4Pmax,
	ir.SLessThan: wasm.I32x4MinS, ir.SGreaterThan: wasm.I32x4MaxS, ir.ULessThan: wasm.I32x4MinU, ir.UGreaterThan: wasm.I32x4MaxU,
}

// compare compares two numbers on the stack. The result is a boolean, or a mask of as many
// bits as the numbers have.
func (m mode) compare(op ir.Op, t *ir.Type) {
	o := simple[op]
	if !m.scalar && o.vector(t) == wasm.Unreachable { // unsigned integers of 64 bits
		y := m.local(t)
		turn := func() {
			m.e.V128Const([4]uint32{0, 1 << 31, 0, 1 << 31})
			m.e.Op(wasm.V128Xor)
		}
		turn()
		y()
		turn()
		m.e.Op(map[ir.Op]wasm.Op{ir.ULessThan: wasm.I64x2LtS, ir.UGreaterThan: wasm.I64x2GtS}[op])
		return
	}
	m.ops(o, t)
}

// selects takes the first of two values on the stack where the condition above them holds.
func (m mode) selects(*ir.Type) {
	if m.scalar {
		m.e.Op(wasm.Select)
		return
	}
	m.e.Choose()
}

// unlessNaN replaces the number on the stack by x if y is no number, and by y if x is none.
func (m mode) unlessNaN(t *ir.Type, x, y func()) {
	for _, pair := range [][2]func(){{x, y}, {y, x}} {
		r := m.local(t)
		pair[0]()
		r()
		pair[1]()
		pair[1]()
		m.compare(ir.FUnordNotEqual, t)
		m.selects(t)
	}
}

// perLane returns what computes a leaf lane by lane.
func (e *emitter) perLane(v *ir.Value, i int, t *ir.Type, f func(push operands)) func() {
	return func() {
		e.set(v, i, func() { f(func(k int) { e.push(v.Args[k], i) }); e.normalise(t) }, func(half int) {
			e.lanewise(t, half, func(lane int) {
				f(func(k int) { e.pushLane(v.Args[k], i, lane) })
				e.normalise(t)
			})
		})
	}
}

// ldexp multiplies a float by a power of two, in three steps that cannot overflow before the
// result does.
func (e *emitter) ldexp(t *ir.Type, push operands) {
	bias, mantissa, most := int32(127), int32(23), int32(300)
	if isWide(t) {
		bias, mantissa, most = 1023, 52, 2200
	}
	push(1)
	e.clampInt(&ir.Type{Kind: ir.Int, Bits: 32}, -int64(most), int64(most))
	n := e.newLocal(wasm.I32)
	push(0)
	// A third of the exponent at a time, toward zero, and then what is left.
	third := e.Local(wasm.I32)
	e.Get(n)
	e.I32Const(3)
	e.Op(wasm.I32DivS)
	e.Set(third)
	power := func(exponent func()) {
		exponent()
		e.I32Const(bias)
		e.Op(wasm.I32Add)
		if isWide(t) {
			e.Op(wasm.I64ExtendI32U)
			e.I64Const(int64(mantissa))
			e.Op(wasm.I64Shl)
			e.Op(wasm.F64ReinterpretI64)
			e.Op(wasm.F64Mul)
			return
		}
		e.I32Const(mantissa)
		e.Op(wasm.I32Shl)
		e.Op(wasm.F32ReinterpretI32)
		e.Op(wasm.F32Mul)
	}
	power(func() { e.Get(third) })
	power(func() { e.Get(third) })
	power(func() {
		e.Get(n)
		e.Get(third)
		e.I32Const(2)
		e.Op(wasm.I32Mul)
		e.Op(wasm.I32Sub)
	})
}

// findBit computes the number of a bit of an integer, or -1.
func (e *emitter) findBit(number uint32, t *ir.Type, push operands) {
	if isWide(t) {
		unsupportedf("the number of a bit of 64")
	}
	push(0)
	switch {
	case number == glslFindSMsb: // of the first bit that is not as the sign
		if !t.Signed {
			e.normalise(&ir.Type{Kind: ir.Int, Bits: t.Bits, Signed: true})
		}
		x := e.newLocal(wasm.I32)
		e.Get(x)
		e.Get(x)
		e.I32Const(31)
		e.Op(wasm.I32ShrS)
		e.Op(wasm.I32Xor)
	case t.Bits < 32:
		e.normalise(&ir.Type{Kind: ir.Int, Bits: t.Bits})
	}
	if number != glslFindILsb {
		clz := e.newLocal(wasm.I32)
		e.I32Const(31)
		e.Get(clz)
		e.Op(wasm.I32Clz)
		e.Op(wasm.I32Sub)
		return
	}
	x := e.newLocal(wasm.I32)
	e.Get(x)
	e.Op(wasm.I32Ctz)
	e.I32Const(-1)
	e.Get(x)
	e.Op(wasm.Select)
}
