package spv

import "slices"

// Stores says how a kernel stores what it makes, as far as an epilogue must know it.
type Stores struct {
	// Quads is the number of instructions that store four elements, and Lanes of those that store one.
	Quads, Lanes int
	// Reads says that it can read what is there before it stores, as one does that adds to it if a parameter says so.
	Reads bool
}

// store is a place that a kernel stores to: element at of the array of the block, and a component of that if it
// is not 0.
type store struct{ at, component uint32 }

// epilogue is a kernel whose stores in one binding go through a function.
type epilogue struct {
	kernel *source
	types  *shader
	places map[uint32]store // by the id of the pointer
	fns    [2]*Func         // for one element, and for four
	block  uint32           // the variable of the push constants
	member uint32           // of the words
	count  uint32           // of the words
}

// StoresOf looks how a kernel stores 32-bit elements in a binding.
// Errors: ErrUnsupported if it does something else with the binding than to load and store, or stores other types, in which case it has no epilogue.
func StoresOf(kernel *Module, slot uint32) (Stores, error) {
	s, places, err := placesOf(kernel, slot)
	if err != nil {
		return Stores{}, err
	}
	var how Stores
	for i := range s.insts {
		switch in := &s.insts[i]; in.op {
		case opLoad:
			_, ok := places[in.w[3]]
			how.Reads = how.Reads || ok
		case opStore:
			if p, ok := places[in.w[1]]; ok {
				if p.component == 0 && s.typeOf(in.w[2]).is(opTypeVector) {
					how.Quads++
				} else {
					how.Lanes++
				}
			}
		}
	}
	if how.Quads+how.Lanes == 0 {
		return how, unsupported("kernel %s stores nothing in binding %d", kernel.label(), slot)
	}
	return how, nil
}

// placesOf finds the pointers by which a kernel stores in a binding, and refuses other uses of it.
func placesOf(kernel *Module, slot uint32) (*shader, map[uint32]store, error) {
	if kernel == nil || len(kernel.Code) == 0 {
		return nil, nil, invalid("no kernel")
	}
	s, err := typed(kernel.Code)
	if err != nil {
		return nil, nil, err
	}
	variable := uint32(0)
	for id, list := range s.decor {
		if b, ok := number(list, decBinding); ok && b == slot {
			if set, ok := number(list, decDescriptorSet); variable != 0 || ok && set != 0 {
				return nil, nil, unsupported("kernel %s has several variables or sets for binding %d", kernel.label(), slot)
			}
			variable = id
		}
	}
	if v := s.at(variable); v == nil || v.op != opVariable || v.w[3] != classStorageBuffer {
		return nil, nil, unsupported("kernel %s has no storage buffer for binding %d", kernel.label(), slot)
	}
	places := map[uint32]store{}
	inside := false
	for i := range s.insts {
		in := &s.insts[i]
		if inside = inside || in.op == opFunction; !inside {
			continue
		}
		uses := false
		s.ids(in, func(id *uint32) {
			_, ok := places[*id]
			uses = uses || ok || *id == variable
		})
		if !uses || in.res != 0 && in.res == variable {
			continue
		}
		switch in.op {
		case opAccessChain, opInBoundsAccess:
			base, indices := in.w[3], in.w[4:]
			p, ok := places[base]
			switch {
			case !ok && (len(indices) == 2 || len(indices) == 3): // the member of the block, the element, and its component
				if p.at = indices[1]; len(indices) == 3 {
					p.component = indices[2]
				}
			case ok && p.component == 0 && len(indices) == 1:
				p.component = indices[0]
			default:
				return nil, nil, unsupported("kernel %s takes the address of something else than an element of binding %d", kernel.label(), slot)
			}
			places[in.res] = p
		case opStore:
			p, ok := places[in.w[1]]
			t := s.typeOf(in.w[2])
			if !ok || t == nil || !t.isInt() && !t.isFloat() || t.bits() != 32 || t.dims() != 1 && (t.dims() != 4 || p.component != 0) {
				return nil, nil, unsupported("kernel %s stores something else than 32-bit elements, one or four, in binding %d", kernel.label(), slot)
			}
			if array := s.elementOf(variable); array == nil || p.component != 0 && array.dims() != 4 || p.component == 0 && array.dims() != t.dims() {
				return nil, nil, unsupported("kernel %s stores in binding %d, which is no array of what it stores", kernel.label(), slot)
			}
		case opLoad:
			if _, ok := places[in.w[3]]; !ok {
				return nil, nil, unsupported("kernel %s loads all of binding %d", kernel.label(), slot)
			}
		default:
			return nil, nil, unsupported("kernel %s does something else than to load and store in binding %d", kernel.label(), slot)
		}
	}
	return s, places, nil
}

