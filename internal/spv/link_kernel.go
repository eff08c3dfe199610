package spv

import "slices"

// rewriting is a kernel whose loads or stores in one binding go through functions.
type rewriting struct {
	kernel *source
	*elements
	fns    [2]*Func // for one element, and for four
	block  uint32   // the variable of the push constants
	member uint32   // of the words
	count  uint32   // of the words
	puts   bool     // the functions store, and the kernel does not
}

// NewEpilogue begins a module that is a kernel with an epilogue: what the kernel stores in a binding goes through a function
// first. The function is written for each form of store that StoresOf finds: Begin, calls, Return. words are added to
// the push constants, behind those of the kernel. In the form Pairs the functions take and give words, and their numbers. Errors are those of Module.
func NewEpilogue(kernel *Module, slot uint32, form Form, words int) *Linker {
	return newRewriting(kernel, slot, words, false, form)
}

// NewStoring is NewEpilogue for functions that store by themselves: Begin, calls, End. The kernel does not use the binding any more, so that they
// may store elements of another size. In the form Pairs, that for one word has a third parameter, a mask of the bits to store.
func NewStoring(kernel *Module, slot uint32, form Form, words int) *Linker {
	l := newRewriting(kernel, slot, words, false, form)
	if l.rewriting != nil {
		r := l.rewriting
		r.puts = true
		r.kernel.drops = func(id uint32) bool { // The variable of the binding would have two types.
			_, pointer := r.places[id]
			return pointer || r.dropped[id]
		}
	}
	return l
}

// NewPrologue begins a module that is a kernel with a prologue: what the kernel loads of a binding goes through a function, before it
// computes with it. It is as NewEpilogue otherwise, with LoadsOf.
func NewPrologue(kernel *Module, slot uint32, words int) *Linker {
	return newRewriting(kernel, slot, words, true, Words)
}

