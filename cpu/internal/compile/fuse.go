package compile

import "github.com/lathe-gpu/lathe/internal/spv/ir"

// fuse replaces groups of instructions by fewer ones with the same results:
//   - whether the bits of a float are those of NaN becomes a comparison of the float;
//   - a choice of two floats by their comparison becomes a minimum or a maximum;
//   - a difference from a constant becomes a sum, whose operands may change places.
func fuse(p *ir.Program) {
	for _, b := range p.Entry.Blocks {
		for _, v := range b.Values {
			switch v.Op {
			case ir.UGreaterThan:
				if x := bitsOfNaN(v); x != nil {
					v.Op, v.Args = ir.FUnordNotEqual, []*ir.Value{x, x}
				}
			case ir.FSub:
				if y := v.Args[1]; y.Op == ir.Const && v.Type.Kind == ir.Float && v.Type.Bits == 32 {
					minus := &ir.Value{Op: ir.Const, Type: y.Type, Bits: y.Bits ^ 1<<31}
					v.Op, v.Args = ir.FAdd, []*ir.Value{v.Args[0], minus}
				}
			case ir.Select:
				fuseExtreme(v)
			}
		}
	}
}

// bitsOfNaN returns the float of which v says, by its bits, whether it is NaN, or nil.
func bitsOfNaN(v *ir.Value) *ir.Value {
	and, most := v.Args[0], v.Args[1]
	if and.Op != ir.BitwiseAnd || !isConstant(most, 0x7f800000) || !isConstant(and.Args[1], 0x7fffffff) || and.Args[0].Op != ir.Bitcast {
		return nil
	}
	if x := and.Args[0].Args[0]; x.Type.Kind == ir.Float && x.Type.Bits == 32 {
		return x
	}
	return nil
}

func isConstant(v *ir.Value, bits uint64) bool {
	return v.Op == ir.Const && v.Type.Kind == ir.Int && v.Type.Bits == 32 && v.Bits&0xffffffff == bits
}

// fuseExtreme makes a minimum or a maximum of a choice. The minimum of x and y is x if it is
// less than y, and y otherwise, also if one of them is NaN.
func fuseExtreme(v *ir.Value) {
	c := v.Args[0]
	if v.Type.Kind != ir.Float || v.Type.Bits != 32 || c.Op != ir.FOrdLessThan && c.Op != ir.FOrdGreaterThan {
		return
	}
	same := func(x, y *ir.Value) bool {
		return x == y || x.Op == ir.Const && y.Op == ir.Const && x.Type == y.Type && x.Bits == y.Bits
	}
	low, high := c.Args[0], c.Args[1] // if the condition holds
	if c.Op == ir.FOrdGreaterThan {
		low, high = high, low
	}
	switch x, y := v.Args[1], v.Args[2]; {
	case same(x, low) && same(y, high):
		v.Literals = []uint32{glslFMin}
	case same(x, high) && same(y, low):
		v.Literals = []uint32{glslFMax}
	default:
		return
	}
	v.Op, v.Args = ir.ExtInst, v.Args[1:]
}
