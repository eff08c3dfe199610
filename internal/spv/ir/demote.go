package ir

import "slices"

// Use is an operand of an instruction.
type Use struct {
	Value *Value
	// Arg is the number of the operand.
	Arg int
}

// Block is the block at which the operand must be known: that of the instruction, or the one
// from which a phi takes it.
func (u Use) Block() *Block {
	if u.Value.Op == Phi {
		return u.Value.Block.Preds[u.Arg]
	}
	return u.Value.Block
}

// Uses lists the operands of a function's instructions, by the value that they are.
func (f *Func) Uses() map[*Value][]Use {
	all := map[*Value][]Use{}
	for _, b := range f.Blocks {
		for at := range b.Instructions() {
			for i, a := range at.Args {
				all[a] = append(all[a], Use{at, i})
			}
		}
	}
	return all
}

// Demote keeps a value in a variable for some of its uses: the value is stored where it is
// computed, and loaded before each of these uses. An address is computed anew instead.
func (f *Func) Demote(v *Value, uses []Use) {
	var variable *Value
	address := v.Op == AccessChain || v.Op == PtrAccessChain
	if !address {
		variable = &Value{Op: Variable, Type: &Type{Kind: Pointer, Elem: v.Type, Class: Function}, Var: &Var{Class: Function, Type: v.Type}}
		f.Vars = append(f.Vars, variable)
		at := slices.Index(v.Block.Values, v) + 1
		for at < len(v.Block.Values) && v.Block.Values[at].Op == Phi {
			at++
		}
		v.Block.Values = slices.Insert(v.Block.Values, at, &Value{Op: Store, Args: []*Value{variable, v}, Block: v.Block})
	}
	for _, u := range uses {
		b := u.Block()
		again := &Value{Op: Load, Type: v.Type, Args: []*Value{variable}, Block: b}
		if address {
			again = &Value{Op: v.Op, Type: v.Type, Args: slices.Clone(v.Args), Literals: v.Literals, Block: b}
		}
		at := len(b.Values)
		if u.Value.Op != Phi && u.Value != b.Term {
			at = slices.Index(b.Values, u.Value)
		}
		b.Values = slices.Insert(b.Values, at, again)
		u.Value.Args[u.Arg] = again
	}
}
