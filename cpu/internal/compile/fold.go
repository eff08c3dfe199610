package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// fold replaces what is constant, and leaves out the blocks that are not reached then.
func fold(f *ir.Func) {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if to := folded(v); to != nil {
				f.Replace(v, to)
			}
		}
		if c := b.Term; c.Op == ir.BranchConditional && c.Args[0].Op == ir.Const && b.Continue == nil {
			k := 0
			if c.Args[0].Bits == 0 {
				k = 1
			}
			to, other := b.Next[k], b.Next[1-k]
			b.Term, b.Next, b.Merge = &ir.Value{Op: ir.Branch, Block: b}, []*ir.Block{to}, nil
			if to != other {
				other.Forget(b)
			}
		}
	}
	reached := map[*ir.Block]bool{f.Blocks[0]: true}
	for list := []*ir.Block{f.Blocks[0]}; len(list) > 0; list = list[1:] {
		for _, to := range list[0].Next {
			if !reached[to] {
				reached[to] = true
				list = append(list, to)
			}
		}
	}
	var kept []*ir.Block
	for _, b := range f.Blocks {
		if reached[b] {
			kept = append(kept, b)
			continue
		}
		for _, to := range b.Next {
			to.Forget(b)
		}
	}
	f.Blocks = kept
	for i, b := range f.Blocks {
		b.Index = i
		if b.Merge != nil && !reached[b.Merge] {
			b.Merge = nil
		}
		if b.Continue != nil && !reached[b.Continue] {
			b.Continue = nil
		}
		if len(b.Preds) != 1 {
			continue
		}
		for _, v := range slices.Clone(b.Values) {
			if v.Op != ir.Phi {
				break
			}
			f.Replace(v, v.Args[0])
			b.Values = b.Values[1:]
		}
	}
}

// folded returns what a value is if its operands are constants.
func folded(v *ir.Value) *ir.Value {
	truth := func(k int) (bool, bool) {
		a := v.Args[k]
		for a.Op == ir.CompositeConstruct && !slices.ContainsFunc(a.Args, func(x *ir.Value) bool { return x != a.Args[0] }) {
			a = a.Args[0]
		}
		return a.Bits != 0, a.Op == ir.Const && a.Type.Kind == ir.Bool
	}
	switch v.Op {
	case ir.Select:
		if c, ok := truth(0); ok && c {
			return v.Args[1]
		} else if ok {
			return v.Args[2]
		}
	case ir.LogicalNot:
		if c, ok := truth(0); ok && v.Type.Kind == ir.Bool {
			bits := uint64(1)
			if c {
				bits = 0
			}
			return &ir.Value{Op: ir.Const, Type: v.Type, Bits: bits}
		}
	case ir.LogicalAnd, ir.LogicalOr:
		if v.Type.Kind != ir.Bool {
			return nil
		}
		for k := range 2 {
			if c, ok := truth(k); ok && c == (v.Op == ir.LogicalAnd) {
				return v.Args[1-k]
			} else if ok {
				return v.Args[k]
			}
		}
	}
	return nil
}