// elementOf is the type of the elements of a block's array, which is its only member, or nil.
func (s *shader) elementOf(variable uint32) *typ {
	v := s.typeOf(variable)
	if v == nil || !v.elem.is(opTypeStruct) || len(v.elem.members) != 1 || !v.elem.members[0].is(opTypeRuntimeArray) {
		return nil
	}
	return v.elem.members[0].elem
}

// NewEpilogue begins a module that is a kernel with an epilogue: what the kernel stores in a binding goes through a function
// first. The function is written for each form of store that StoresOf finds: Begin, calls, Return. words are added to
// the push constants, behind those of the kernel. Errors are those of Module.
func NewEpilogue(kernel *Module, slot uint32, words int) *Linker {
	l := newLinker()
	s, places, err := placesOf(kernel, slot)
	if err != nil {
		l.fail(err)
		return l
	}
	p := l.dissect(kernel, nil, false)
	if l.err != nil {
		return l
	}
	for i := range 1 + slices.Max(slotsOf(kernel)) {
		p.slots = append(p.slots, i)
	}
	e := &epilogue{kernel: p, types: s, places: places, count: uint32(max(words, 0))}
	l.epilogue, p.store = e, e.store
	if e.count > 0 {
		l.addWords(kernel.ParamSize)
	}
	return l
}

func slotsOf(m *Module) []uint32 {
	list := []uint32{0}
	for _, b := range m.Bindings {
		list = append(list, b.Slot)
	}
	return list
}

// addWords adds an array of words at the end of the push constants, which have size bytes.
func (l *Linker) addWords(size uint32) {
	e, p := l.epilogue, l.epilogue.kernel
	u := l.uint()
	array := l.declare([]uint32{4<<16 | uint32(opTypeArray), 0, u, l.Number(e.count).id}, 1, [][]uint32{{4<<16 | uint32(opDecorate), 0, decArrayStride, 4}}, false)
	for i := range p.s.insts {
		in := &p.s.insts[i]
		if in.op != opVariable || in.w[3] != classPushConstant {
			continue
		}
		block := p.s.at(p.s.at(in.typ).w[3]) // of the pointer
		if block == nil || block.op != opTypeStruct {
			l.fail(unsupported("the push constants of a kernel are no block"))
			return
		}
		e.member = uint32(len(block.w) - 2)
		p.grown, p.member = block.res, []uint32{array, e.member, size}
		e.block = p.global(l, in.res)
		return
	}
	block := l.declare([]uint32{3<<16 | uint32(opTypeStruct), 0, array}, 1, [][]uint32{
		{3<<16 | uint32(opDecorate), 0, decBlock},
		{5<<16 | uint32(opMemberDecorate), 0, 0, decOffset, 0},
	}, false)
	pointer := l.declare([]uint32{4<<16 | uint32(opTypePointer), 0, classPushConstant, block}, 1, nil, false)
	e.block = l.declare([]uint32{4<<16 | uint32(opVariable), pointer, 0, classPushConstant}, 2, nil, false)
}

// Word returns word k of those that NewEpilogue adds.
func (l *Linker) Word(k int) Value {
	e := l.epilogue
	if l.err != nil || e == nil || k < 0 || k >= int(e.count) {
		l.fail(invalid("no word %d", k))
		return Value{}
	}
	u := l.uint()
	pointer := l.declare([]uint32{4<<16 | uint32(opTypePointer), 0, classPushConstant, u}, 1, nil, false)
	at, v := l.fresh(), Value{l.fresh(), u}
	l.body = appendOp(l.body, opAccessChain, pointer, at, e.block, l.Number(e.member).id, l.Number(uint32(k)).id)
	l.body = appendOp(l.body, opLoad, u, v.id, at)
	return v
}

// Parameter returns the number at a byte of the push constants that the kernel has itself, as a uint. It must be one of 32 bits that
// is a member of the block.
func (l *Linker) Parameter(at uint32) Value {
	if l.err != nil || l.epilogue == nil {
		l.fail(invalid("no kernel with parameters"))
		return Value{}
	}
	p, s := l.epilogue.kernel, l.epilogue.types
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opVariable || in.w[3] != classPushConstant {
			continue
		}
		block := s.typeOf(in.res).elem
		for k, m := range block.members {
			if off, _ := number(s.mdecor[member{block.id, uint32(k)}], decOffset); off != at || m.dims() != 1 || m.bits() != 32 {
				continue
			}
			t := p.global(l, m.id)
			pointer := l.declare([]uint32{4<<16 | uint32(opTypePointer), 0, classPushConstant, t}, 1, nil, false)
			chain, v := l.fresh(), Value{l.fresh(), t}
			l.body = appendOp(l.body, opAccessChain, pointer, chain, p.global(l, in.res), l.Number(uint32(k)).id)
			l.body = appendOp(l.body, opLoad, t, v.id, chain)
			if u := l.uint(); t != u {
				bits := Value{l.fresh(), u}
				l.body = appendOp(l.body, opBitcast, u, bits.id, v.id)
				return bits
			}
			return v
		}
	}
	l.fail(invalid("no parameter of 32 bits at byte %d", at))
	return Value{}
}

