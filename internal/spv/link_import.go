package spv

import (
	"encoding/binary"
	"slices"
)

// source is a module that a Linker takes functions out of.
type source struct {
	s          *shader
	main, part uint32 // functions: the entry point's, and the one that it calls
	slots      []uint32
	from       int                   // index of the first instruction of a function
	ends       map[uint32]int        // by function: the index of its last instruction
	decorated  map[uint32][][]uint32 // decorations by what they decorate
	ids        map[uint32]uint32     // ids in the module that is made
	open       map[uint32]bool       // declarations that are being made
	written    map[uint32]bool       // functions that are written

	rewrite func(l *Linker, in *inst, words []uint32) bool // may change an instruction, or write it and others instead
	drops   func(id uint32) bool                           // whether an instruction is left out, or nil
	grown   uint32                                         // a type that gets a member more
	member  []uint32                                       // its type, its number and its offset
}

// source takes a part or a template apart, and notes what it needs of a device.
func (l *Linker) source(m *Module, slots []uint32) *source { return l.dissect(m, slots, true) }

// dissect is source. A module that is no part may have any functions.
func (l *Linker) dissect(m *Module, slots []uint32, part bool) *source {
	if m == nil || len(m.Code) == 0 {
		l.fail(invalid("no module"))
		return nil
	}
	s, err := decode(m.Code)
	if err == nil {
		err = s.define()
	}
	if err != nil {
		l.fail(err)
		return nil
	}
	p := &source{
		s: s, slots: slots, from: len(s.insts), ends: map[uint32]int{}, decorated: map[uint32][][]uint32{},
		ids: map[uint32]uint32{}, open: map[uint32]bool{}, written: map[uint32]bool{},
	}
	l.foreign = l.foreign || m.Foreign
	l.version = max(l.version, s.version)
	if err := p.survey(l, part); err != nil {
		l.fail(err)
	}
	return p
}

// survey finds the functions and the decorations.
func (p *source) survey(l *Linker, part bool) error {
	function, entries, called := uint32(0), 0, map[uint32]bool{}
	for i := range p.s.insts {
		switch in := &p.s.insts[i]; in.op {
		case opCapability:
			l.capabilities[in.w[1]] = true
		case opExtension:
			if name, _, ok := str(in.w[1:]); ok {
				l.extensions[name] = true
			}
		case opMemoryModel:
			if l.model == nil {
				l.model = slices.Clone(in.w)
			}
			if !slices.Equal(l.model, in.w) {
				return unsupported("parts have several memory models")
			}
		case opEntryPoint:
			entries++
			p.main = in.w[2]
		case opExecutionModeID:
			return unsupported("%v in a part", in)
		case opExecutionMode:
			if in.w[2] != modeLocalSize {
				return unsupported("%v in a part", in)
			}
		case opDecorate, opMemberDecorate:
			p.decorated[in.w[1]] = append(p.decorated[in.w[1]], in.w)
		case opDecorationGroup, opGroupDecorate, opGroupMemberDecorate, opDecorateID, opDecorateString, opMemberDecorateString:
			return unsupported("%v in a part", in)
		case opFunction:
			function, p.from = in.res, min(p.from, i)
		case opFunctionEnd:
			p.ends[function] = i
		case opFunctionCall:
			if part && function == p.main {
				p.part = in.w[3]
				called[p.part] = true
			}
		}
	}
	if !part && entries == 1 && p.ends[p.main] != 0 {
		return nil
	}
	if entries != 1 || len(called) != 1 || p.ends[p.main] == 0 || p.ends[p.part] == 0 {
		return invalid("a part has an entry point that calls one function (got %d entry points, %d functions)", entries, len(called))
	}
	return nil
}

// number is the id of a value or a label of a function in the module that is made.
func (p *source) number(l *Linker, id uint32) uint32 {
	n := p.ids[id]
	if n == 0 {
		n = l.fresh()
		p.ids[id] = n
		if p.drops != nil && p.drops(id) {
			return n
		}
		for _, w := range p.decorated[id] {
			w = slices.Clone(w)
			w[1] = n
			l.decorations = append(l.decorations, w...)
		}
	}
	return n
}

// rewritten is an instruction with the ids that f returns for those that it uses, and the index of the word that
// has its result.
func (p *source) rewritten(in *inst, f func(id uint32) uint32) (words []uint32, result int) {
	c := *in
	c.w = slices.Clone(in.w)
	own := (*uint32)(nil)
	if in.res != 0 {
		result = 1
		if in.typ != 0 || in.op.info().typ {
			result = 2
		}
		own = &c.w[result]
	}
	p.s.ids(&c, func(id *uint32) {
		if id != own {
			*id = f(*id)
		}
	})
	return c.w, result
}