func newRewriting(kernel *Module, slot uint32, words int, loads bool, form Form) *Linker {
	l := newLinker()
	e, err := elementsOf(kernel, slot, loads, form)
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
	r := &rewriting{kernel: p, elements: e, count: uint32(max(words, 0))}
	l.rewriting, p.rewrite = r, r.rewrite
	if r.count > 0 {
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
	e, p := l.rewriting, l.rewriting.kernel
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
	e := l.rewriting
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
	if l.err != nil || l.rewriting == nil {
		l.fail(invalid("no kernel with parameters"))
		return Value{}
	}
	p, s := l.rewriting.kernel, l.rewriting.s
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

// Begin begins the function for one of the forms of loads or stores. form is a part whose function has its type: it takes what is loaded or
// stored and the number of the element, or of the four elements, and returns what takes its place.
func (l *Linker) Begin(form *Module) {
	if l.err != nil || l.rewriting == nil {
		l.fail(invalid("no kernel that is rewritten"))
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
	if !l.isForm(t) {
		l.fail(invalid("the function of form %s is not from a value and a number to a value, or does not store if it must", form.label()))
		return
	}
	_, n := l.elements(t[3])
	l.rewriting.fns[min(n, 1)] = &Func{id: p.ids[p.part], result: t[2], params: t[3:]}
}

// isForm reports whether a function can be called for what is loaded or stored.
func (l *Linker) isForm(t []uint32) bool {
	r := l.rewriting
	if len(t) < 5 || len(l.params) != len(t)-3 || t[4] != l.uint() {
		return false
	}
	_, n := l.elements(t[3])
	if !r.puts {
		return len(t) == 5 && t[2] == t[3]
	}
	result := l.declared[t[2]]
	return len(result) > 0 && opcode(result[0]&0xffff) == opTypeVoid && (len(t) == 6 && t[5] == l.uint()) == (r.pairs && n == 0)
}

// End ends the function that Begin began, if it stores by itself.
func (l *Linker) End() {
	if l.err != nil || len(l.head) == 0 || l.rewriting == nil || !l.rewriting.puts {
		l.fail(invalid("no function that stores"))
		return
	}
	l.functions = append(append(l.functions, l.head...), l.body...)
	l.functions = appendOp(appendOp(l.functions, opReturn), opFunctionEnd)
	l.head, l.body = nil, nil
}

// Return ends the function that Begin began.
func (l *Linker) Return(parts ...Value) {
	if l.err != nil || len(l.head) == 0 || len(parts) == 0 {
		l.fail(invalid("no function that returns something"))
		return
	}
	v := parts[0]
	if l.rewriting != nil && l.rewriting.puts {
		l.fail(invalid("a function that stores returns something"))
		return
	}
	if len(parts) > 1 {
		f := &Func{params: []uint32{l.params[0].typ}}
		v = l.Compose(f, 0, parts...)
	}
	if v.typ != l.params[0].typ {
		l.fail(invalid("a function returns another type than it has"))
	}
	l.functions = append(append(l.functions, l.head...), l.body...)
	l.functions = appendOp(appendOp(l.functions, opReturnValue, v.id), opFunctionEnd)
	l.head, l.body = nil, nil
}

// rewrite puts the call of the function before a store of the kernel, which then stores the result, or behind a load. It reports whether it
// has written the instruction.
func (r *rewriting) rewrite(l *Linker, in *inst, words []uint32) bool {
	place, t, ok := r.use(in)
	if !ok && r.puts && r.reads(in) { // No launch comes here: see ReadsStored.
		null := l.declare([]uint32{3<<16 | uint32(opConstantNull), words[1], 0}, 2, nil, false)
		l.functions = appendOp(l.functions, opCopyObject, words[1], words[2], null)
		return true
	}
	if !ok {
		return false
	}
	f := r.fns[0]
	if t.dims() == 4 {
		f = r.fns[1]
	}
	if f == nil {
		l.fail(invalid("no function for a load or a store of %v", t))
		return false
	}
	emit := func(op opcode, typ, id uint32, args ...uint32) uint32 {
		l.functions = appendOp(l.functions, op, append([]uint32{typ, id}, args...)...)
		return id
	}
	number := func(id uint32) uint32 {
		n := r.kernel.id(l, id)
		if t := r.s.typeOf(id); t == nil || t.signed {
			n = emit(opBitcast, l.uint(), l.fresh(), n)
		}
		return n
	}
	// WebGPU's compiler ends the process if an argument comes from another block than the call, so each is computed before it.
	at := emit(opIAdd, l.uint(), l.fresh(), number(place.at), l.Number(0).id)
	if place.component != 0 {
		at = emit(opIMul, l.uint(), l.fresh(), at, l.Number(r.s.elementOf(r.v).dims()).id)
		at = emit(opIAdd, l.uint(), l.fresh(), at, number(place.component))
	}
	typ := r.kernel.global(l, t.id)
	if r.loads {
		v, made := l.fresh(), words[2]
		words[2] = v
		l.functions = append(l.functions, words...)
		r.call(l, f, typ, v, at, made, 0)
		return true
	}
	stored := words[2]
	merge, merges := r.merged[in.w[2]]
	if r.puts && merges {
		stored = r.kernel.id(l, merge.made)
	}
	if t.dims() == 2 {
		elem, _ := l.elements(typ)
		at = emit(opIMul, l.uint(), l.fresh(), at, l.Number(2).id)
		low := r.call(l, f, elem, emit(opCompositeExtract, elem, l.fresh(), stored, 0), at, l.fresh(), 0)
		at = emit(opIAdd, l.uint(), l.fresh(), at, l.Number(1).id)
		high := r.call(l, f, elem, emit(opCompositeExtract, elem, l.fresh(), stored, 1), at, l.fresh(), 0)
		if r.puts {
			return true
		}
		words[2] = emit(opCompositeConstruct, typ, l.fresh(), low, high)
		return false
	}
	words[2] = r.call(l, f, typ, stored, at, l.fresh(), merge.mask)
	if r.puts {
		return true
	}
	if merges {
		m := r.kernel.id(l, merge.mask)
		there := emit(opBitwiseAnd, typ, l.fresh(), stored, emit(opNot, typ, l.fresh(), m))
		words[2] = emit(opBitwiseOr, typ, l.fresh(), there, emit(opBitwiseAnd, typ, l.fresh(), words[2], m))
	}
	return false
}

// call calls a function with a value of a type and the number of the element. made is the id of what it returns, of the same type. mask is the kernel's id of the bits that
// a function for a word is to store, or 0 for all.
func (r *rewriting) call(l *Linker, f *Func, typ, v, at, made, mask uint32) uint32 {
	emit := func(op opcode, typ, id uint32, args ...uint32) uint32 {
		l.functions = appendOp(l.functions, op, append([]uint32{typ, id}, args...)...)
		return id
	}
	// As at, v is computed before the call.
	taken := f.params[0]
	switch {
	case typ != taken:
		v = emit(opBitcast, taken, l.fresh(), v)
	case r.loads:
	case r.pairs:
		v = emit(opBitwiseOr, typ, l.fresh(), v, v)
	default:
		v = emit(opBitcast, l.bitsOf(taken), l.fresh(), v)
		v = emit(opBitcast, taken, l.fresh(), v)
	}
	if r.puts {
		args := []uint32{f.id, v, at}
		if len(f.params) == 3 {
			m := l.Number(^uint32(0)).id
			if mask != 0 {
				m = emit(opBitwiseOr, l.uint(), l.fresh(), r.kernel.id(l, mask), l.Number(0).id)
			}
			args = append(args, m)
		}
		return emit(opFunctionCall, f.result, made, args...)
	}
	if typ == f.result {
		return emit(opFunctionCall, typ, made, f.id, v, at)
	}
	v = emit(opFunctionCall, f.result, l.fresh(), f.id, v, at)
	return emit(opBitcast, typ, made, v)
}

// bitsOf is the type of unsigned integers with as many components as t has.
func (l *Linker) bitsOf(t uint32) uint32 {
	_, n := l.elements(t)
	if n == 0 {
		return l.uint()
	}
	return l.declare([]uint32{4<<16 | uint32(opTypeVector), 0, l.uint(), uint32(n)}, 1, nil, false)
}

// finish copies the kernel into the module. Its loads or stores call the functions that were written.
func (l *Linker) finish() {
	if e := l.rewriting; l.err == nil {
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
