package compile

import (
	"testing"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// TestSchedule wants chains that stand one after the other to be mixed, operands first.
func TestSchedule(t *testing.T) {
	f32 := &ir.Type{Kind: ir.Float, Bits: 32}
	block := &ir.Block{Term: &ir.Value{Op: ir.Return}}
	chain := map[*ir.Value]int{}
	for c := range 2 {
		x := &ir.Value{Op: ir.Const, Type: f32, Bits: uint64(c)}
		for range 12 {
			x = &ir.Value{Op: ir.FMul, Type: f32, Args: []*ir.Value{x, x}, Block: block}
			chain[x] = c
			block.Values = append(block.Values, x)
		}
	}
	block.Term.Block = block
	f := &ir.Func{Blocks: []*ir.Block{block}, Result: &ir.Type{Kind: ir.Void}}
	schedule(&ir.Program{Entry: f, Funcs: []*ir.Func{f}, LocalSize: [3]uint32{1, 1, 1}})
	done, changes := map[*ir.Value]bool{}, 0
	for i, v := range block.Values {
		if a := v.Args[0]; a.Block != nil && !done[a] {
			t.Fatalf("instruction %d comes before its operand", i)
		}
		done[v] = true
		if i > 0 && chain[v] != chain[block.Values[i-1]] {
			changes++
		}
	}
	if len(done) != 24 || changes < 8 {
		t.Errorf("%d instructions, %d changes from chain to chain, want 24 and at least 8", len(done), changes)
	}
}
