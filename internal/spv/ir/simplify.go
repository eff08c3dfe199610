package ir

import (
	"math/bits"
	"slices"
)

// Simplify replaces values by equal ones that cost less: operations on integers whose
// operands are constants, parts of composites that were just made, divisions by powers of
// two. Results of floating-point arithmetic are never changed. Then it removes what nobody
// uses.
func (p *Program) Simplify() {
	f := p.Entry
	for range 8 {
		same := map[*Value]*Value{}
		find := func(v *Value) *Value {
			for same[v] != nil {
				v = same[v]
			}
			return v
		}
		moved := false
		for _, b := range f.Blocks {
			var values []*Value
			for _, v := range b.Values {
				for i, a := range v.Args {
					v.Args[i] = find(a)
				}
				if to := simpler(v); to != nil && to != v {
					same[v] = to
				} else if part := constantLast(v); part != nil {
					values, moved = append(values, part), true
				}
				values = append(values, v)
			}
			b.Values = values
			for i, a := range b.Term.Args {
				b.Term.Args[i] = find(a)
			}
		}
		f.substitute(same)
		f.dropCopies()
		if !f.sweep() && len(same) == 0 && !moved {
			return
		}
	}
}

// constantLast changes a sum or product so that a constant is added last: then addresses
// that differ by constants have one part in common. It returns a new value that v needs, or
// nil if nothing is to be changed.
func constantLast(v *Value) *Value {
	if v.Type == nil || v.Type.Kind != Int || v.Type.Bits != 32 || len(v.Args) != 2 {
		return nil
	}
	// sum takes x + c apart.
	sum := func(v *Value) (x *Value, c uint32, ok bool) {
		if v.Op != IAdd || v.Type.Kind != Int || v.Type.Bits != 32 {
			return nil, 0, false
		}
		c, ok = integer(v.Args[1])
		return v.Args[0], c, ok
	}
	k, constant := integer(v.Args[1])
	switch {
	case v.Op == IMul && constant, v.Op == ShiftLeftLogical && constant && k < 32:
		x, c, ok := sum(v.Args[0])
		if !ok {
			return nil
		}
		part := &Value{Op: v.Op, Type: v.Type, Args: []*Value{x, v.Args[1]}, Block: v.Block}
		if v.Op == IMul {
			c *= k
		} else {
			c <<= k
		}
		v.Op, v.Args = IAdd, []*Value{part, constantOf(v.Type, c)}
		return part
	case v.Op == IAdd && !constant:
		a, b := v.Args[0], v.Args[1]
		x, c, ok := sum(a)
		y, d, also := sum(b)
		switch {
		case ok && also:
			a, b = x, y
		case ok:
			a = x
		case also:
			b = y
		default:
			return nil
		}
		part := &Value{Op: IAdd, Type: v.Type, Args: []*Value{a, b}, Block: v.Block}
		v.Args = []*Value{part, constantOf(v.Type, c+d)}
		return part
	}
	return nil
}

// sweep removes values without uses and effects. It reports whether there were any.
func (f *Func) sweep() bool {
	used := map[*Value]bool{}
	var list []*Value
	use := func(v *Value) {
		if !used[v] {
			used[v] = true
			list = append(list, v)
		}
	}
	for _, b := range f.Blocks {
		use(b.Term)
		for _, v := range b.Values {
			if !IsPure(v) && v.Op != Load {
				use(v)
			}
		}
	}
	for len(list) > 0 {
		v := list[len(list)-1]
		list = list[:len(list)-1]
		for _, a := range v.Args {
			use(a)
		}
	}
	found := false
	for _, b := range f.Blocks {
		b.Values = slices.DeleteFunc(b.Values, func(v *Value) bool {
			found = found || !used[v]
			return !used[v]
		})
	}
	return found
}

// IsPure reports whether a value depends on its operands only and has no effect.
func IsPure(v *Value) bool {
	switch {
	case v.Op == ExtInst: // The others write through a pointer.
		return !slices.ContainsFunc(v.Args, func(a *Value) bool { return a.Type.Kind == Pointer })
	case v.Op == Phi, v.Op == Undef, v.Op == AccessChain, v.Op == ArrayLength:
		return true
	case v.Op >= VectorExtractDynamic && v.Op <= Transpose, v.Op >= ConvertFToU && v.Op <= SMulExtended, v.Op >= Any && v.Op <= FUnordGreaterThanEqual,
		v.Op >= ShiftRightLogical && v.Op <= BitCount, v.Op == CopyLogical, v.Op == PackLevels, v.Op == Halves, v.Op >= SDot && v.Op <= SUDotAccSat:
		return v.Type != nil && v.Type.Kind != Pointer && v.Type.Kind != TexelBuffer
	}
	return false
}

// isWord reports whether values of a type are numbers of 32 bits.
func isWord(t *Type) bool { return (t.Kind == Int || t.Kind == Float) && t.Bits == 32 }

// integer returns a constant of an integer type of up to 32 bits.
func integer(v *Value) (uint32, bool) {
	if v.Op != Const || v.Type.Kind != Int || v.Type.Bits != 32 {
		return 0, false
	}
	return uint32(v.Bits), true
}

