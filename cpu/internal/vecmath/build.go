package vecmath

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/wasm"
)

// fn is a function that is being written. Its methods append instructions and put each
// result into a new local variable, which costs nothing: the engine makes registers of them.
type fn struct{ *wasm.Func }

// value is an operand: a local variable or a constant vector.
type value struct {
	local   uint32
	literal bool
	words   [4]uint32
}

// words returns a vector of four equal words.
func words(w uint32) value { return value{literal: true, words: [4]uint32{w, w, w, w}} }

// f32 returns a vector of four equal numbers.
func f32(x float32) value { return words(math.Float32bits(x)) }

// f64 returns a vector of two equal numbers.
func f64(x float64) value {
	b := math.Float64bits(x)
	lo, hi := uint32(b), uint32(b>>32)
	return value{literal: true, words: [4]uint32{lo, hi, lo, hi}}
}

func (f fn) push(v value) {
	if v.literal {
		f.V128Const(v.words)
		return
	}
	f.Get(v.local)
}

// pop puts what is on the stack into a new variable.
func (f fn) pop() value { return f.popAs(wasm.V128) }

func (f fn) popAs(t wasm.ValType) value {
	v := value{local: f.Local(t)}
	f.Set(v.local)
	return v
}

// keep puts a constant that is used several times into a variable.
func (f fn) keep(v value) value {
	f.push(v)
	return f.pop()
}

// op appends an instruction on vectors.
func (f fn) op(o wasm.Op, operands ...value) value {
	for _, v := range operands {
		f.push(v)
	}
	f.Op(o)
	return f.pop()
}

// assign sets a variable anew, for what a branch changes.
func (f fn) assign(to, from value) {
	f.push(from)
	f.Set(to.local)
}

func (f fn) add(a, b value) value  { return f.op(wasm.F32x4Add, a, b) }
func (f fn) sub(a, b value) value  { return f.op(wasm.F32x4Sub, a, b) }
func (f fn) mul(a, b value) value  { return f.op(wasm.F32x4Mul, a, b) }
func (f fn) div(a, b value) value  { return f.op(wasm.F32x4Div, a, b) }
func (f fn) sqrt(a value) value    { return f.op(wasm.F32x4Sqrt, a) }
func (f fn) abs(a value) value     { return f.op(wasm.F32x4Abs, a) }
func (f fn) lt(a, b value) value   { return f.op(wasm.F32x4Lt, a, b) }
func (f fn) eq(a, b value) value   { return f.op(wasm.F32x4Eq, a, b) }
func (f fn) addi(a, b value) value { return f.op(wasm.I32x4Add, a, b) }
func (f fn) subi(a, b value) value { return f.op(wasm.I32x4Sub, a, b) }
func (f fn) add2(a, b value) value { return f.op(wasm.F64x2Add, a, b) }
func (f fn) sub2(a, b value) value { return f.op(wasm.F64x2Sub, a, b) }
func (f fn) mul2(a, b value) value { return f.op(wasm.F64x2Mul, a, b) }
func (f fn) and(a, b value) value  { return f.op(wasm.V128And, a, b) }
func (f fn) or(a, b value) value   { return f.op(wasm.V128Or, a, b) }
func (f fn) xor(a, b value) value  { return f.op(wasm.V128Xor, a, b) }

// sel returns the lanes of a where the mask is set, and those of b elsewhere.
func (f fn) sel(mask, a, b value) value {
	f.push(a)
	f.push(b)
	f.push(mask)
	f.Choose()
	return f.pop()
}

// clamp returns x limited to [lo, hi]. A NaN stays one.
func (f fn) clamp(x value, lo, hi float32) value {
	// The operand order makes pmax and pmin return x where the comparison with it fails.
	x = f.op(wasm.F32x4Pmax, x, f32(lo))
	return f.op(wasm.F32x4Pmin, x, f32(hi))
}

