package spv

// amounts are what drivers spend time and memory on when they compile a function.
type amounts struct {
	bytes     uint64 // Module.PrivateBytes
	registers uint64 // Module.Registers
	work      uint64 // Module.Instructions
}

func (a amounts) plus(b amounts) amounts {
	return amounts{satAdd(a.bytes, b.bytes), satAdd(a.registers, b.registers), satAdd(a.work, b.work)}
}

// private sums up what an invocation has of its own, and what drivers make of it all: a
// function counts as often as it is called, because they put its body in the place of
// every call. It relies on check, which has refused recursion.
func (s *shader) private(m *Module) error {
	own := map[uint32]amounts{} // by function; 0 is the module itself
	for i := range s.insts {
		in := &s.insts[i]
		at := uint32(0)
		if fn := s.fnOf[i]; fn != nil {
			at = fn.def.res
		}
		if in.op == opVariable {
			own[at] = own[at].plus(s.ownOf(in))
		} else if s.blockOf[i] == nil || in.op == opLabel || in.op == opLine || in.op == opNoLine {
			continue
		}
		// Drivers move such a value scalar by scalar, and the time that takes grows
		// faster than the number of them.
		n := s.held(in)
		m.ValueScalars = max(m.ValueScalars, n)
		if in.op != opVariable || n > 0 {
			own[at] = own[at].plus(amounts{work: max(1, satMul(n, (n+63)/64))})
		}
	}
	byID := map[uint32]*function{}
	for _, fn := range s.fns {
		byID[fn.def.res] = fn
	}
	total := map[uint32]amounts{}
	var sum func(fn *function) amounts
	sum = func(fn *function) amounts {
		id := fn.def.res
		n, ok := total[id]
		if ok {
			return n
		}
		n = own[id]
		for _, callee := range fn.calls {
			n = n.plus(sum(byID[callee]))
		}
		total[id] = n
		return n
	}
	all := own[0]
	for i := range s.insts {
		if in := &s.insts[i]; in.op == opEntryPoint {
			all = all.plus(sum(byID[in.args()[1]]))
		}
	}
	m.PrivateBytes, m.Registers, m.Instructions = all.bytes, all.registers, all.work
	return nil
}

// ownOf is what a variable of the storage classes Private and Function takes.
// Drivers keep scalars and vectors in registers, and all else in memory.
func (s *shader) ownOf(in *inst) amounts {
	t := s.types[in.typ]
	if t.class != classFunction && t.class != classPrivate {
		return amounts{}
	}
	if n := t.elem.dims(); n > 0 {
		return amounts{registers: uint64(n)}
	}
	return amounts{bytes: t.elem.size}
}

// held is the number of scalars in the largest array, structure or matrix that an
// instruction makes, reads or writes as one value.
func (s *shader) held(in *inst) uint64 {
	t := s.types[in.typ]
	switch a := in.args(); in.op {
	case opStore:
		t = s.typeOf(a[1])
	case opCopyMemory:
		t = s.typeOf(a[0]).elem
	case opVariable: // its initialiser is stored
		t = nil
		if len(a) > 1 {
			t = s.typeOf(a[1])
		}
	}
	if t == nil || t.dims() > 0 {
		return 0
	}
	return t.scalars
}

func satAdd(a, b uint64) uint64 { return min(a+b, 1<<62) }