// function writes a function and all that it calls, but not the part's function of a template. It returns the
// function's id.
func (p *source) function(l *Linker, id uint32) uint32 {
	n := p.number(l, id)
	if p.written[id] || l.err != nil {
		return n
	}
	p.written[id] = true
	for _, called := range p.copy(l, int(p.s.def[id]), p.ends[id], opFunctionEnd) {
		if id != p.main || p.part == 0 {
			p.function(l, called)
		}
	}
	return n
}

// copy writes the instructions of a function up to the first one that is last. It returns the functions that they
// call.
func (p *source) copy(l *Linker, from, to int, last opcode) (called []uint32) {
	for i := from; i <= to; i++ {
		in := &p.s.insts[i]
		if in.op == opLine || in.op == opNoLine || in.res != 0 && p.drops != nil && p.drops(in.res) {
			continue
		}
		words, result := p.rewritten(in, func(id uint32) uint32 {
			at := p.s.at(id)
			if at == nil {
				l.fail(invalid("%v uses %%%d, which nothing defines", in, id))
				return 0
			}
			switch k := int(p.s.def[id]); {
			case k < p.from:
				return p.global(l, id)
			case k >= from && k <= to:
			case at.op == opFunction && p.ends[id] != 0:
				called = append(called, id)
			default:
				l.fail(invalid("%v uses %%%d of another function", in, id))
			}
			return p.number(l, id)
		})
		if in.res != 0 {
			words[result] = p.number(l, in.res)
		}
		if p.rewrite != nil && p.rewrite(l, in, words) {
			continue
		}
		l.functions = append(l.functions, words...)
		if in.op == last {
			break
		}
	}
	return called
}

// id is the id of a value, which a declaration or an instruction of a function has made.
func (p *source) id(l *Linker, id uint32) uint32 {
	if int(p.s.def[id]) < p.from {
		return p.global(l, id)
	}
	return p.number(l, id)
}

// global is the id of a type, a constant or a variable. Those that are the same in every word, decorations
// included, are one.
func (p *source) global(l *Linker, id uint32) uint32 {
	if n := p.ids[id]; n != 0 || l.err != nil {
		return n
	}
	in := p.s.at(id)
	if in == nil || int(p.s.def[id]) >= p.from || p.open[id] || !isType(in.op) && !isConstant(in.op) && in.op != opVariable && in.op != opExtInstImport {
		l.fail(invalid("%%%d is no declaration that a part may have", id))
		return 0
	}
	p.open[id] = true
	words, result := p.rewritten(in, func(id uint32) uint32 { return p.global(l, id) })
	if l.err != nil {
		return 0
	}
	var decorations [][]uint32
	for _, w := range p.decorated[id] {
		w = slices.Clone(w)
		w[1] = 0
		if in.op == opVariable && opcode(w[0]&0xffff) == opDecorate && len(w) == 4 && w[2] == decBinding {
			if int(w[3]) >= len(p.slots) {
				l.fail(invalid("a part has the binding %d, and there are %d slots", w[3], len(p.slots)))
				return 0
			}
			w[3] = p.slots[w[3]]
		}
		decorations = append(decorations, w)
	}
	if id == p.grown {
		words = append(words, p.member[0])
		words[0] += 1 << 16
		decorations = append(decorations, []uint32{5<<16 | uint32(opMemberDecorate), 0, p.member[1], decOffset, p.member[2]})
	}
	slices.SortFunc(decorations, slices.Compare)
	own := in.op == opVariable && (words[3] == classPrivate || words[3] == classWorkgroup) // Parts share no memory.
	n := l.declare(words, result, decorations, own)
	p.ids[id] = n
	return n
}

// declare returns the id of a declaration, which is written unless the module has it, or if it is another one by itself.
func (l *Linker) declare(words []uint32, result int, decorations [][]uint32, own bool) uint32 {
	words[result] = 0
	var key []byte
	for _, w := range append([][]uint32{words}, decorations...) {
		key = binary.LittleEndian.AppendUint32(key, uint32(len(w)))
		for _, x := range w {
			key = binary.LittleEndian.AppendUint32(key, x)
		}
	}
	if n := l.known[string(key)]; n != 0 && !own {
		return n
	}
	n := l.fresh()
	words[result] = n
	l.known[string(key)], l.declared[n] = n, words
	for _, w := range decorations {
		w[1] = n
		l.decorations = append(l.decorations, w...)
	}
	switch opcode(words[0] & 0xffff) {
	case opExtInstImport:
		l.imports = append(l.imports, words...)
		return n
	case opVariable:
		l.variables = append(l.variables, n)
		if words[3] == classInput {
			l.inputs = append(l.inputs, n)
		}
	}
	l.declarations = append(l.declarations, words...)
	return n
}
