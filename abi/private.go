package abi

// private sums up what an invocation has in memory of its own: the arrays, structs and
// matrices in variables of the storage classes Private and Function. Scalars
// and vectors do not count, for drivers keep them in registers. A function
// counts as often as it is called, because drivers put its body in the place of
// every call. It relies on check, which has refused recursion.
func (s *shader) private(m *Module) error {
	own := map[uint32]uint64{} // by function; 0 is the module itself
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opVariable {
			continue
		}
		t := s.types[in.typ]
		if t.class != classFunction && t.class != classPrivate || t.elem.dims() > 0 {
			continue
		}
		at := uint32(0)
		if fn := s.fnOf[i]; fn != nil {
			at = fn.def.res
		}
		own[at] = satAdd(own[at], t.elem.size)
	}
	byID := map[uint32]*function{}
	for _, fn := range s.fns {
		byID[fn.def.res] = fn
	}
	total := map[uint32]uint64{}
	var sum func(fn *function) uint64
	sum = func(fn *function) uint64 {
		id := fn.def.res
		n, ok := total[id]
		if ok {
			return n
		}
		n = own[id]
		for _, callee := range fn.calls {
			n = satAdd(n, sum(byID[callee]))
		}
		total[id] = n
		return n
	}
	m.PrivateBytes = own[0]
	for i := range s.insts {
		if in := &s.insts[i]; in.op == opEntryPoint {
			m.PrivateBytes = satAdd(m.PrivateBytes, sum(byID[in.args()[1]]))
		}
	}
	return nil
}

func satAdd(a, b uint64) uint64 { return min(a+b, 1<<62) }
