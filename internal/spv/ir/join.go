package ir

// Join makes one block of two blocks that always follow each other and between which no
// construct begins or ends. Compilers of shaders leave such blocks at the heads of loops, and
// Inline leaves them around functions without branches.
func (p *Program) Join() {
	f := p.Entry
	targets := map[*Block]int{} // how many constructs have a block as Merge or Continue
	for _, b := range f.Blocks {
		targets[b.Merge]++
		targets[b.Continue]++
	}
	gone := map[*Block]bool{}
	same := map[*Value]*Value{}
	for _, b := range f.Blocks {
		for !gone[b] && b.Term.Op == Branch {
			to := b.Next[0]
			if m := b.Merge; m != nil && b.Continue == nil && len(m.Preds) == 1 && (m == to || m.Preds[0] == to && to.Term.Op == Branch && len(to.Preds) == 1 && to.Merge == nil) {
				targets[m]-- // Nothing is chosen in this construct.
				b.Merge = nil
			}
			if to == b || len(to.Preds) != 1 || targets[to] > 0 || b.Merge != nil && (b.Continue == nil || !to.fitsHead()) {
				break
			}
			b.absorb(to, same)
			gone[to] = true
		}
	}
	if len(gone) == 0 {
		return
	}
	blocks := f.Blocks[:0]
	for _, b := range f.Blocks {
		if !gone[b] {
			b.Index = len(blocks)
			blocks = append(blocks, b)
		}
	}
	clear(f.Blocks[len(blocks):])
	f.Blocks = blocks
	f.substitute(same)
}

// fitsHead reports whether a block can be a part of the head of a loop.
func (b *Block) fitsHead() bool {
	return b.Merge == nil && (b.Term.Op == Branch || b.Term.Op == BranchConditional)
}

// absorb puts the instructions of the only block behind b, and its branches, at the end of b.
// same gets what its phis are.
func (b *Block) absorb(to *Block, same map[*Value]*Value) {
	for _, v := range to.Values {
		if v.Op == Phi {
			same[v] = v.Args[0]
			continue
		}
		v.Block = b
		b.Values = append(b.Values, v)
	}
	b.Term, b.Next = to.Term, to.Next
	b.Term.Block = b
	if b.Merge == nil {
		b.Merge, b.Continue = to.Merge, to.Continue
	}
	for _, next := range b.Next {
		for i, p := range next.Preds {
			if p == to {
				next.Preds[i] = b
			}
		}
	}
}