// Xor returns the exclusive or of two values of type uint.
func (l *Linker) Xor(a, b Value) Value {
	if l.err != nil || a.typ != l.uint() || b.typ != l.uint() {
		l.fail(invalid("an exclusive or of something else than uints"))
		return Value{}
	}
	made := Value{l.fresh(), a.typ}
	l.body = appendOp(l.body, opBitwiseXor, a.typ, made.id, a.id, b.id)
	return made
}

// Times returns a value of type uint times n.
func (l *Linker) Times(v Value, n uint32) Value {
	if l.err != nil || v.typ != l.uint() {
		l.fail(invalid("a product of something else than a uint"))
		return Value{}
	}
	made := Value{l.fresh(), v.typ}
	l.body = appendOp(l.body, opIMul, v.typ, made.id, v.id, l.Number(n).id)
	return made
}

// Begin begins the function for one of the forms of store. form is a part whose function has its type: it takes what is stored
// and the number of the element, or of the four elements, and returns what is stored instead.
func (l *Linker) Begin(form *Module) {
	if l.err != nil || l.epilogue == nil {
		l.fail(invalid("no epilogue"))
		return
	}
	p := l.source(form, nil)
	if l.err != nil {
		return
	}
	l.params, l.body = nil, nil
	l.function(p)
	in := p.s.at(p.part)
	t := l.declared[p.ids[in.w[4]]] // OpTypeFunction
	if len(t) != 5 || len(l.params) != 2 || t[2] != t[3] || t[4] != l.uint() {
		l.fail(invalid("the function of form %s is not from a value and a number to a value", form.label()))
		return
	}
	_, n := l.elements(t[2])
	l.epilogue.fns[min(n, 1)] = &Func{id: p.ids[p.part], result: t[2], params: t[3:]}
}

// Return ends the function that Begin began.
func (l *Linker) Return(parts ...Value) {
	if l.err != nil || len(l.head) == 0 || len(parts) == 0 {
		l.fail(invalid("no function that returns something"))
		return
	}
	v := parts[0]
	if len(parts) > 1 {
		f := &Func{params: []uint32{l.params[0].typ}}
		v = l.Compose(f, 0, parts...)
	}
	if v.typ != l.params[0].typ {
		l.fail(invalid("the function of an epilogue returns another type than it has"))
	}
	l.functions = append(append(l.functions, l.head...), l.body...)
	l.functions = appendOp(appendOp(l.functions, opReturnValue, v.id), opFunctionEnd)
	l.head, l.body = nil, nil
}

// store writes the call of the function before a store of the kernel, and lets it store the result.
func (e *epilogue) store(l *Linker, in *inst, words []uint32) {
	place, ok := e.places[in.w[1]]
	if !ok {
		return
	}
	t := e.types.typeOf(in.w[2])
	f := e.fns[0]
	if t.dims() == 4 {
		f = e.fns[1]
	}
	if f == nil {
		l.fail(invalid("no function for a store of %v", t))
		return
	}
	emit := func(op opcode, typ uint32, args ...uint32) uint32 {
		id := l.fresh()
		l.functions = appendOp(l.functions, op, append([]uint32{typ, id}, args...)...)
		return id
	}
	number := func(id uint32) uint32 {
		n := e.kernel.id(l, id)
		if t := e.types.typeOf(id); t == nil || t.signed {
			n = emit(opBitcast, l.uint(), n)
		}
		return n
	}
	at := number(place.at)
	if place.component != 0 {
		at = emit(opIMul, l.uint(), at, l.Number(4).id)
		at = emit(opIAdd, l.uint(), at, number(place.component))
	}
	v, typ := words[2], e.kernel.global(l, t.id)
	if typ != f.result {
		v = emit(opBitcast, f.result, v)
	}
	v = emit(opFunctionCall, f.result, f.id, v, at)
	if typ != f.result {
		v = emit(opBitcast, typ, v)
	}
	words[2] = v
}

// finish copies the kernel into the module. Its stores call the functions that were written.
func (l *Linker) finish() {
	if e := l.epilogue; l.err == nil {
		l.entry(e.kernel)
	}
}

// PartSize is about how many instructions a driver inlines for a call of a part's function. It is 0 for other modules.
func PartSize(part *Module) int {
	l := newLinker()
	p := l.source(part, nil)
	if l.err != nil {
		return 0
	}
	return len(p.s.insts) - p.from - (p.ends[p.main] - int(p.s.def[p.main]))
}
