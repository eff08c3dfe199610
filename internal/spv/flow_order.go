package spv

// Sections of a module, in the order SPIR-V prescribes.
const (
	secCapability = iota
	secExtension
	secImport
	secMemoryModel
	secEntryPoint
	secMode
	secSource
	secName
	secProcessed
	secAnnotation
	secDeclaration
	secFunction
	secAny // may stand anywhere
)

func section(in *inst) int {
	switch in.op {
	case opCapability:
		return secCapability
	case opExtension:
		return secExtension
	case opExtInstImport:
		return secImport
	case opMemoryModel:
		return secMemoryModel
	case opEntryPoint:
		return secEntryPoint
	case opExecutionMode, opExecutionModeID:
		return secMode
	case opString, 2, 3, 4: // OpSourceContinued, OpSource, OpSourceExtension
		return secSource
	case opName, opMemberName:
		return secName
	case 330: // OpModuleProcessed
		return secProcessed
	case opDecorate, opMemberDecorate, opDecorationGroup, opGroupDecorate, opGroupMemberDecorate, 332, 5632, 5633:
		return secAnnotation
	case opVariable:
		if in.args()[0] == classFunction {
			return secFunction
		}
		return secDeclaration
	case opUndef, opLine, opNoLine, opExtInst, opForwardPointer:
		return secAny
	}
	if isType(in.op) || isConstant(in.op) {
		return secDeclaration
	}
	return secFunction
}

// order checks that instructions stand in the sections they belong to, and
// cuts the function section into functions and blocks.
func (s *shader) order() error {
	at := secCapability
	first := len(s.insts)
	for i := range s.insts {
		in := &s.insts[i]
		if in.op == opFunction {
			first = i
			break
		}
		sec := section(in)
		switch {
		case sec == secFunction:
			return invalid("%v stands outside a function", in)
		case sec == secAny:
			if in.op != opLine && in.op != opNoLine {
				if in.op == opExtInst && !s.nonSemantic(in.args()[0]) {
					return invalid("%v stands outside a function", in)
				}
				at = max(at, secDeclaration)
			}
		case sec < at:
			return invalid("%v stands after instructions that must follow it", in)
		default:
			at = sec
		}
	}
	return s.functions(first)
}

// function is one function and its blocks.
type function struct {
	def    *inst
	params []*inst
	blocks []*block
	at     map[uint32]*block // by label
	calls  []uint32
}

// block is a basic block. Its control-flow fields are filled in by link.
type block struct {
	label uint32
	fn    *function
	index int // position in the function
	body  []*inst
	merge *inst // OpLoopMerge or OpSelectionMerge, or nil
	term  *inst
	succ  []*block
	pred  []*block

	flow  node // in the graph of branches
	shape node // in that graph with edges from headers to their merge blocks and continue targets
}

// terminator reports whether op ends a block.
func terminator(op opcode) bool { return op >= opBranch && op <= opUnreachable }

// functions cuts the instructions from the i-th on into functions and blocks.
func (s *shader) functions(i int) error {
	s.blockOf = make([]*block, len(s.insts))
	s.fnOf = make([]*function, len(s.insts))
	var fn *function
	var b *block
	for ; i < len(s.insts); i++ {
		in := &s.insts[i]
		s.fnOf[i] = fn
		switch {
		case in.op == opLine || in.op == opNoLine:
			if b != nil && b.merge != nil {
				return invalid("%v stands between a merge instruction and its branch", in)
			}
			continue
		case in.op == opExtInst && fn == nil && s.nonSemantic(in.args()[0]):
			continue
		case in.op == opFunction:
			if fn != nil {
				return invalid("%v begins inside another function", in)
			}
			fn = &function{def: in, at: map[uint32]*block{}}
			s.fns = append(s.fns, fn)
			s.fnOf[i] = fn
			continue
		case fn == nil:
			return invalid("%v stands outside a function", in)
		case in.op == opFunctionParameter:
			if len(fn.blocks) > 0 {
				return invalid("%v stands after the first block of its function", in)
			}
			fn.params = append(fn.params, in)
			continue
		case in.op == opFunctionEnd:
			if b != nil {
				return invalid("%v: the block %%%d before it has no terminator", in, b.label)
			}
			if len(fn.blocks) == 0 {
				return invalid("%v has no body", fn.def)
			}
			fn = nil
			continue
		case in.op == opLabel:
			if b != nil {
				return invalid("%v: the block %%%d before it has no terminator", in, b.label)
			}
			b = &block{label: in.res, fn: fn, index: len(fn.blocks)}
			fn.blocks = append(fn.blocks, b)
			fn.at[in.res] = b
			s.blockOf[i] = b
			continue
		case b == nil:
			return invalid("%v stands outside a block", in)
		}
		s.blockOf[i] = b
		if sec := section(in); sec != secFunction && sec != secAny || in.op == opForwardPointer {
			return invalid("%v stands inside a function", in)
		}
		if b.merge != nil && !terminator(in.op) {
			return invalid("%v stands between a merge instruction and its branch", in)
		}
		switch {
		case terminator(in.op):
			b.term, b = in, nil
		case in.op == opLoopMerge || in.op == opSelectionMerge:
			b.merge = in
		default:
			if err := s.placed(b, in); err != nil {
				return err
			}
			b.body = append(b.body, in)
		}
	}
	if fn != nil {
		return invalid("%v has no OpFunctionEnd", fn.def)
	}
	return nil
}

// placed checks the instructions that have their place at the start of a block.
func (s *shader) placed(b *block, in *inst) error {
	var last opcode
	if len(b.body) > 0 {
		last = b.body[len(b.body)-1].op
	}
	switch in.op {
	case opPhi:
		if last != 0 && last != opPhi {
			return invalid("%v does not stand at the start of its block", in)
		}
		if b.index == 0 {
			return invalid("%v stands in the first block of a function", in)
		}
	case opVariable:
		if b.index != 0 || last != 0 && last != opVariable {
			return invalid("%v does not stand at the start of its function", in)
		}
	}
	return nil
}

// nonSemantic reports whether id is a set of instructions that mean nothing.
func (s *shader) nonSemantic(id uint32) bool {
	d := s.at(id)
	if d == nil || d.op != opExtInstImport {
		return false
	}
	name, _, _ := str(d.args())
	return len(name) > 12 && name[:12] == "NonSemantic."
}
