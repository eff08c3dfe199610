package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// What an ir.Halves computes: Literals[0]. SPIR-V has no such instructions, but WebAssembly
// computes eight numbers of 16 bits by one. Shaders write them as shaders/lib/halves.glsl does.
const (
	halvesDot = iota // the sum of the products of both halves, with signs
	halvesAdd        // in each half the sum of the halves of two words, and so on
	halvesSub
	halvesMul
	halvesMin // of numbers with signs
	halvesMax
	halvesOfBytes // in each half the sum of its two bytes
)

// findHalves makes an ir.Halves of each group of instructions that computes the same.
func findHalves(f *ir.Func) {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Type == nil || !isWord(v.Type) {
				continue
			}
			var what int
			var args []*ir.Value
			switch v.Op {
			case ir.IAdd:
				if args = dotOfHalves(v); args == nil {
					what, args = halvesOfBytes, sumsOfBytes(v)
				}
			case ir.BitFieldInsert:
				if isConstant(v.Args[2], 0) && isConstant(v.Args[3], 16) {
					what, args = inHalves(v.Args[0], v.Args[1])
				}
			}
			if args != nil {
				v.Op, v.Args, v.Literals = ir.Halves, args, []uint32{uint32(what)}
			}
		}
	}
	// What sums of two products have left.
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.IMul && isWord(v.Type) {
				if args := timesHalf(v); args != nil {
					v.Op, v.Args, v.Literals = ir.Halves, args, []uint32{halvesDot}
				}
			}
		}
	}
}

// dotOfHalves returns the words of which v is low(a)·low(b) + high(a)·high(b), or nil. Of a
// constant there are its halves.
func dotOfHalves(v *ir.Value) []*ir.Value {
	for k := range 2 {
		low, high := v.Args[k], v.Args[1-k]
		if low.Op != ir.IMul || high.Op != ir.IMul {
			return nil
		}
		x := lowHalf(low.Args[0])
		if x == nil || x != highHalf(high.Args[0]) {
			continue
		}
		if y := lowHalf(low.Args[1]); y != nil && y == highHalf(high.Args[1]) {
			return []*ir.Value{x, y}
		}
		l, okl := shortConstant(low.Args[1])
		h, okh := shortConstant(high.Args[1])
		if okl && okh {
			return []*ir.Value{x, twoHalves(x.Type, l, h)}
		}
	}
	return nil
}

// timesHalf returns the words of which v is low(a)·low(b) + high(a)·high(b), if v is the product of
// a half and a constant, or nil.
func timesHalf(v *ir.Value) []*ir.Value {
	for k := range 2 {
		c, ok := shortConstant(v.Args[k])
		if !ok {
			continue
		}
		if x := lowHalf(v.Args[1-k]); x != nil {
			return []*ir.Value{x, twoHalves(x.Type, c, 0)}
		}
		if x := highHalf(v.Args[1-k]); x != nil {
			return []*ir.Value{x, twoHalves(x.Type, 0, c)}
		}
	}
	return nil
}

// shortConstant returns a constant that 16 bits hold.
func shortConstant(v *ir.Value) (int16, bool) {
	if v.Op != ir.Const || !isWord(v.Type) || int32(v.Bits) != int32(int16(v.Bits)) {
		return 0, false
	}
	return int16(v.Bits), true
}

// twoHalves returns a constant.
func twoHalves(t *ir.Type, low, high int16) *ir.Value {
	return &ir.Value{Op: ir.Const, Type: t, Bits: uint64(uint32(uint16(high))<<16 | uint32(uint16(low)))}
}

// sumsOfBytes returns the word w of which v is (w & 0x00ff00ff) + ((w >> 8) & 0x00ff00ff), or nil.
func sumsOfBytes(v *ir.Value) []*ir.Value {
	const bytes = 0x00ff00ff
	for k := range 2 {
		w, shifted := masked(v.Args[k], bytes), masked(v.Args[1-k], bytes)
		if w == nil || shifted == nil || shifted.Op != ir.ShiftRightLogical && shifted.Op != ir.ShiftRightArithmetic {
			continue
		}
		if shifted.Args[0] == w && isConstant(shifted.Args[1], 8) && isWord(w.Type) {
			return []*ir.Value{w}
		}
	}
	return nil
}

