package compile

import (
	"testing"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// TestFuse wants choices to become minima and maxima where they mean the same, for NaN and
// equal zeros too, and others to stay.
func TestFuse(t *testing.T) {
	f32, boolean := &ir.Type{Kind: ir.Float, Bits: 32}, &ir.Type{Kind: ir.Bool}
	block := &ir.Block{Term: &ir.Value{Op: ir.Return}}
	a, b := &ir.Value{Op: ir.Undef, Type: f32, Block: block}, &ir.Value{Op: ir.Undef, Type: f32, Block: block}
	for _, c := range []struct {
		op      ir.Op
		yes, no *ir.Value
		want    uint32 // 0: it stays a choice
		x, y    *ir.Value
	}{
		{ir.FOrdLessThan, a, b, glslFMin, a, b},
		{ir.FOrdLessThan, b, a, glslFMax, b, a},
		{ir.FOrdGreaterThan, a, b, glslFMax, a, b},
		{ir.FOrdGreaterThan, b, a, glslFMin, b, a},
		{ir.FOrdLessThanEqual, a, b, 0, nil, nil},
		{ir.FUnordLessThan, a, b, 0, nil, nil},
		{ir.FOrdLessThan, a, a, 0, nil, nil},
	} {
		cond := &ir.Value{Op: c.op, Type: boolean, Args: []*ir.Value{a, b}, Block: block}
		v := &ir.Value{Op: ir.Select, Type: f32, Args: []*ir.Value{cond, c.yes, c.no}, Block: block}
		block.Values = []*ir.Value{a, b, cond, v}
		fuse(&ir.Program{Entry: &ir.Func{Blocks: []*ir.Block{block}}})
		switch {
		case c.want == 0:
			if v.Op != ir.Select {
				t.Errorf("a choice by operation %d became operation %d", c.op, v.Op)
			}
		case v.Op != ir.ExtInst || v.Literals[0] != c.want || v.Args[0] != c.x || v.Args[1] != c.y:
			t.Errorf("a choice by operation %d became %v with %v, want %d of the operands as they were chosen", c.op, v.Op, v.Literals, c.want)
		}
	}
}
