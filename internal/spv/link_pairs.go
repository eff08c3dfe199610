package spv

// findMerged finds the stores of words of two elements of which one may stay as it is in memory: what is stored is
//
//	(there & ~mask) | (made & mask)
//
// where there is what the same place holds. Nothing else uses that load, so the kernel does not compute with it.
func (e *elements) findMerged() {
	e.merged, e.kept, e.dropped = map[uint32]merge{}, map[uint32]bool{}, map[uint32]bool{}
	used := map[uint32]int{}
	for i := range e.s.insts {
		in := &e.s.insts[i]
		if in.op == opDecorate || in.op == opName {
			continue
		}
		e.s.ids(in, func(id *uint32) {
			if *id != in.res {
				used[*id]++
			}
		})
	}
	once := func(in *inst, op opcode) bool { return in != nil && in.op == op && used[in.res] == 1 }
	for i := range e.s.insts {
		in := &e.s.insts[i]
		to, t, ok := e.use(in)
		if !ok || t.dims() != 1 || e.loads {
			continue
		}
		or := e.s.at(in.w[2])
		if !once(or, opBitwiseOr) {
			continue
		}
		for _, sides := range [][2]uint32{{or.w[3], or.w[4]}, {or.w[4], or.w[3]}} {
			there, made := e.s.at(sides[0]), e.s.at(sides[1])
			if !once(there, opBitwiseAnd) || made == nil || made.op != opBitwiseAnd {
				continue
			}
			for _, args := range [][2]uint32{{there.w[3], there.w[4]}, {there.w[4], there.w[3]}} {
				load := e.s.at(args[0])
				if !once(load, opLoad) {
					continue
				}
				from, ok := e.places[loaded(load)]
				for _, mask := range made.w[3:5] {
					if ok && from == to && e.isNot(args[1], mask) {
						e.merged[or.res], e.kept[load.res] = merge{made.res, mask}, true
						e.dropped[or.res], e.dropped[there.res], e.dropped[load.res] = true, true, true
					}
				}
			}
		}
	}
}

// isNot reports whether a word has the bits that another one has not.
func (e *elements) isNot(word, other uint32) bool {
	a, b := e.s.at(word), e.s.at(other)
	switch {
	case a == nil || b == nil:
		return false
	case a.op == opNot:
		return a.w[3] == other
	}
	return a.op == opConstant && b.op == opConstant && len(a.w) == 4 && len(b.w) == 4 && a.w[3] == ^b.w[3]
}
