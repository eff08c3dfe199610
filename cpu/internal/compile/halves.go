package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// twoHalves marks an SDot of words that hold two signed integers of 16 bits. SPIR-V has such
// products of words with four integers of 8 bits only, whose number is 0.
const twoHalves = 0x100

// pairHalves makes an SDot of the sum of the products of the halves of two words. Shaders write
// it as low(a)·low(b) + high(a)·high(b), with bitfieldExtract(x, 0, 16) and x >> 16.
func pairHalves(f *ir.Func) {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op != ir.IAdd || !isWord(v.Type) || v.Args[0].Op != ir.IMul || v.Args[1].Op != ir.IMul {
				continue
			}
			low, high := v.Args[0].Args, v.Args[1].Args
			x, y := lowHalf(low[0]), lowHalf(low[1])
			if x != nil && y != nil && x == highHalf(high[0]) && y == highHalf(high[1]) {
				v.Op, v.Args, v.Literals = ir.SDot, []*ir.Value{x, y}, []uint32{twoHalves}
			}
		}
	}
}

// lowHalf returns the word whose lower half v is, with its sign, or nil.
func lowHalf(v *ir.Value) *ir.Value {
	if v.Op == ir.BitFieldSExtract && isWord(v.Type) && isConstant(v.Args[1], 0) && isConstant(v.Args[2], 16) {
		return v.Args[0]
	}
	return nil
}

// highHalf returns the word whose upper half v is, with its sign, or nil.
func highHalf(v *ir.Value) *ir.Value {
	if v.Op == ir.ShiftRightArithmetic && isWord(v.Type) && isConstant(v.Args[1], 16) {
		return v.Args[0]
	}
	return nil
}

// dotHalves writes an SDot of words with two halves.
func (e *emitter) dotHalves(v *ir.Value) {
	a, b := v.Args[0], v.Args[1]
	half := func(x *ir.Value, high bool) {
		if e.push(x, 0); high {
			e.I32Const(16)
			e.Op(wasm.I32ShrS)
		} else {
			e.Op(wasm.I32Extend16S)
		}
	}
	e.set(v, 0, func() {
		half(a, false)
		half(b, false)
		e.Op(wasm.I32Mul)
		half(a, true)
		half(b, true)
		e.Op(wasm.I32Mul)
		e.Op(wasm.I32Add)
	}, func(int) {
		e.pushVector(a, 0, 0)
		e.pushVector(b, 0, 0)
		e.Op(wasm.I32x4DotI16x8S)
	})
}