// shift appends a shift of the lanes by a constant.
func (f fn) shift(o wasm.Op, a value, by int32) value {
	f.push(a)
	f.I32Const(by)
	f.Op(o)
	return f.pop()
}

func (f fn) shl(a value, by int32) value  { return f.shift(wasm.I32x4Shl, a, by) }
func (f fn) shrS(a value, by int32) value { return f.shift(wasm.I32x4ShrS, a, by) }

// poly returns c[0] + c[1]*x + c[2]*x*x and so on. It adds the even and the odd powers
// separately, because two short chains of instructions take less time than a long one.
func (f fn) poly(x value, c []float32) value {
	if len(c) < 4 {
		return f.horner(x, c)
	}
	var even, odd []float32
	for i, v := range c {
		if i%2 == 0 {
			even = append(even, v)
		} else {
			odd = append(odd, v)
		}
	}
	xx := f.mul(x, x)
	return f.add(f.horner(xx, even), f.mul(x, f.horner(xx, odd)))
}

func (f fn) horner(x value, c []float32) value {
	p := f32(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		p = f.add(f.mul(p, x), f32(c[i]))
	}
	return p
}

// ifAny opens a block that runs if a lane of the mask is set.
func (f fn) ifAny(mask value) {
	f.push(mask)
	f.Op(wasm.V128AnyTrue)
	f.Open(wasm.If, wasm.Empty)
}

// returnCall ends the block of ifAny with the result of another function.
func (f fn) returnCall(fun uint32, operands ...value) {
	for _, v := range operands {
		f.push(v)
	}
	f.Call(fun)
	f.Op(wasm.Return)
	f.End()
}

// negative returns a mask of the lanes whose first bit is set.
func (f fn) negative(a value) value { return f.op(wasm.I32x4LtS, a, words(0)) }

// odd returns a mask of the lanes whose last bit is set.
func (f fn) odd(a value) value { return f.subi(words(0), f.and(a, words(1))) }

// high returns the upper two lanes as the lower ones. Here and in join, lanes of 64 bits
// are moved, which takes the engine fewer instructions than a shuffle.
func (f fn) high(a value) value {
	f.push(a)
	f.Lane(wasm.F64x2ExtractLane, 1)
	f.Op(wasm.F64x2Splat)
	return f.pop()
}

// halves returns the lanes as f64, the lower two and the upper two.
func (f fn) halves(a value) [2]value {
	return [2]value{f.op(wasm.F64x2PromoteLowF32x4, a), f.op(wasm.F64x2PromoteLowF32x4, f.high(a))}
}

// join is the opposite of halves. It rounds.
func (f fn) join(h [2]value) value {
	f.push(f.op(wasm.F32x4DemoteF64x2Zero, h[0]))
	f.push(f.op(wasm.F32x4DemoteF64x2Zero, h[1]))
	f.Lane(wasm.F64x2ExtractLane, 0)
	f.Lane(wasm.F64x2ReplaceLane, 1)
	return f.pop()
}

// lowWords returns the lower words of the four lanes of 64 bits.
func (f fn) lowWords(h [2]value) value {
	f.push(h[0])
	f.push(h[1])
	f.Shuffle([16]byte{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27})
	return f.pop()
}

// nearest rounds x to integers. It returns them as numbers, and as integers in the low 22
// bits of words. |x| is less than 2^22.
func (f fn) nearest(x value) (number, bits value) {
	// The sum is rounded to an integer, because its last bit has the value 1.
	bits = f.add(x, f32(magic))
	return f.sub(bits, f32(magic)), bits
}

// nearest2 does the same for two numbers, of less than 2^51.
func (f fn) nearest2(x value) (number, bits value) {
	bits = f.add2(x, f64(magic2))
	return f.sub2(bits, f64(magic2)), bits
}

const (
	magic  = 0x1.8p23
	magic2 = 0x1.8p52

	infinity = 0x7f800000
	signBit  = 0x80000000
)

// nan is the NaN that invalid arguments give.
var nan = words(0x7fc00000)

var infinite = float32(math.Inf(1))
