//go:build cgo

package spv_test

import (
	"math"
	"math/bits"
)

// intOp is an operation on integers, by what SPIR-V says of it.
type intOp struct {
	name string // as the assembler knows it, or OpExtInst and its number
	// kinds are of the result, and then of each operand: i an integer of either sign,
	// u an unsigned one, f a float, b a truth value, r of the result's type, s a
	// scalar integer of either sign; as a result 0 or 1, that part of a struct of two
	kinds string
	ref   func(x [4]uint32) uint32 // of a component; what floats there are, as their bits
	safe  func(x *[4]uint32)       // makes operands of any numbers that have a result
}

func sig(f func(a, b, c int32) int32) func([4]uint32) uint32 {
	return func(x [4]uint32) uint32 { return uint32(f(int32(x[0]), int32(x[1]), int32(x[2]))) }
}

func uns(f func(a, b, c uint32) uint32) func([4]uint32) uint32 {
	return func(x [4]uint32) uint32 { return f(x[0], x[1], x[2]) }
}

func truth(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func divisor(x *[4]uint32) {
	if x[1] == 0 || x[0] == 1<<31 && x[1] == math.MaxUint32 {
		x[1] = 3
	}
}

func amount(x *[4]uint32) { x[1] &= 31 }

// field makes an offset, which is that operand, and a count that lie within a word.
func field(at int) func(x *[4]uint32) {
	return func(x *[4]uint32) {
		x[at] &= 31
		x[at+1] %= 33 - x[at]
	}
}

func ordered(signed bool) func(x *[4]uint32) {
	return func(x *[4]uint32) {
		if signed && int32(x[1]) > int32(x[2]) || !signed && x[1] > x[2] {
			x[1], x[2] = x[2], x[1]
		}
	}
}

// float makes a float of a number, near enough that it fits an integer again.
func float(signed bool) func(x *[4]uint32) {
	return func(x *[4]uint32) {
		f := float32(x[0]) * 0.99
		if signed {
			f = float32(int32(x[0])) * 0.99
		}
		x[0] = math.Float32bits(f)
	}
}

func smod(a, b, _ int32) int32 {
	r := int64(a) % int64(b)
	if r != 0 && (r < 0) != (b < 0) {
		r += int64(b)
	}
	return int32(r)
}

var intOps = []intOp{
	{"OpSNegate", "ii", sig(func(a, _, _ int32) int32 { return -a }), nil},
	{"OpNot", "ii", uns(func(a, _, _ uint32) uint32 { return ^a }), nil},
	{"OpIAdd", "iii", uns(func(a, b, _ uint32) uint32 { return a + b }), nil},
	{"OpISub", "iii", uns(func(a, b, _ uint32) uint32 { return a - b }), nil},
	{"OpIMul", "iii", uns(func(a, b, _ uint32) uint32 { return a * b }), nil},
	{"OpUDiv", "uuu", uns(func(a, b, _ uint32) uint32 { return a / b }), divisor},
	{"OpSDiv", "iii", sig(func(a, b, _ int32) int32 { return a / b }), divisor},
	{"OpUMod", "uuu", uns(func(a, b, _ uint32) uint32 { return a % b }), divisor},
	{"OpSRem", "iii", sig(func(a, b, _ int32) int32 { return a % b }), divisor},
	{"OpSMod", "iii", sig(smod), divisor},
	{"OpShiftRightLogical", "iii", uns(func(a, b, _ uint32) uint32 { return a >> b }), amount},
	{"OpShiftRightArithmetic", "iii", sig(func(a, b, _ int32) int32 { return a >> b }), amount},
	{"OpShiftLeftLogical", "iii", uns(func(a, b, _ uint32) uint32 { return a << b }), amount},
	{"OpBitwiseOr", "iii", uns(func(a, b, _ uint32) uint32 { return a | b }), nil},
	{"OpBitwiseXor", "iii", uns(func(a, b, _ uint32) uint32 { return a ^ b }), nil},
	{"OpBitwiseAnd", "iii", uns(func(a, b, _ uint32) uint32 { return a & b }), nil},
	{"OpBitReverse", "ii", uns(func(a, _, _ uint32) uint32 { return bits.Reverse32(a) }), nil},
	{"OpBitCount", "ii", uns(func(a, _, _ uint32) uint32 { return uint32(bits.OnesCount32(a)) }), nil},
	{"OpBitFieldSExtract", "irss", sig(func(a, at, n int32) int32 {
		if n == 0 {
			return 0
		}
		return a << (32 - at - n) >> (32 - n)
	}), field(1)},
	{"OpBitFieldUExtract", "irss", uns(func(a, at, n uint32) uint32 { return a >> at & (1<<n - 1) }), field(1)},
	{"OpBitFieldInsert", "irrss", func(x [4]uint32) uint32 {
		m := uint32(1<<x[3]-1) << x[2]
		return x[0]&^m | x[1]<<x[2]&m
	}, field(2)},
	{"OpIEqual", "bii", uns(func(a, b, _ uint32) uint32 { return truth(a == b) }), nil},
	{"OpINotEqual", "bii", uns(func(a, b, _ uint32) uint32 { return truth(a != b) }), nil},
	{"OpUGreaterThan", "bii", uns(func(a, b, _ uint32) uint32 { return truth(a > b) }), nil},
	{"OpUGreaterThanEqual", "bii", uns(func(a, b, _ uint32) uint32 { return truth(a >= b) }), nil},
	{"OpULessThan", "bii", uns(func(a, b, _ uint32) uint32 { return truth(a < b) }), nil},
	{"OpULessThanEqual", "bii", uns(func(a, b, _ uint32) uint32 { return truth(a <= b) }), nil},
	{"OpSGreaterThan", "bii", sig(func(a, b, _ int32) int32 { return int32(truth(a > b)) }), nil},
	{"OpSGreaterThanEqual", "bii", sig(func(a, b, _ int32) int32 { return int32(truth(a >= b)) }), nil},
	{"OpSLessThan", "bii", sig(func(a, b, _ int32) int32 { return int32(truth(a < b)) }), nil},
	{"OpSLessThanEqual", "bii", sig(func(a, b, _ int32) int32 { return int32(truth(a <= b)) }), nil},
	{"OpConvertSToF", "fi", sig(func(a, _, _ int32) int32 { return int32(math.Float32bits(float32(a))) }), nil},
	{"OpConvertUToF", "fi", uns(func(a, _, _ uint32) uint32 { return math.Float32bits(float32(a)) }), nil},
	{"OpConvertFToS", "if", uns(func(a, _, _ uint32) uint32 { return uint32(int32(math.Float32frombits(a))) }), float(true)},
	{"OpConvertFToU", "uf", uns(func(a, _, _ uint32) uint32 { return uint32(math.Float32frombits(a)) }), float(false)},
	{"OpIAddCarry", "0uu", uns(func(a, b, _ uint32) uint32 { return a + b }), nil},
	{"OpIAddCarry", "1uu", uns(func(a, b, _ uint32) uint32 { return uint32((uint64(a) + uint64(b)) >> 32) }), nil},
	{"OpISubBorrow", "0uu", uns(func(a, b, _ uint32) uint32 { return a - b }), nil},
	{"OpISubBorrow", "1uu", uns(func(a, b, _ uint32) uint32 { return truth(a < b) }), nil},
	{"OpUMulExtended", "0uu", uns(func(a, b, _ uint32) uint32 { return a * b }), nil},
	{"OpUMulExtended", "1uu", uns(func(a, b, _ uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }), nil},
	{"OpSMulExtended", "0rr", uns(func(a, b, _ uint32) uint32 { return a * b }), nil},
	{"OpSMulExtended", "1rr", sig(func(a, b, _ int32) int32 { return int32(int64(a) * int64(b) >> 32) }), nil},
	{"OpSelect", "ibrr", func(x [4]uint32) uint32 { return x[2-x[0]&1] }, nil},
	{"OpBitcast", "ii", uns(func(a, _, _ uint32) uint32 { return a }), nil},
	{"OpExtInst 5", "ii", sig(func(a, _, _ int32) int32 { return max(a, -a) }), nil},                                // SAbs
	{"OpExtInst 7", "ii", sig(func(a, _, _ int32) int32 { return int32(truth(a > 0)) - int32(truth(a < 0)) }), nil}, // SSign
	{"OpExtInst 38", "iii", uns(func(a, b, _ uint32) uint32 { return min(a, b) }), nil},
	{"OpExtInst 39", "iii", sig(func(a, b, _ int32) int32 { return min(a, b) }), nil},
	{"OpExtInst 41", "iii", uns(func(a, b, _ uint32) uint32 { return max(a, b) }), nil},
	{"OpExtInst 42", "iii", sig(func(a, b, _ int32) int32 { return max(a, b) }), nil},
	{"OpExtInst 44", "iiii", uns(func(a, b, c uint32) uint32 { return min(max(a, b), c) }), ordered(false)},
	{"OpExtInst 45", "iiii", sig(func(a, b, c int32) int32 { return min(max(a, b), c) }), ordered(true)},
	{"OpExtInst 73", "ii", uns(func(a, _, _ uint32) uint32 { // FindILsb
		if a == 0 {
			return math.MaxUint32
		}
		return uint32(bits.TrailingZeros32(a))
	}), nil},
	{"OpExtInst 74", "ii", sig(func(a, _, _ int32) int32 { return int32(bits.Len32(uint32(a^a>>31))) - 1 }), nil}, // FindSMsb
	{"OpExtInst 75", "ii", sig(func(a, _, _ int32) int32 { return int32(bits.Len32(uint32(a))) - 1 }), nil},       // FindUMsb
}
