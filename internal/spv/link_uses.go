package spv

// Uses says how a kernel loads or stores the elements of a binding, as far as functions on them must know it.
type Uses struct {
	// Quads is the number of instructions that load or store four elements, and Lanes of those for one.
	Quads, Lanes int
	// Sizes is the number of instructions that ask for the size of what is bound.
	Sizes int
	// Reads says that a kernel that stores can also read what is there before, as one does that adds to it if a parameter says so.
	Reads bool
}

// Form is how elements lie in the words of 32 bits that a kernel loads or stores.
type Form int

// These are the forms.
const (
	Words Form = iota // an element is a word
	Pairs             // a word holds two elements, so that Uses counts stores of eight and of two elements
)

// place is what a pointer points to: element at of the array of a block, and a component of that if it is not 0.
type place struct{ at, component uint32 }

// merge is a stored word of which the bits of a mask are new. made has these, and zeros.
type merge struct{ made, mask uint32 }

// elements are the places of a kernel that loads or stores elements of a binding.
type elements struct {
	s     *shader
	label string
	slot  uint32
	loads bool // it is about loads, and stores otherwise
	pairs bool // a word holds two elements
	// merged has each stored word in which some bits stay as they are in memory, by the id of the word, kept the loads of these, and dropped
	// all that is of no use if nothing is merged.
	merged  map[uint32]merge
	kept    map[uint32]bool
	dropped map[uint32]bool
	v       uint32
	places  map[uint32]place // by the id of the pointer
	images  map[uint32]bool  // ids of the texel buffer
	fetches map[uint32]place // by the id of what a texel buffer gives
}

// StoresOf looks how a kernel stores elements in a binding.
// Errors: ErrUnsupported if it does something else with the binding than to load and store, or stores other types, in which case
// it has no epilogue.
func StoresOf(kernel *Module, slot uint32, form Form) (Uses, error) {
	return usesOf(kernel, slot, false, form)
}

// LoadsOf looks how a kernel loads 32-bit elements of a binding, which may be a texel buffer.
// Errors: ErrUnsupported if it does something else with the binding than to load, or loads other types, in which case it has no
// prologue.
func LoadsOf(kernel *Module, slot uint32) (Uses, error) { return usesOf(kernel, slot, true, Words) }

func usesOf(kernel *Module, slot uint32, loads bool, form Form) (Uses, error) {
	e, err := elementsOf(kernel, slot, loads, form)
	if err != nil {
		return Uses{}, err
	}
	var u Uses
	for i := range e.s.insts {
		in := &e.s.insts[i]
		switch _, t, ok := e.use(in); {
		case !ok:
		case t.dims() == 4:
			u.Quads++
		default:
			u.Lanes += int(t.dims())
		}
		u.Reads = u.Reads || e.reads(in)
		if in.op == opImageQuerySize && e.images[in.w[3]] {
			u.Sizes++
		}
	}
	if u.Quads+u.Lanes == 0 {
		return u, e.refuse("neither loads nor stores elements")
	}
	return u, nil
}

// reads reports whether an instruction loads what the kernel computes with.
func (e *elements) reads(in *inst) bool {
	_, ok := e.places[loaded(in)]
	return ok && !e.kept[in.res]
}

// loaded is the pointer that an instruction loads from, or 0.
func loaded(in *inst) uint32 {
	if in.op != opLoad {
		return 0
	}
	return in.w[3]
}

// use returns the place and the type of what an instruction loads or stores, if it is one of those that are asked about.
func (e *elements) use(in *inst) (place, *typ, bool) {
	switch {
	case in.op == opStore && !e.loads:
		p, ok := e.places[in.w[1]]
		return p, e.s.typeOf(in.w[2]), ok
	case in.op == opLoad && e.loads:
		p, ok := e.places[in.w[3]]
		return p, e.s.typeOf(in.res), ok
	case in.op == opImageFetch && e.loads:
		p, ok := e.fetches[in.res]
		return p, e.s.typeOf(in.res), ok
	}
	return place{}, nil, false
}

// refuse says what a kernel does with the binding.
func (e *elements) refuse(what string) error {
	return unsupported("kernel %s %s in binding %d", e.label, what, e.slot)
}

