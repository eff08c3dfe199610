package spv

import "encoding/binary"

// ReadsStored reports whether a kernel, launched with these push constants, can load from a binding that it stores in. A kernel that loads
// only if a parameter says so, to add to what is there, does not where the parameter says otherwise.
// Errors: those of StoresOf.
func ReadsStored(kernel *Module, slot uint32, form Form, params []byte) (bool, error) {
	e, err := elementsOf(kernel, slot, false, form)
	if err != nil {
		return false, err
	}
	k := &knownParams{s: e.s, params: params, edges: map[[2]uint32]bool{}}
	main := uint32(0)
	for i := range e.s.insts {
		if in := &e.s.insts[i]; in.op == opEntryPoint {
			main = in.w[2]
		}
	}
	reached := k.reached(main)
	function := uint32(0)
	for i := range e.s.insts {
		in := &e.s.insts[i]
		if in.op == opFunction {
			function = in.res
		}
		if e.reads(in) && (function != main || reached[i]) {
			return true, nil
		}
	}
	return false, nil
}

// knownParams computes what follows from the values of push constants (sparse conditional constant propagation, Wegman and Zadeck, 1991).
type knownParams struct {
	s      *shader
	params []byte
	edges  map[[2]uint32]bool // from block to block, which a launch may take
	values map[uint32]*uint32 // nil is unknown
}

// reached are the instructions of a function that a launch may come to. What is known holds for the edges found so far, so they are looked for again
// until there are no more.
func (k *knownParams) reached(function uint32) map[int]bool {
	for {
		before := len(k.edges)
		k.values = map[uint32]*uint32{}
		if seen := k.walk(function); len(k.edges) == before {
			return seen
		}
	}
}

// walk follows the edges that a launch may take.
func (k *knownParams) walk(function uint32) map[int]bool {
	seen, block := map[int]bool{}, uint32(0)
	next := []int{int(k.s.def[function]) + 1}
	for len(next) > 0 {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		for ; i < len(k.s.insts) && !seen[i]; i++ {
			seen[i] = true
			in := &k.s.insts[i]
			var to []uint32
			switch in.op {
			case opLabel:
				block = in.res
				continue
			case opBranch:
				to = in.w[1:2]
			case opBranchConditional:
				switch v := k.value(in.w[1], 0); {
				case v == nil:
					to = in.w[2:4]
				case *v != 0:
					to = in.w[2:3]
				default:
					to = in.w[3:4]
				}
			case opSwitch:
				k.s.ids(&inst{op: in.op, w: in.w}, func(id *uint32) {
					if d := k.s.at(*id); d != nil && d.op == opLabel {
						to = append(to, *id)
					}
				})
			case opReturn, opReturnValue, opUnreachable:
			default:
				continue
			}
			for _, label := range to {
				k.edges[[2]uint32{block, label}] = true
				next = append(next, int(k.s.def[label]))
			}
			break
		}
	}
	return seen
}

// value is the value of an integer or a truth value, or nil.
func (k *knownParams) value(id uint32, depth int) *uint32 {
	if v, ok := k.values[id]; ok || depth > 32 {
		return v
	}
	k.values[id] = nil
	in := k.s.at(id)
	if in == nil {
		return nil
	}
	arg := func(i int) *uint32 { return k.value(in.w[3+i], depth+1) }
	var v *uint32
	set := func(x uint32) { v = &x }
	truth := func(b bool) {
		x := uint32(0)
		if b {
			x = 1
		}
		v = &x
	}
	switch in.op {
	case opConstant:
		if len(in.w) == 4 {
			set(in.w[3])
		}
	case opConstantTrue, opConstantFalse:
		truth(in.op == opConstantTrue)
	case opLoad:
		v = k.param(in.w[3])
	case opBitcast, opCopyObject:
		if t, from := k.s.typeOf(id), k.s.typeOf(in.w[3]); t.dims() == 1 && from.dims() == 1 && !t.isBool() && t.bits() == 32 && from.bits() == 32 {
			v = arg(0)
		}
	case opPhi:
		v = k.phi(in, depth)
	case opLogicalNot:
		if a := arg(0); a != nil {
			truth(*a == 0)
		}
	case opLogicalAnd, opLogicalOr:
		a, b, or := arg(0), arg(1), in.op == opLogicalOr
		switch {
		case a != nil && (*a != 0) == or, b != nil && (*b != 0) == or: // one of them decides
			truth(or)
		case a != nil && b != nil:
			truth(!or)
		}
	case opBitwiseAnd, opIEqual, opINotEqual, opULessThan, opUGreaterThan:
		if t := k.s.typeOf(in.w[3]); t.dims() != 1 || t.bits() != 32 {
			break
		}
		a, b := arg(0), arg(1)
		switch {
		case a == nil || b == nil:
		case in.op == opBitwiseAnd:
			set(*a & *b)
		case in.op == opIEqual:
			truth(*a == *b)
		case in.op == opINotEqual:
			truth(*a != *b)
		case in.op == opULessThan:
			truth(*a < *b)
		default:
			truth(*a > *b)
		}
	}
	k.values[id] = v
	return v
}

// phi is the value that comes by all edges that are taken, or nil.
func (k *knownParams) phi(in *inst, depth int) (v *uint32) {
	block := uint32(0)
	for i := int(k.s.def[in.res]); i >= 0 && block == 0; i-- {
		if k.s.insts[i].op == opLabel {
			block = k.s.insts[i].res
		}
	}
	for pairs := in.w[3:]; len(pairs) >= 2; pairs = pairs[2:] {
		if !k.edges[[2]uint32{pairs[1], block}] {
			continue
		}
		x := k.value(pairs[0], depth+1)
		if x == nil || v != nil && *x != *v {
			return nil
		}
		v = x
	}
	return v
}

// param is the push constant of 32 bits that a pointer points to, or nil.
func (k *knownParams) param(pointer uint32) *uint32 {
	chain := k.s.at(pointer)
	if chain == nil || chain.op != opAccessChain && chain.op != opInBoundsAccess || len(chain.w) != 5 {
		return nil
	}
	variable := k.s.at(chain.w[3])
	if variable == nil || variable.op != opVariable || variable.w[3] != classPushConstant {
		return nil
	}
	index := k.value(chain.w[4], 0)
	block := k.s.typeOf(chain.w[3]).elem
	if index == nil || !block.is(opTypeStruct) || int(*index) >= len(block.members) {
		return nil
	}
	m := block.members[*index]
	at, ok := number(k.s.mdecor[member{block.id, *index}], decOffset)
	if !ok || m.dims() != 1 || m.isBool() || m.bits() != 32 || int64(at)+4 > int64(len(k.params)) {
		return nil
	}
	v := binary.LittleEndian.Uint32(k.params[at:])
	return &v
}
