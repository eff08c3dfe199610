package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// packLevels finds words that are put together of three integers, each limited to 0 to 255:
// clamp(r, 0, 255) | clamp(g, 0, 255) << 8 | clamp(b, 0, 255) << 16. A vector of them takes
// five instructions, because narrowing limits too.
func packLevels(f *ir.Func) {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op != ir.BitwiseOr || !isWord(v.Type) {
				continue
			}
			var levels [3]*ir.Value
			if gatherLevels(v, &levels) == len(levels) {
				v.Op, v.Args = ir.PackLevels, slices.Clone(levels[:])
			}
		}
	}
}

// gatherLevels puts the levels of which a word is made into list, by their place. It returns
// how many there are, or more than list has if there is anything else.
func gatherLevels(v *ir.Value, list *[3]*ir.Value) int {
	if v.Op == ir.BitwiseOr {
		return gatherLevels(v.Args[0], list) + gatherLevels(v.Args[1], list)
	}
	place := 0
	if v.Op == ir.ShiftLeftLogical {
		switch k := v.Args[1]; {
		case isConstant(k, 8):
			place = 1
		case isConstant(k, 16):
			place = 2
		default:
			return len(list) + 1
		}
		v = v.Args[0]
	}
	if x := levelOf(v); x != nil && list[place] == nil {
		list[place] = x
		return 1
	}
	return len(list) + 1
}

// levelOf returns the integer that v limits to 0 to 255, or nil.
func levelOf(v *ir.Value) *ir.Value {
	if v.Op == ir.Bitcast {
		v = v.Args[0]
	}
	if v.Op == ir.ExtInst && v.Literals[0] == glslSClamp && isWord(v.Type) && isConstant(v.Args[1], 0) && isConstant(v.Args[2], 255) && isWord(v.Args[0].Type) {
		return v.Args[0]
	}
	return nil
}

// packedLevels writes a PackLevels of scalars.
func (e *emitter) packedLevels(_ *ir.Type, push operands) {
	for k := range 3 {
		push(k)
		x := e.newLocal(wasm.I32)
		for _, limit := range []struct {
			bound int32
			keeps wasm.Op
		}{{0, wasm.I32GtS}, {255, wasm.I32LtS}} {
			e.Get(x)
			e.I32Const(limit.bound)
			e.Get(x)
			e.I32Const(limit.bound)
			e.Op(limit.keeps)
			e.Op(wasm.Select)
			e.Set(x)
		}
		if e.Get(x); k > 0 {
			e.I32Const(int32(8 * k))
			e.Op(wasm.I32Shl)
			e.Op(wasm.I32Or)
		}
	}
}

// packedLevelsVector writes a PackLevels of vectors.
func (e *emitter) packedLevelsVector(v *ir.Value, _, half int, _ *ir.Type) bool {
	for _, pair := range [][2]int{{0, 1}, {2, 2}} {
		e.pushVector(v.Args[pair[0]], 0, half)
		e.pushVector(v.Args[pair[1]], 0, half)
		e.Op(wasm.I16x8NarrowI32x4S)
	}
	e.Op(wasm.I8x16NarrowI16x8U)
	var from [4]uint32
	for k := range uint32(4) { // Byte 128 of a vector is 0.
		from[k] = k | (4+k)<<8 | (8+k)<<16 | 128<<24
	}
	e.V128Const(from)
	e.Op(wasm.I8x16Swizzle)
	return true
}
