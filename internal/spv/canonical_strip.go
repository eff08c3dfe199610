package spv

// strip marks in drop what the entry point main does not use, and returns the ids that
// it does. It follows calls from main's function, and from what is used to what that is
// made of.
func (s *shader) strip(main *inst, drop []bool) (map[uint32]bool, error) {
	if err := s.define(); err != nil {
		return nil, err
	}
	fn := main.w[2]
	span := map[uint32]int{} // by function: the index past its end
	for i, open := 0, uint32(0); i < len(s.insts); i++ {
		in := &s.insts[i]
		switch in.op {
		case opFunction:
			if open != 0 {
				return nil, invalid("%v begins inside another function", in)
			}
			open = in.res
		case opFunctionEnd:
			span[open], open = i+1, 0
		}
	}
	live := map[uint32]bool{}
	var pending []uint32
	mark := func(id *uint32) {
		if !live[*id] {
			live[*id] = true
			pending = append(pending, *id)
		}
	}
	follow := func() {
		for len(pending) > 0 {
			id := pending[len(pending)-1]
			pending = pending[:len(pending)-1]
			if id >= s.bound || s.def[id] < 0 {
				continue
			}
			i := int(s.def[id])
			end := i + 1
			if s.insts[i].op == opFunction {
				end = max(end, span[id])
			}
			for ; i < end; i++ {
				if !drop[i] {
					s.ids(&s.insts[i], mark)
				}
			}
		}
	}
	mark(&fn)
	for i := range s.insts {
		in := &s.insts[i]
		switch {
		case drop[i]:
		case in.op == opExecutionModeID && in.w[1] == fn:
			s.ids(in, mark)
		case in.op == opDecorate && len(in.w) == 4 && in.w[2] == decBuiltIn && in.w[3] == builtInWorkgroupSize:
			mark(&in.w[1])
		case in.op == opSource:
			s.ids(in, mark)
		}
	}
	follow()
	for i := range s.insts { // decorations with ids of their own, of what is used
		if in := &s.insts[i]; in.op == opDecorateID && live[in.w[1]] {
			s.ids(in, mark)
		}
	}
	follow()
	for i := range s.insts {
		if in := &s.insts[i]; in.op == opGroupDecorate || in.op == opGroupMemberDecorate {
			s.trim(in, live)
		}
	}
	for i, open := 0, uint32(0); i < len(s.insts); i++ {
		in := &s.insts[i]
		if in.op == opFunction {
			open = in.res
		}
		if open != 0 {
			drop[i] = drop[i] || !live[open]
		} else {
			drop[i] = drop[i] || !s.stays(in, main, live)
		}
		if in.op == opFunctionEnd {
			open = 0
		}
	}
	return live, nil
}

// trim takes the targets that are not live out of a group's list. The group itself is
// live, even where none is left.
func (s *shader) trim(in *inst, live map[uint32]bool) {
	step := 1
	if in.op == opGroupMemberDecorate {
		step = 2
	}
	w := in.w[:2:2]
	for k := 2; k+step <= len(in.w); k += step {
		if live[in.w[k]] {
			w = append(w, in.w[k:k+step]...)
		}
	}
	w[0] = uint32(len(w))<<16 | uint32(in.op)
	in.w = w
	live[w[1]] = true
}

// stays reports whether an instruction outside functions belongs to the module of the
// entry point main alone.
func (s *shader) stays(in, main *inst, live map[uint32]bool) bool {
	switch in.op {
	case opEntryPoint:
		return in == main
	case opExecutionMode, opExecutionModeID:
		return in.w[1] == main.w[2]
	case opName, opMemberName, opDecorate, opMemberDecorate, opDecorateID, opForwardPointer:
		return live[in.w[1]]
	case opExtInstImport, opVariable:
		return live[in.res]
	case opDecorationGroup, opString:
		return true
	}
	if in.op.info() == nil { // a type of another stage
		return false
	}
	return in.res == 0 || live[in.res]
}