func constantOf(t *Type, n uint32) *Value { return &Value{Op: Const, Type: t, Bits: uint64(n)} }

// simpler returns a value that is equal to v, or nil if none is known. It may change v to an
// instruction that costs less.
func simpler(v *Value) *Value {
	switch v.Op {
	case CompositeExtract:
		return extracted(v)
	case CompositeConstruct:
		return reassembled(v)
	case CopyObject, CopyLogical:
		if v.Type == v.Args[0].Type && v.Type.Kind != Pointer && v.Type.Kind != TexelBuffer {
			return v.Args[0]
		}
	case Bitcast:
		from := v.Args[0]
		if from.Type == v.Type {
			return from
		}
		if from.Op == Bitcast && from.Args[0].Type == v.Type {
			return from.Args[0]
		}
		if from.Op == Const && isWord(from.Type) && isWord(v.Type) {
			return constantOf(v.Type, uint32(from.Bits))
		}
	case Select:
		if v.Args[1] == v.Args[2] {
			return v.Args[1]
		}
		if c := v.Args[0]; c.Op == Const && c.Type.Kind == Bool {
			return v.Args[2-c.Bits&1]
		}
	case BitFieldSExtract:
		x, ok := integer(v.Args[0])
		at, known := integer(v.Args[1])
		count, also := integer(v.Args[2])
		if ok && known && also && v.Type.Kind == Int && count > 0 && at < 32 && count <= 32-at {
			return constantOf(v.Type, uint32(int32(x<<(32-at-count))>>(32-count)))
		}
	}
	if v.Type == nil || len(v.Args) != 2 {
		return nil
	}
	if v.Type.Kind == Bool {
		return compared(v)
	}
	if v.Type.Kind != Int || v.Type.Bits != 32 {
		return nil
	}
	return counted(v)
}

// compared computes a comparison of constants.
func compared(v *Value) *Value {
	a, oka := integer(v.Args[0])
	b, okb := integer(v.Args[1])
	if !oka || !okb {
		return nil
	}
	yes := false
	switch v.Op {
	case IEqual:
		yes = a == b
	case INotEqual:
		yes = a != b
	case ULessThan:
		yes = a < b
	case UGreaterThanEqual:
		yes = a >= b
	case UGreaterThan:
		yes = a > b
	case ULessThanEqual:
		yes = a <= b
	case SLessThan:
		yes = int32(a) < int32(b)
	case SGreaterThanEqual:
		yes = int32(a) >= int32(b)
	case SGreaterThan:
		yes = int32(a) > int32(b)
	case SLessThanEqual:
		yes = int32(a) <= int32(b)
	default:
		return nil
	}
	if yes {
		return constantOf(v.Type, 1)
	}
	return constantOf(v.Type, 0)
}

// counted simplifies arithmetic on integers of 32 bits.
func counted(v *Value) *Value {
	a, oka := integer(v.Args[0])
	b, okb := integer(v.Args[1])
	zero := func() *Value { return constantOf(v.Type, 0) }
	// like returns an operand if it has the type of the result. Signedness may differ.
	like := func(x *Value) *Value {
		if x.Type == v.Type {
			return x
		}
		return nil
	}
	if oka && okb {
		switch v.Op {
		case IAdd:
			return constantOf(v.Type, a+b)
		case ISub:
			return constantOf(v.Type, a-b)
		case IMul:
			return constantOf(v.Type, a*b)
		case BitwiseAnd:
			return constantOf(v.Type, a&b)
		case BitwiseOr:
			return constantOf(v.Type, a|b)
		case BitwiseXor:
			return constantOf(v.Type, a^b)
		case ShiftLeftLogical:
			if b < 32 {
				return constantOf(v.Type, a<<b)
			}
		case ShiftRightLogical:
			if b < 32 {
				return constantOf(v.Type, a>>b)
			}
		case ShiftRightArithmetic:
			if b < 32 {
				return constantOf(v.Type, uint32(int32(a)>>b))
			}
		case UDiv:
			if b > 0 {
				return constantOf(v.Type, a/b)
			}
		case UMod:
			if b > 0 {
				return constantOf(v.Type, a%b)
			}
		}
		return nil
	}
	if oka && !okb {
		if v.Op == IAdd || v.Op == IMul {
			v.Args[0], v.Args[1] = v.Args[1], v.Args[0]
			a, b, oka, okb = b, a, okb, oka
		}
	}
	if oka && !okb {
		switch v.Op {
		case IAdd, BitwiseOr, BitwiseXor:
			if a == 0 {
				return like(v.Args[1])
			}
		case IMul:
			if a == 1 {
				return like(v.Args[1])
			}
			if a == 0 {
				return zero()
			}
		}
		return nil
	}
	if !okb {
		return nil
	}
	switch v.Op {
	case IAdd, ISub, BitwiseOr, BitwiseXor, ShiftLeftLogical, ShiftRightLogical, ShiftRightArithmetic:
		if b == 0 {
			return like(v.Args[0])
		}
		if v.Op == ISub { // x − c is x + (−c), so that it can be combined with sums.
			b = -b
			v.Op, v.Args = IAdd, []*Value{v.Args[0], constantOf(v.Args[1].Type, b)}
		}
		// (x + c) + d is x + (c + d).
		if in := v.Args[0]; v.Op == IAdd && in.Op == IAdd {
			if c, ok := integer(in.Args[1]); ok && in.Type.Bits == 32 && in.Type.Kind == Int {
				v.Args = []*Value{in.Args[0], constantOf(v.Args[1].Type, b+c)}
			}
		}
	case IMul:
		switch b {
		case 0:
			return zero()
		case 1:
			return like(v.Args[0])
		}
	case UDiv:
		if b == 1 {
			return like(v.Args[0])
		}
		if bits.OnesCount32(b) == 1 && v.Args[0].Type.Bits == 32 {
			v.Op, v.Args = ShiftRightLogical, []*Value{v.Args[0], constantOf(v.Args[1].Type, uint32(bits.TrailingZeros32(b)))}
		}
	case UMod:
		if bits.OnesCount32(b) == 1 && v.Args[0].Type.Bits == 32 {
			v.Op, v.Args = BitwiseAnd, []*Value{v.Args[0], constantOf(v.Args[1].Type, b-1)}
		}
	case BitwiseAnd:
		if b == 0 {
			return zero()
		}
		if b == ^uint32(0) {
			return like(v.Args[0])
		}
	}
	return nil
}

