package spv

import "slices"

// byRows refuses what WebGPU's compiler gets wrong of matrices that lie in memory row
// by row: it reads them right, when they are square and taken whole or by constant
// indices from their variable, and takes every other use for one of a matrix by columns.
//
// Errors: ErrUnsupported naming the instruction.
func (s *shader) byRows() error {
	holds := map[*typ]bool{}
	for key, list := range s.mdecor {
		if t := s.types[key.id]; has(list, decRowMajor) {
			if m := matrixIn(t.members[key.index]); m != nil && m.n != m.elem.n {
				return unsupported("member %d of %%%d is a matrix by rows that is not square, of which WebGPU has none", key.index, key.id)
			}
			holds[t] = true
		}
	}
	if len(holds) == 0 {
		return nil
	}
	for _, t := range s.types { // parts stand before what they are part of
		if t != nil && (t.elem != nil && !t.is(opTypePointer) && holds[t.elem] || slices.ContainsFunc(t.members, func(m *typ) bool { return holds[m] })) {
			holds[t] = true
		}
	}
	parts := map[uint32]bool{} // pointers to such matrices and into them
	for i := range s.insts {
		in := &s.insts[i]
		chain := in.op == opAccessChain || in.op == opInBoundsAccess
		if chain && !parts[in.args()[0]] {
			within, fixed := s.rowChain(in)
			if within && !fixed {
				return unsupported("%v: a variable index into a matrix by rows, which WebGPU lacks", in)
			}
			if within {
				parts[in.res] = true
			}
			continue
		}
		switch in.op {
		case opName, opDecorate, opEntryPoint, opArrayLength, opVariable, opFunctionParameter:
			continue
		}
		var err error
		s.ids(in, func(id *uint32) {
			p := s.typeOf(*id)
			switch {
			case *id == in.res || err != nil:
			case parts[*id] && in.op != opLoad:
				err = unsupported("%v: all but loads of a matrix by rows, which WebGPU has no other use for", in)
			case p.is(opTypePointer) && holds[p.elem] && !parts[*id] && !chain:
				err = unsupported("%v: a matrix by rows inside what is read, written or passed as a whole, which WebGPU lacks", in)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// matrixIn is the matrix that a member is, or is an array of.
func matrixIn(t *typ) *typ {
	for t.is(opTypeArray) || t.is(opTypeRuntimeArray) {
		t = t.elem
	}
	if t.is(opTypeMatrix) {
		return t
	}
	return nil
}

// rowChain reports whether an access chain leads to or into a matrix by rows, and
// whether all its indices into it are constants.
func (s *shader) rowChain(in *inst) (within, fixed bool) {
	a := in.args()
	p := s.typeOf(a[0])
	if !p.is(opTypePointer) {
		return false, false
	}
	t, rows := p.elem, false
	fixed = true
	for _, id := range a[1:] {
		switch {
		case t.is(opTypeStruct):
			k := s.scalars[id]
			rows = has(s.mdecor[member{t.id, uint32(k)}], decRowMajor)
			t = t.constituent(int(k))
			continue
		case rows && (t.is(opTypeMatrix) || t.is(opTypeVector)):
			d := s.at(id)
			fixed = fixed && d != nil && d.op == opConstant
		}
		if t == nil {
			return false, false
		}
		t = t.constituent(0)
	}
	return rows && (t.is(opTypeMatrix) || t.dims() > 0), fixed
}