// elementsOf finds what a kernel loads or stores in a binding, and refuses other uses of it.
func elementsOf(kernel *Module, slot uint32, loads bool, form Form) (*elements, error) {
	if kernel == nil || len(kernel.Code) == 0 {
		return nil, invalid("no kernel")
	}
	s, err := typed(kernel.Code)
	if err != nil {
		return nil, err
	}
	e := &elements{s: s, label: kernel.label(), slot: slot, loads: loads, pairs: form == Pairs, places: map[uint32]place{}, images: map[uint32]bool{}, fetches: map[uint32]place{}}
	for id, list := range s.decor {
		if b, ok := number(list, decBinding); ok && b == slot {
			if set, ok := number(list, decDescriptorSet); e.v != 0 || ok && set != 0 {
				return nil, e.refuse("has several variables or sets")
			}
			e.v = id
		}
	}
	v := s.at(e.v)
	if v == nil || v.op != opVariable || v.w[3] != classStorageBuffer && !(loads && v.w[3] == classUniformConstant) {
		return nil, e.refuse("has no storage buffer")
	}
	inside := false
	for i := range s.insts {
		in := &s.insts[i]
		if inside = inside || in.op == opFunction; !inside {
			continue
		}
		uses := false
		s.ids(in, func(id *uint32) {
			_, ok := e.places[*id]
			uses = uses || ok || *id == e.v || e.images[*id]
		})
		if !uses {
			continue
		}
		if v.w[3] == classUniformConstant {
			err = e.texels(in)
		} else {
			err = e.buffer(in)
		}
		if err != nil {
			return nil, err
		}
	}
	if e.pairs {
		e.findMerged()
	}
	return e, nil
}

// texels notes what an instruction does with a texel buffer.
func (e *elements) texels(in *inst) error {
	switch in.op {
	case opLoad, opImage:
		e.images[in.res] = true
	case opImageFetch:
		t := e.s.typeOf(in.res)
		if len(in.w) != 5 || t.dims() != 4 || t.bits() != 32 {
			return e.refuse("fetches something else than four elements of 32 bits")
		}
		e.fetches[in.res] = place{at: in.w[4]}
	case opImageQuerySize:
	default:
		return e.refuse("does something else than to fetch")
	}
	return nil
}

// buffer notes what an instruction does with a storage buffer.
func (e *elements) buffer(in *inst) error {
	s := e.s
	switch in.op {
	case opAccessChain, opInBoundsAccess:
		base, indices := in.w[3], in.w[4:]
		p, ok := e.places[base]
		switch {
		case !ok && (len(indices) == 2 || len(indices) == 3): // the member of the block, the element, and its component
			if p.at = indices[1]; len(indices) == 3 {
				p.component = indices[2]
			}
		case ok && p.component == 0 && len(indices) == 1:
			p.component = indices[0]
		default:
			return e.refuse("takes the address of something else than an element")
		}
		e.places[in.res] = p
		return nil
	case opLoad:
		if _, ok := e.places[in.w[3]]; !ok {
			return e.refuse("loads all that is")
		}
		if !e.loads {
			return nil
		}
	case opStore:
		if e.loads {
			return e.refuse("stores")
		}
	default:
		return e.refuse("does something else than to load and store")
	}
	p, t, ok := e.use(in)
	if !ok || t == nil || !t.isInt() && !t.isFloat() || t.bits() != 32 || t.dims() != 1 && (!e.takes(t.dims()) || p.component != 0) {
		return e.refuse("has something else than 32-bit elements, one or four,")
	}
	if e.pairs && !t.isInt() {
		return e.refuse("has something else than words of two elements")
	}
	if array := s.elementOf(e.v); array == nil || p.component != 0 && !e.takes(array.dims()) || p.component == 0 && array.dims() != t.dims() {
		return e.refuse("has no array of what it loads or stores")
	}
	return nil
}

// takes reports whether a vector of n words can be loaded or stored. Of pairs, one of two words is taken apart.
func (e *elements) takes(n uint32) bool { return n == 4 || n == 2 && e.pairs }

// elementOf is the type of the elements of a block's array, which is its only member, or nil.
func (s *shader) elementOf(variable uint32) *typ {
	v := s.typeOf(variable)
	if v == nil || !v.elem.is(opTypeStruct) || len(v.elem.members) != 1 || !v.elem.members[0].is(opTypeRuntimeArray) {
		return nil
	}
	return v.elem.members[0].elem
}
