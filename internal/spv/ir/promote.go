package ir

import "slices"

// maxPromoted is the number of scalars up to which a variable is promoted.
const maxPromoted = 128

// maxPhis bounds the product of scalars and blocks, of which there may be as many phis.
const maxPhis = 1 << 18

// Promote makes values of the variables that belong to one invocation, where the addresses
// of all their loads and stores are constants. Where paths with different values meet,
// there is a phi of them. The program has no calls.
func (p *Program) Promote() {
	f := p.Entry
	var promoted []*Value
	for _, v := range slices.Concat(f.Vars, p.Vars) {
		if v.Var.Class == Function || v.Var.Class == Private && !v.Var.IsBuiltin {
			promoted = append(promoted, v)
		}
	}
	bad := f.unpromotable()
	promoted = slices.DeleteFunc(promoted, func(v *Value) bool {
		n := countScalars(v.Var.Type)
		return bad[v] || n == 0 || n > maxPromoted
	})
	n := 0
	promoted = slices.DeleteFunc(promoted, func(v *Value) bool { // Others stay variables.
		more := countScalars(v.Var.Type)
		if (n+more)*len(f.Blocks) > maxPhis {
			return true
		}
		n += more
		return false
	})
	if len(promoted) == 0 {
		return
	}
	x := &promoter{f: f, is: map[*Value]bool{}, end: map[*Block][]*Value{}, begin: map[scalarAt]*Value{}, first: map[*Value]int{}}
	for _, v := range promoted {
		x.is[v], x.first[v] = true, len(x.types)
		x.types = appendScalars(x.types, v.Var.Type)
		if v.Var.Init != nil {
			x.initial = append(x.initial, v)
		}
	}
	x.run()
	gone := func(v *Value) bool { return x.is[v] }
	f.Vars = slices.DeleteFunc(f.Vars, gone)
	p.Vars = slices.DeleteFunc(p.Vars, gone)
}

// unpromotable lists the variables that have other uses than loads and stores at constant
// addresses.
func (f *Func) unpromotable() map[*Value]bool {
	bad := map[*Value]bool{}
	for _, b := range f.Blocks {
		for v := range b.Instructions() {
			for i, a := range v.Args {
				root := a
				for root.Op == AccessChain {
					root = root.Args[0]
				}
				if root.Op != Variable {
					continue
				}
				constant := !slices.ContainsFunc(v.Args[min(1, len(v.Args)):], func(a *Value) bool { return a.Op != Const })
				switch {
				case v.Op == Load && i == 0, v.Op == Store && i == 0, v.Op == AccessChain && i == 0 && constant && inside(v):
				default:
					bad[root] = true
				}
			}
		}
	}
	return bad
}

// inside reports whether the constant indices of an address are inside of the arrays.
func inside(chain *Value) bool {
	t := chain.Args[0].Type.Elem
	for _, i := range chain.Args[1:] {
		n := uint64(t.N)
		if t.Kind == Struct {
			n = uint64(len(t.Members))
		}
		k := i.Bits & 0xffffffff
		if k >= n {
			return false
		}
		if t.Kind == Struct {
			t = t.Members[k].Type
		} else {
			t = t.Elem
		}
	}
	return true
}

// countScalars is the number of scalars of a type, or more than maxPromoted.
func countScalars(t *Type) int {
	switch t.Kind {
	case Bool, Int, Float:
		return 1
	case Vector, Matrix, Array:
		if t.N > maxPromoted {
			return maxPromoted + 1
		}
		return int(t.N) * countScalars(t.Elem)
	case Struct:
		n := 0
		for _, m := range t.Members {
			n = min(n+countScalars(m.Type), maxPromoted+1)
		}
		return n
	}
	return maxPromoted + 1
}

func appendScalars(list []*Type, t *Type) []*Type {
	switch t.Kind {
	case Vector, Matrix, Array:
		for range t.N {
			list = appendScalars(list, t.Elem)
		}
		return list
	case Struct:
		for _, m := range t.Members {
			list = appendScalars(list, m.Type)
		}
		return list
	}
	return append(list, t)
}

// partOf is the type of part i of a composite, and the number of scalars before it.
func partOf(t *Type, i int) (*Type, int) {
	if t.Kind != Struct {
		return t.Elem, i * countScalars(t.Elem)
	}
	before := 0
	for _, m := range t.Members[:i] {
		before += countScalars(m.Type)
	}
	return t.Members[i].Type, before
}

// scalarAt is a scalar of the promoted variables at the beginning of a block.
type scalarAt struct {
	b *Block
	i int
}

// promoter makes values of variables. Source: M. Braun et al., "Simple and Efficient
// Construction of Static Single Assignment Form", 2013.
type promoter struct {
	f       *Func
	is      map[*Value]bool
	first   map[*Value]int // the number of a variable's first scalar
	types   []*Type
	initial []*Value
	// end has the scalars at the end of a block that it has stored, and nil for others.
	end map[*Block][]*Value
	// begin has the scalars at the beginning of blocks that are known.
	begin map[scalarAt]*Value
	phis  []scalarAt
}

