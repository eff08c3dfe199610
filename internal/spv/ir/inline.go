package ir

import "slices"

// Inline puts the bodies of all functions in the place of their calls, so that Entry is the
// only function that is left. A call becomes a construct: the block with the call ends there,
// branches to the callee's first block, and has a new block as Merge, to which all returns of
// the callee branch. The new block goes on behind the call. If the callee returns a
// value, the new block begins with a phi of the values.
//
// The number of instructions grows with each call. spv.Module.Instructions says what it
// becomes.
func (p *Program) Inline() {
	for _, f := range p.Funcs { // callees first, so that they have no calls themselves
		for i := 0; i < len(f.Blocks); i++ {
			b := f.Blocks[i]
			if k := slices.IndexFunc(b.Values, func(v *Value) bool { return v.Op == FunctionCall }); k >= 0 {
				f.inline(b, k)
			}
		}
		for i, b := range f.Blocks {
			b.Index = i
		}
	}
	p.Funcs = []*Func{p.Entry}
}

// inline replaces the call that is value k of block b.
func (f *Func) inline(b *Block, k int) {
	call := b.Values[k]
	blocks, vars, returns := clone(call.Func, call.Args)
	f.Vars = append(f.Vars, vars...)

	rest := &Block{Values: b.Values[k+1:], Term: b.Term, Next: b.Next, Merge: b.Merge, Continue: b.Continue}
	rest.Term.Block = rest
	for _, v := range rest.Values {
		v.Block = rest
	}
	for _, to := range rest.Next {
		for i, p := range to.Preds {
			if p == b {
				to.Preds[i] = rest
			}
		}
	}
	b.Values = b.Values[:k:k]
	b.Term, b.Next = &Value{Op: Branch, Block: b}, blocks[:1:1]
	b.Merge, b.Continue = rest, nil
	blocks[0].Preds = append(blocks[0].Preds, b)

	result := &Value{Op: Phi, Type: call.Type, Block: rest, ID: call.ID}
	for _, r := range returns {
		if r.Term.Op == ReturnValue {
			result.Args = append(result.Args, r.Term.Args[0])
		}
		r.Term, r.Next = &Value{Op: Branch, Block: r}, []*Block{rest}
		rest.Preds = append(rest.Preds, r)
	}
	if len(returns) > 0 && call.Type.Kind != Void {
		rest.Values = append([]*Value{result}, rest.Values...)
	} else {
		result = &Value{Op: Undef, Type: call.Type, ID: call.ID} // It never returns, or nothing.
	}
	at := slices.Index(f.Blocks, b)
	f.Blocks = slices.Insert(f.Blocks, at+1, append(blocks, rest)...)
	f.Replace(call, result)
}

// Replace has all operands that are one value be another.
func (f *Func) Replace(old, to *Value) {
	for _, b := range f.Blocks {
		for _, v := range append(slices.Clone(b.Values), b.Term) {
			for i, a := range v.Args {
				if a == old {
					v.Args[i] = to
				}
			}
		}
	}
}

// clone copies the body of a function whose parameters are args. returns are the blocks
// that return. The initial values of variables are stored at the beginning, because a
// function may be called in a loop.
func clone(f *Func, args []*Value) (blocks []*Block, vars []*Value, returns []*Block) {
	value := map[*Value]*Value{}
	for i, p := range f.Params {
		value[p] = args[i]
	}
	for _, v := range f.Vars {
		own, described := *v, *v.Var
		own.Var = &described
		value[v] = &own
		vars = append(vars, &own)
	}
	block := map[*Block]*Block{}
	for _, b := range f.Blocks {
		n := &Block{}
		block[b] = n
		blocks = append(blocks, n)
		for _, v := range b.Values {
			own := *v
			own.Block = n
			value[v] = &own
			n.Values = append(n.Values, &own)
		}
		own := *b.Term
		own.Block, n.Term = n, &own
	}
	mapped := func(list []*Block) []*Block {
		var to []*Block
		for _, b := range list {
			to = append(to, block[b])
		}
		return to
	}
	for _, b := range f.Blocks {
		n := block[b]
		n.Next, n.Preds = mapped(b.Next), mapped(b.Preds)
		n.Merge, n.Continue = block[b.Merge], block[b.Continue]
		for _, v := range append(slices.Clone(n.Values), n.Term) {
			v.Args = slices.Clone(v.Args)
			for i, a := range v.Args {
				if own := value[a]; own != nil {
					v.Args[i] = own
				}
			}
		}
		if op := n.Term.Op; op == Return || op == ReturnValue {
			returns = append(returns, n)
		}
	}
	var stores []*Value
	for _, v := range vars {
		if v.Var.Init != nil {
			stores = append(stores, &Value{Op: Store, Args: []*Value{v, v.Var.Init}, Block: blocks[0]})
			v.Var.Init = nil
		}
	}
	blocks[0].Values = append(stores, blocks[0].Values...)
	return blocks, vars, returns
}

// Forget takes a block that no longer branches here from the predecessors.
func (b *Block) Forget(pred *Block) {
	k := slices.Index(b.Preds, pred)
	if k < 0 {
		return
	}
	b.Preds = slices.Delete(b.Preds, k, k+1)
	for _, v := range b.Values {
		if v.Op != Phi {
			break
		}
		v.Args = slices.Delete(v.Args, k, k+1)
	}
}
