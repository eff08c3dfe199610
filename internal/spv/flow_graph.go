package spv

import "slices"

// link connects the blocks of every function, finds dominators and checks the
// graph: targets, phis, structured control flow, and uses after definitions.
func (s *shader) link() error {
	for _, fn := range s.fns {
		for _, b := range fn.blocks {
			if err := s.successors(b); err != nil {
				return err
			}
		}
		fn.dominators(flowOf, func(b *block) []*block { return b.succ })
		for _, b := range fn.blocks {
			if d := b.flow.idom; d != nil && d.index >= b.index {
				return invalid("block %%%d stands before the block %%%d that dominates it", b.label, d.label)
			}
			for _, in := range b.body {
				if in.op != opPhi {
					break
				}
				if err := s.phi(b, in); err != nil {
					return err
				}
			}
		}
		if err := s.uses(fn); err != nil {
			return err
		}
		if err := fn.structured(s); err != nil {
			return err
		}
	}
	return nil
}

// targets are the labels a terminator may branch to, each once.
func (s *shader) targets(in *inst) []uint32 {
	a := in.args()
	var t []uint32
	switch in.op {
	case opBranch:
		t = a[:1]
	case opBranchConditional:
		t = a[1:3]
	case opSwitch:
		t = append(t, a[1])
		lit := int((s.typeOf(a[0]).width + 31) / 32)
		for k := 2 + lit; k < len(a); k += lit + 1 {
			t = append(t, a[k])
		}
	}
	var once []uint32
	for _, id := range t {
		if !slices.Contains(once, id) {
			once = append(once, id)
		}
	}
	return once
}

// successors fills in the edges that leave b.
func (s *shader) successors(b *block) error {
	for _, id := range s.targets(b.term) {
		to := b.fn.at[id]
		if to == nil {
			return invalid("%v branches to %%%d, which is not a block of its function", b.term, id)
		}
		if to.index == 0 {
			return invalid("%v branches to the first block of its function", b.term)
		}
		b.succ = append(b.succ, to)
		to.pred = append(to.pred, b)
	}
	return nil
}

// phi checks that a phi has one value for each predecessor.
func (s *shader) phi(b *block, in *inst) error {
	a := in.args()
	if len(a)/2 != len(b.pred) {
		return invalid("%v has %d values, its block has %d predecessors", in, len(a)/2, len(b.pred))
	}
	var seen []*block
	for k := 0; k < len(a); k += 2 {
		from := b.fn.at[a[k+1]]
		if from == nil || !slices.Contains(b.pred, from) || slices.Contains(seen, from) {
			return invalid("%v: %%%d is not a predecessor of its block, or named twice", in, a[k+1])
		}
		seen = append(seen, from)
		if s.typeOf(a[k]) != s.types[in.typ] {
			return invalid("%v: value %%%d is %v (want %v)", in, a[k], s.typeOf(a[k]), s.types[in.typ])
		}
	}
	return nil
}

// uses checks that every value used in a function is defined on every way to
// the use, in this function or outside all.
func (s *shader) uses(fn *function) error {
	for _, b := range fn.blocks {
		for _, in := range b.body {
			if err := s.usesOf(b, in); err != nil {
				return err
			}
		}
		if b.merge != nil {
			for _, id := range b.merge.args()[:len(b.merge.args())-s.mergeLiterals(b.merge)] {
				if fn.at[id] == nil {
					return invalid("%v: %%%d is not a block of its function", b.merge, id)
				}
			}
		}
		if err := s.usesOf(b, b.term); err != nil {
			return err
		}
	}
	return nil
}

// mergeLiterals is how many trailing operands of a merge instruction are not
// labels: the control mask and its parameters.
func (s *shader) mergeLiterals(in *inst) int {
	if in.op == opLoopMerge {
		return len(in.args()) - 2
	}
	return len(in.args()) - 1
}

// usesOf checks the value operands of one instruction in block b.
func (s *shader) usesOf(b *block, in *inst) error {
	i := s.index(in)
	return s.values(in, func(k int, id uint32) error {
		d := s.def[id]
		from := b
		pos := i
		if in.op == opPhi { // used at the end of the predecessor
			from, pos = b.fn.at[in.args()[k+1]], len(s.insts)
		}
		switch {
		case s.fnOf[d] == nil || s.insts[d].op == opFunction: // global
			return nil
		case s.fnOf[d] != b.fn:
			return invalid("%v uses %%%d of another function", in, id)
		case s.blockOf[d] == nil: // parameter
			return nil
		case !from.flow.reached:
			return nil
		case s.blockOf[d] == from && int(d) < pos:
			return nil
		case s.blockOf[d] != from && s.blockOf[d].flow.reached && dominates(flowOf, s.blockOf[d], from):
			return nil
		}
		return invalid("%v uses %%%d where it is not defined on every way there", in, id)
	})
}

// index is the position of in among the instructions.
func (s *shader) index(in *inst) int {
	if in.res != 0 {
		return int(s.def[in.res])
	}
	i, _ := slices.BinarySearchFunc(s.insts, in.at, func(x inst, at int) int { return x.at - at })
	return i
}

// values calls f with the position among the operands and the id of every
// operand of in that is a value.
func (s *shader) values(in *inst, f func(k int, id uint32) error) error {
	a := in.args()
	pattern := table[in.op].operands
	switch in.op {
	case opPhi:
		for k := 0; k < len(a); k += 2 {
			if err := f(k, a[k]); err != nil {
				return err
			}
		}
		return nil
	case opExtInst:
		if s.nonSemantic(a[0]) {
			return nil
		}
		for k := 2; k < len(a); k++ {
			if err := f(k, a[k]); err != nil {
				return err
			}
		}
		return nil
	}
	k := 0
	for p := 0; p < len(pattern) && k < len(a); p++ {
		many := p+1 < len(pattern) && pattern[p+1] == '*'
		switch pattern[p] {
		case '?', '*':
		case 'v':
			for first := true; k < len(a) && (first || many); first = false {
				if err := f(k, a[k]); err != nil {
					return err
				}
				k++
			}
		case 'I':
			for k++; k < len(a); k++ {
				if err := f(k, a[k]); err != nil {
					return err
				}
			}
		case 'l', 't', 'b', 'f', 'i', 'c', 'e':
			k++
		default: // scopes after memory operands are constants
			return nil
		}
	}
	return nil
}
