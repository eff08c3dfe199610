package spv

// additions are the types and constants that a rewriting adds to a module, which has
// each of them once. They are declared after all that the module declares itself.
type additions struct {
	next  uint32               // the first free id
	code  []byte               // the declarations
	known map[[3]uint32]uint32 // by opcode and the two operands that tell them apart
}

// newAdditions knows the scalars, vectors and constants of one word that s has.
func newAdditions(s *shader) *additions {
	a := &additions{next: s.bound, known: map[[3]uint32]uint32{}}
	for i := range s.insts {
		switch in := &s.insts[i]; in.op {
		case opFunction:
			return a
		case opTypeBool:
			a.known[[3]uint32{uint32(opTypeBool)}] = in.res
		case opTypeInt, opTypeVector:
			a.known[[3]uint32{uint32(in.op), in.w[2], in.w[3]}] = in.res
		case opConstant:
			if len(in.w) == 4 {
				a.known[[3]uint32{uint32(opConstant), in.typ, in.w[3]}] = in.res
			}
		}
	}
	return a
}

func (a *additions) id() uint32 {
	a.next++
	return a.next - 1
}

// add declares a thing unless the module has it; words are its operands but the id of
// its own, which stands at position at.
func (a *additions) add(op opcode, key [2]uint32, at int, words ...uint32) uint32 {
	k := [3]uint32{uint32(op), key[0], key[1]}
	id := a.known[k]
	if id == 0 {
		id = a.id()
		a.known[k] = id
		a.code = appendInst(a.code, op, append(append(append([]uint32{}, words[:at]...), id), words[at:]...)...)
	}
	return id
}

// integer is the type of integers of so many bits.
func (a *additions) integer(width uint32, signed bool) uint32 {
	sign := uint32(0)
	if signed {
		sign = 1
	}
	return a.add(opTypeInt, [2]uint32{width, sign}, 0, width, sign)
}

// boolean is the type of truth values.
func (a *additions) boolean() uint32 { return a.add(opTypeBool, [2]uint32{}, 0) }

// vector is the type of n components, that of the component itself where n is 1.
func (a *additions) vector(elem, n uint32) uint32 {
	if n == 1 {
		return elem
	}
	return a.add(opTypeVector, [2]uint32{elem, n}, 0, elem, n)
}

// constant is a number of one word, n times where it is a vector's type.
func (a *additions) constant(elem, n, word uint32) uint32 {
	one := a.add(opConstant, [2]uint32{elem, word}, 1, elem, word)
	if n == 1 {
		return one
	}
	vector := a.vector(elem, n)
	words := []uint32{vector}
	for range n {
		words = append(words, one)
	}
	return a.add(opConstantComposite, [2]uint32{vector, word}, 1, words...)
}
