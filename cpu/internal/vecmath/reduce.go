package vecmath

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/wasm"
)

const (
	halfPi    = math.Pi / 2
	twoOverPi = 1 / halfPi

	// Up to this bound, n of reduce has at most 12 bits.
	reduceLimit = 6400
	// The sum of these is pi/2. The first four are multiples of 2^-11, 2^-24, 2^-36 and
	// 2^-48, and have at most 12 bits.
	halfPi1 = 0x1.922p0
	halfPi2 = -0x1.2cp-18
	halfPi3 = 0x1.11p-26
	halfPi4 = 0x1.69p-39
	halfPi5 = -0x1.ee59dap-50

	// The same in f64, for n of 20 bits. halfPiHigh has 33 bits.
	doubleLimit = 0x1p20
	halfPiHigh  = 0x1.921fb544p0
	halfPiLow   = 0x1.0b4611a626331p-34
)

// writeSlowReduce writes a function that reduces vectors without negative lanes, as reduce
// does. It returns high, low and the quadrant.
func writeSlowReduce(l *Library, f fn) {
	x := param(0)
	var r, n [2]value
	for i, h := range f.halves(x) {
		number, bits := f.nearest2(f.mul2(h, f64(twoOverPi)))
		n[i] = bits
		h = f.sub2(h, f.mul2(number, f64(halfPiHigh)))
		r[i] = f.sub2(h, f.mul2(number, f64(halfPiLow)))
	}
	quadrant := f.lowWords(n)

	huge := f.op(wasm.F32x4Gt, x, f32(doubleLimit))
	f.ifAny(huge)
	for lane := range byte(4) {
		f.push(x)
		f.Lane(wasm.I32x4ExtractLane, lane)
		bits := f.popAs(wasm.I32)
		f.push(bits)
		f.F32Const(0x49800000) // the bits of doubleLimit
		f.Op(wasm.I32ReinterpretF32)
		f.Op(wasm.I32GtS)
		f.Open(wasm.If, wasm.Empty)
		f.push(bits)
		f.Call(l.Func(hugeReduce))
		q, y := f.popAs(wasm.I32), f.popAs(wasm.F64)
		f.push(quadrant)
		f.push(q)
		f.Lane(wasm.I32x4ReplaceLane, lane)
		f.Set(quadrant.local)
		half := r[lane/2]
		f.push(half)
		f.push(y)
		f.Lane(wasm.F64x2ReplaceLane, lane%2)
		f.Set(half.local)
		f.End()
	}
	f.End()

	high := f.join(r)
	// The difference is NaN for infinite lanes, and 0 for others.
	f.push(f.add(high, f.sub(x, x)))
	var low [2]value
	for i, h := range f.halves(high) {
		low[i] = f.sub2(r[i], h)
	}
	f.push(f.join(low))
	f.push(quadrant)
}

// twoOverPiBits are bits of 2/pi. The first one has the value 2^4.
var twoOverPiBits = [4]uint64{0x0517cc1b727220a9, 0x4fe13abe8fa9a6ee, 0x06db14acc9e21c82, 0x0ff28b1d5ef5de2b}

// writeHugeReduce writes a function that reduces a number of at least 2^20, given as its
// bits. It returns the rest and the quadrant.
//
// The number is m*2^e with an integer m of 24 bits. Bits of 2/pi that m*2^e makes multiples
// of 4 do not matter. The function multiplies m with the 96 bits that follow. It keeps the
// 64 bits of the product from the value 2 on. The last one has the value 2^-62. As no f32
// is closer than about 2^-30 to a multiple of pi/2, the rest has 30 bits or more.
func writeHugeReduce(_ *Library, f fn) {
	bits := value{}
	i64 := func(o wasm.Op, a value, b int64) value {
		f.push(a)
		f.I64Const(b)
		f.Op(o)
		return f.popAs(wasm.I64)
	}
	op64 := func(o wasm.Op, operands ...value) value {
		for _, v := range operands {
			f.push(v)
		}
		f.Op(o)
		return f.popAs(wasm.I64)
	}
	// m is the mantissa.
	f.push(bits)
	f.I32Const(0x7fffff)
	f.Op(wasm.I32And)
	f.I32Const(0x800000)
	f.Op(wasm.I32Or)
	f.Op(wasm.I64ExtendI32U)
	m := f.popAs(wasm.I64)
	// skip is the number of bits of 2/pi that do not matter. The bit of value 2^(1-e) is the
	// first one that does, and twoOverPiBits begins with 2^4. So skip is e+3, where e is
	// the exponent field less 150.
	f.push(bits)
	f.I32Const(23)
	f.Op(wasm.I32ShrU)
	f.I32Const(150 - 3)
	f.Op(wasm.I32Sub)
	f.Op(wasm.I64ExtendI32S)
	skip := f.popAs(wasm.I64)
	// word returns 64 bits from the bit skip+64*i on.
	part := func(i int) value {
		f.I64Const(int64(twoOverPiBits[i+1]))
		f.I64Const(int64(twoOverPiBits[i]))
		f.push(skip)
		f.I64Const(64)
		f.Op(wasm.I64GeU)
		f.Op(wasm.Select)
		return f.popAs(wasm.I64)
	}
	word := func(a, b value) value {
		a = op64(wasm.I64Shl, a, skip)
		// The shift is by 64-skip, in two steps because shifts are modulo 64.
		b = i64(wasm.I64ShrU, b, 1)
		f.push(b)
		f.push(i64(wasm.I64Xor, skip, 63))
		f.Op(wasm.I64ShrU)
		return op64(wasm.I64Or, a, f.popAs(wasm.I64))
	}
	first, second, third := part(0), part(1), part(2)
	high := op64(wasm.I64Mul, word(first, second), m)
	low := op64(wasm.I64Mul, i64(wasm.I64ShrU, word(second, third), 32), m)
	product := op64(wasm.I64Add, high, i64(wasm.I64ShrU, low, 32))
	// The quadrant is the nearest integer, and what remains has a sign.
	quadrant := i64(wasm.I64ShrU, i64(wasm.I64Add, product, 1<<61), 62)
	rest := op64(wasm.I64Sub, product, i64(wasm.I64Shl, quadrant, 62))
	f.push(rest)
	f.Op(wasm.F64ConvertI64S)
	f.F64Const(halfPi * 0x1p-62)
	f.Op(wasm.F64Mul)
	f.push(quadrant)
	f.Op(wasm.I32WrapI64)
}