// inHalves says what is computed in the halves of a word whose upper half is that of high, and
// whose lower half is that of low. It returns no operands if it does not know.
func inHalves(high, low *ir.Value) (what int, args []*ir.Value) {
	if high.Op != low.Op || len(high.Args) != 2 || len(low.Args) != 2 {
		return 0, nil
	}
	x, y := high.Args[0], high.Args[1]
	switch high.Op {
	case ir.ExtInst:
		what = map[uint32]int{glslSMin: halvesMin, glslSMax: halvesMax}[high.Literals[0]]
		if what != 0 && low.Literals[0] == high.Literals[0] && isLowHalf(low.Args[0], x) && isLowHalf(low.Args[1], y) {
			return what, []*ir.Value{x, y}
		}
	case ir.IAdd:
		for k := range 2 {
			for j := range 2 {
				if a := low.Args[j]; sameWord(a, high.Args[k]) {
					if b := upperPart(high.Args[1-k], low.Args[1-j]); b != nil {
						return halvesAdd, []*ir.Value{a, b}
					}
				}
			}
		}
	case ir.ISub:
		if b := upperPart(y, low.Args[1]); b != nil && sameWord(x, low.Args[0]) {
			return halvesSub, []*ir.Value{x, b}
		}
	case ir.IMul:
		for k := range 2 {
			for j := range 2 {
				if a := highHalf(high.Args[k]); a != nil && a == low.Args[j] {
					if b := upperPart(high.Args[1-k], low.Args[1-j]); b != nil {
						return halvesMul, []*ir.Value{a, b}
					}
				}
			}
		}
	}
	return 0, nil
}

// upperPart returns a word with the upper half of high and the lower half of low, where high is
// low & 0xffff0000, or both are constants and the lower half of high is 0. Else it returns nil.
func upperPart(high, low *ir.Value) *ir.Value {
	const upper = 0xffff0000
	if high.Op == ir.Const && low.Op == ir.Const && isWord(high.Type) && isWord(low.Type) {
		if high.Bits&^uint64(upper)&0xffffffff != 0 {
			return nil
		}
		return &ir.Value{Op: ir.Const, Type: low.Type, Bits: high.Bits&upper | low.Bits&0xffff}
	}
	if w := masked(high, upper); w != nil && w == low {
		return low
	}
	return nil
}

// masked returns x if v is x & mask, or nil.
func masked(v *ir.Value, mask uint64) *ir.Value {
	if v.Op == ir.BitwiseAnd && isWord(v.Type) {
		for k := range 2 {
			if isConstant(v.Args[k], mask) {
				return v.Args[1-k]
			}
		}
	}
	return nil
}

// sameWord reports whether two values are one, or equal constants.
func sameWord(a, b *ir.Value) bool {
	return a == b || a.Op == ir.Const && isWord(a.Type) && isConstant(b, a.Bits&0xffffffff)
}

// isLowHalf reports whether v is the lower half of x, with its sign.
func isLowHalf(v, x *ir.Value) bool {
	if v.Op == ir.Const && x.Op == ir.Const && isWord(x.Type) {
		return isConstant(v, uint64(uint32(int16(x.Bits))))
	}
	return lowHalf(v) == x
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

// halvesOps are the instructions of what an ir.Halves computes.
var halvesOps = [...]wasm.Op{
	halvesDot: wasm.I32x4DotI16x8S, halvesAdd: wasm.I16x8Add, halvesSub: wasm.I16x8Sub, halvesMul: wasm.I16x8Mul,
	halvesMin: wasm.I16x8MinS, halvesMax: wasm.I16x8MaxS, halvesOfBytes: wasm.I16x8ExtaddPairwiseI8x16U,
}

// halves writes an ir.Halves. There are no instructions for scalars: one lane is used.
func (e *emitter) halves(v *ir.Value) {
	op, args := halvesOps[v.Literals[0]], v.Args
	if op != wasm.I16x8Sub && len(args) == 2 && args[0].Op != ir.Const && args[1].Op == ir.Const {
		args = []*ir.Value{args[1], args[0]} // The engine computes in the register of the first operand.
	}
	e.set(v, 0, func() {
		for _, a := range args {
			e.push(a, 0)
			e.Op(wasm.I32x4Splat)
		}
		e.Op(op)
		e.Lane(wasm.I32x4ExtractLane, 0)
	}, func(int) {
		for _, a := range args {
			e.pushVector(a, 0, 0)
		}
		e.Op(op)
	})
}