func (x *promoter) run() {
	// First, loads in the block of a store become its values. The others ask for the value at
	// the beginning of the block, which is a placeholder until all blocks are done.
	same := map[*Value]*Value{}
	for n, b := range x.f.Blocks {
		now := make([]*Value, len(x.types))
		var values []*Value
		write := func(at int, v *Value) {
			x.spread(b, &values, v, func(k int, s *Value) { now[at+k] = s })
		}
		if n == 0 {
			for _, v := range x.initial {
				write(x.first[v], v.Var.Init)
			}
		}
		for _, v := range b.Values {
			switch {
			case v.Op == Phi && len(values) > 0 && values[len(values)-1].Op != Phi:
				panic("ir: a phi behind other values")
			case v.Op == AccessChain && x.rooted(v):
			case v.Op == Store && x.rooted(v.Args[0]):
				write(x.offset(v.Args[0]), v.Args[1])
			case v.Op == Load && x.rooted(v.Args[0]):
				same[v] = x.gather(b, &values, v.Type, x.offset(v.Args[0]), func(k int) *Value {
					if now[k] == nil {
						now[k] = x.atBegin(b, k)
					}
					return now[k]
				})
			default:
				values = append(values, v)
			}
		}
		b.Values = values
		x.end[b] = now
	}
	// Then the placeholders become phis, or what is known at the end of the blocks before.
	phis := map[*Block][]*Value{}
	for len(x.phis) > 0 {
		at := x.phis[len(x.phis)-1]
		x.phis = x.phis[:len(x.phis)-1]
		phi := x.begin[at]
		for _, p := range at.b.Preds {
			phi.Args = append(phi.Args, x.atEnd(p, at.i))
		}
		if len(at.b.Preds) == 0 {
			phi.Op = Undef
			phi.Block = nil
			continue
		}
		phis[at.b] = append(phis[at.b], phi)
	}
	for b, list := range phis {
		slices.Reverse(list)
		b.Values = append(list, b.Values...)
	}
	x.f.substitute(same)
	x.f.dropCopies()
}

func (x *promoter) rooted(p *Value) bool {
	for p.Op == AccessChain {
		p = p.Args[0]
	}
	return x.is[p]
}

// offset is the number of the first scalar that an address points at.
func (x *promoter) offset(p *Value) int {
	if p.Op == Variable {
		return x.first[p]
	}
	n, t := x.offset(p.Args[0]), p.Args[0].Type.Elem
	for _, i := range p.Args[1:] {
		part, before := partOf(t, int(i.Bits&0xffffffff))
		n, t = n+before, part
	}
	return n
}

// atBegin is a scalar at the beginning of a block.
func (x *promoter) atBegin(b *Block, i int) *Value {
	key := scalarAt{b, i}
	if v := x.begin[key]; v != nil {
		return v
	}
	v := &Value{Op: Phi, Type: x.types[i], Block: b}
	x.begin[key] = v
	x.phis = append(x.phis, key)
	return v
}

func (x *promoter) atEnd(b *Block, i int) *Value {
	if v := x.end[b][i]; v != nil {
		return v
	}
	v := x.atBegin(b, i)
	x.end[b][i] = v
	return v
}

// spread takes the scalars out of a value.
func (x *promoter) spread(b *Block, values *[]*Value, v *Value, f func(k int, s *Value)) {
	if countScalars(v.Type) == 1 && v.Type.Scalar() == v.Type {
		f(0, v)
		return
	}
	n := int(v.Type.N)
	if v.Type.Kind == Struct {
		n = len(v.Type.Members)
	}
	at := 0
	for i := range n {
		t, _ := partOf(v.Type, i)
		var part *Value
		switch {
		case v.Op == CompositeConstruct && len(v.Args) == n:
			part = v.Args[i]
		case v.Op == Const && len(v.Args) == n:
			part = v.Args[i]
		case v.Op == Const || v.Op == Undef:
			part = &Value{Op: v.Op, Type: t}
		default:
			part = &Value{Op: CompositeExtract, Type: t, Args: []*Value{v}, Literals: []uint32{uint32(i)}, Block: b}
			*values = append(*values, part)
		}
		first := at
		x.spread(b, values, part, func(k int, s *Value) { f(first+k, s) })
		at += countScalars(t)
	}
}

// gather makes a value of a type from scalars.
func (x *promoter) gather(b *Block, values *[]*Value, t *Type, at int, scalar func(k int) *Value) *Value {
	if t.Scalar() == t {
		return scalar(at)
	}
	v := &Value{Op: CompositeConstruct, Type: t, Block: b}
	n := int(t.N)
	if t.Kind == Struct {
		n = len(t.Members)
	}
	for i := range n {
		part, before := partOf(t, i)
		v.Args = append(v.Args, x.gather(b, values, part, at+before, scalar))
	}
	*values = append(*values, v)
	return v
}

// substitute has operands be others.
func (f *Func) substitute(same map[*Value]*Value) {
	if len(same) == 0 {
		return
	}
	find := func(v *Value) *Value {
		for same[v] != nil {
			v = same[v]
		}
		return v
	}
	for _, b := range f.Blocks {
		for v := range b.Instructions() {
			for i, a := range v.Args {
				v.Args[i] = find(a)
			}
		}
	}
}

// dropCopies removes phis all of whose operands are one value, or the phi itself.
func (f *Func) dropCopies() {
	for {
		same := map[*Value]*Value{}
		for _, b := range f.Blocks {
			b.Values = slices.DeleteFunc(b.Values, func(v *Value) bool {
				if v.Op != Phi {
					return false
				}
				var one *Value
				for _, a := range v.Args {
					for same[a] != nil {
						a = same[a]
					}
					if a == v {
						continue
					}
					if one != nil && a != one {
						return false
					}
					one = a
				}
				if one == nil {
					one = &Value{Op: Undef, Type: v.Type}
				}
				same[v] = one
				return true
			})
		}
		if len(same) == 0 {
			return
		}
		f.substitute(same)
	}
}