// extracted finds the part of a composite where the composite was made.
func extracted(v *Value) *Value {
	from, path := v.Args[0], v.Literals
	for {
		if len(path) == 0 {
			if from.Type == v.Type {
				return from
			}
			break
		}
		k := int(path[0])
		switch {
		case from.Op == CompositeConstruct && len(from.Args) == parts(from.Type), from.Op == Const && len(from.Args) > k:
			from, path = from.Args[k], path[1:]
			continue
		case from.Op == Const && len(from.Args) == 0 && from.Bits == 0 && v.Type.Scalar() == v.Type, from.Op == Undef:
			return &Value{Op: from.Op, Type: v.Type}
		case from.Op == CompositeConstruct: // of vectors
			at := 0
			for _, a := range from.Args {
				n := 1
				if a.Type.Kind == Vector {
					n = int(a.Type.N)
				}
				if k < at+n {
					if n > 1 {
						from, path = a, append([]uint32{uint32(k - at)}, path[1:]...)
					} else {
						from, path = a, path[1:]
					}
					break
				}
				at += n
			}
			continue
		case from.Op == CompositeExtract:
			from, path = from.Args[0], append(slices.Clone(from.Literals), path...)
			if len(path) > 0 && (from.Op == Const || from.Op == CompositeConstruct || from.Op == CompositeInsert || from.Op == VectorShuffle || from.Op == Bitcast || from.Op == Undef) {
				continue
			}
		case from.Op == CompositeInsert:
			n := min(len(path), len(from.Literals))
			switch {
			case !slices.Equal(path[:n], from.Literals[:n]):
				from = from.Args[1]
				continue
			case len(path) >= len(from.Literals):
				from, path = from.Args[0], path[n:]
				continue
			}
		case from.Op == VectorShuffle:
			n := int(from.Args[0].Type.N)
			switch own := from.Literals[k]; {
			case own == ^uint32(0):
				return &Value{Op: Undef, Type: v.Type}
			case int(own) < n:
				from, path = from.Args[0], append([]uint32{own}, path[1:]...)
			default:
				from, path = from.Args[1], append([]uint32{own - uint32(n)}, path[1:]...)
			}
			continue
		case from.Op == Bitcast && len(path) == 1 && from.Type.Kind == Vector && from.Args[0].Type.Kind == Vector && from.Type.N == from.Args[0].Type.N:
			if made := from.Args[0]; made.Op == CompositeConstruct && len(made.Args) == parts(made.Type) || made.Op == Const && len(made.Args) > k {
				v.Op, v.Args, v.Literals = Bitcast, []*Value{made.Args[k]}, nil
				return nil
			}
		}
		break
	}
	if len(path) > 0 && from != v.Args[0] {
		v.Args, v.Literals = []*Value{from}, slices.Clone(path)
	}
	return nil
}

// parts is the number of parts of a composite.
func parts(t *Type) int {
	if t.Kind == Struct {
		return len(t.Members)
	}
	return int(t.N)
}

// reassembled returns the composite whose parts a composite is made of, all in their order.
func reassembled(v *Value) *Value {
	if len(v.Args) != parts(v.Type) || len(v.Args) == 0 {
		return nil
	}
	var whole *Value
	for i, a := range v.Args {
		if a.Op != CompositeExtract || len(a.Literals) != 1 || int(a.Literals[0]) != i || whole != nil && a.Args[0] != whole {
			return nil
		}
		whole = a.Args[0]
	}
	if whole.Type != v.Type {
		return nil
	}
	return whole
}
