package ir

import (
	"errors"
	"fmt"
	"slices"
)

// Check returns an error if the program breaks a rule of this package: an operand is
// missing or computed later, or blocks disagree about an edge. Passes are tested with it.
func (p *Program) Check() error {
	var wrong []error
	if p.Entry == nil || !slices.Contains(p.Funcs, p.Entry) {
		wrong = append(wrong, errors.New("ir: the entry point is none of the functions"))
	}
	for _, f := range p.Funcs {
		wrong = append(wrong, f.check()...)
	}
	return errors.Join(wrong...)
}

func (f *Func) check() (wrong []error) {
	bad := func(v *Value, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("ir: %s: operation %d, id %d: %s", f.Name, v.Op, v.ID, fmt.Sprintf(format, args...)))
	}
	position := map[*Value]int{}
	for _, b := range f.Blocks {
		for i, v := range append(slices.Clone(b.Values), b.Term) {
			position[v] = i
		}
	}
	variables := map[*Value]bool{}
	for _, v := range f.Vars {
		variables[v] = true
	}
	dominators := f.dominators()
	for i, b := range f.Blocks {
		if b.Index != i {
			bad(b.Term, "block %d has index %d", i, b.Index)
			return wrong
		}
		for k, v := range append(slices.Clone(b.Values), b.Term) {
			switch {
			case v.Block != b:
				bad(v, "is in another block than it says")
			case v.Op == Phi && len(v.Args) != len(b.Preds):
				bad(v, "has %d operands, its block has %d predecessors", len(v.Args), len(b.Preds))
			case v.Op == Phi && k > 0 && b.Values[k-1].Op != Phi:
				bad(v, "stands behind other values")
			case v.ID != 0 && v.Type == nil:
				bad(v, "has no type")
			}
			for n, a := range v.Args {
				if a == nil {
					bad(v, "lacks operand %d", n)
					continue
				}
				at, inside := position[a]
				from := b
				switch {
				case a.Op == Variable && a.Var.Class == Function && !variables[a]:
					bad(v, "operand %d is a variable of another function", n)
				case a.Block == nil:
					continue // a constant, a parameter or a variable
				case !inside:
					bad(v, "operand %d is no value of the function", n)
					continue
				}
				if v.Op == Phi {
					if n >= len(b.Preds) {
						continue
					}
					from = b.Preds[n]
				}
				if a.Block == from && v.Op != Phi && at >= k || a.Block != from && !dominators[from.Index][a.Block.Index] {
					bad(v, "uses operand %d, id %d, before it is computed", n, a.ID)
				}
			}
		}
		for _, to := range b.Next {
			if to == nil || !slices.Contains(to.Preds, b) {
				bad(b.Term, "branches to a block that does not know it")
			}
		}
		for _, from := range b.Preds {
			if !slices.Contains(from.Next, b) {
				bad(b.Term, "has a predecessor that does not branch to it")
			}
		}
	}
	return wrong
}

// dominators returns, for each block, which blocks stand on every path to it.
func (f *Func) dominators() [][]bool {
	n := len(f.Blocks)
	dom := make([][]bool, n)
	for i := range dom {
		dom[i] = make([]bool, n)
		for k := range dom[i] {
			dom[i][k] = i > 0 || k == 0
		}
	}
	for changed := true; changed; {
		changed = false
		for i := 1; i < n; i++ {
			for k := range n {
				if !dom[i][k] || k == i {
					continue
				}
				if slices.ContainsFunc(f.Blocks[i].Preds, func(p *Block) bool { return !dom[p.Index][k] }) {
					dom[i][k], changed = false, true
				}
			}
		}
	}
	return dom
}
