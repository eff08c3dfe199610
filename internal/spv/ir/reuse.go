package ir

import (
	"fmt"
	"slices"
	"strings"
)

// Reuse computes equal values once: a value takes the place of a later one with the same
// operation and operands. A value of a loop is not used behind the loop instead of a later
// one, because invocations may leave the loop at different times.
func (p *Program) Reuse() {
	f := p.Entry
	around := f.loops()
	dom := f.dominators()
	known := map[string][]*Value{}
	same := map[*Value]*Value{}
	find := func(v *Value) *Value {
		for same[v] != nil {
			v = same[v]
		}
		return v
	}
	number := map[*Value]int{}
	nameOf := func(v *Value) string {
		if v.Op == Const && len(v.Args) == 0 {
			return fmt.Sprintf("c%p.%d", v.Type, v.Bits)
		}
		n, ok := number[v]
		if !ok {
			n = len(number)
			number[v] = n
		}
		return fmt.Sprintf("v%d", n)
	}
	for _, b := range f.Blocks {
		b.Values = slices.DeleteFunc(b.Values, func(v *Value) bool {
			for i, a := range v.Args {
				v.Args[i] = find(a)
			}
			if v.Op == Phi || !IsPure(v) && !isConstantLoad(v) {
				return false
			}
			var key strings.Builder
			fmt.Fprintf(&key, "%d %p %v %v", v.Op, v.Type, v.Literals, v.Precise)
			for _, a := range v.Args {
				key.WriteByte(' ')
				key.WriteString(nameOf(a))
			}
			for _, u := range known[key.String()] {
				if (u.Block == b || dom[b.Index][u.Block.Index]) && contains(around[b], around[u.Block]) {
					same[v] = u
					return true
				}
			}
			known[key.String()] = append(known[key.String()], v)
			return false
		})
		for i, a := range b.Term.Args {
			b.Term.Args[i] = find(a)
		}
	}
	f.substitute(same)
}

// isConstantLoad reports whether a value is loaded from memory that never changes.
func isConstantLoad(v *Value) bool {
	if v.Op != Load {
		return false
	}
	root := v.Args[0]
	for root.Op == AccessChain {
		root = root.Args[0]
	}
	return root.Op == Variable && (root.Var.IsBuiltin || root.Var.Class == PushConstant)
}

// loops lists the heads of the loops around each block.
func (f *Func) loops() map[*Block][]*Block {
	around := map[*Block][]*Block{}
	for _, h := range f.Blocks {
		if h.Continue == nil {
			continue
		}
		// The loop consists of the blocks from which its way back can be reached.
		in := map[*Block]bool{h: true}
		var list []*Block
		for _, p := range h.Preds {
			if p.Index >= h.Index {
				list = append(list, p)
			}
		}
		for len(list) > 0 {
			b := list[len(list)-1]
			list = list[:len(list)-1]
			if !in[b] {
				in[b] = true
				list = append(list, b.Preds...)
			}
		}
		for _, b := range f.Blocks {
			if in[b] {
				around[b] = append(around[b], h)
			}
		}
	}
	return around
}

// contains reports whether a list begins with another one's elements, in any order.
func contains(list, part []*Block) bool {
	return !slices.ContainsFunc(part, func(b *Block) bool { return !slices.Contains(list, b) })
}

// Hoist moves values out of the loops in which they are always the same.
func (p *Program) Hoist() {
	f := p.Entry
	around := f.loops()
	before := map[*Block]*Block{} // the block before a loop
	for _, h := range f.Blocks {
		if h.Continue == nil {
			continue
		}
		var from []*Block
		for _, p := range h.Preds {
			if !slices.Contains(around[p], h) {
				from = append(from, p)
			}
		}
		if len(from) == 1 {
			before[h] = from[0]
		}
	}
	for _, b := range f.Blocks {
		b.Values = slices.DeleteFunc(b.Values, func(v *Value) bool {
			if v.Op == Phi || !IsPure(v) && !isConstantLoad(v) {
				return false
			}
			to := b
			for loops := around[to]; len(loops) > 0; loops = around[to] {
				h := loops[len(loops)-1]
				inside := func(a *Value) bool { return a.Block != nil && slices.Contains(around[a.Block], h) }
				if before[h] == nil || slices.ContainsFunc(v.Args, inside) {
					break
				}
				to = before[h]
			}
			if to == b {
				return false
			}
			v.Block = to
			to.Values = append(to.Values, v)
			return true
		})
	}
}
