package spv

import "fmt"

// annotate collects names and decorations.
func (s *shader) annotate() error {
	s.names = map[uint32]string{}
	s.members = map[member]string{}
	s.decor = map[uint32][]decoration{}
	s.mdecor = map[member][]decoration{}
	for i := range s.insts {
		in := &s.insts[i]
		a := in.args()
		switch in.op {
		case opName:
			s.names[a[0]], _, _ = str(a[1:])
		case opMemberName:
			s.members[member{a[0], a[1]}], _, _ = str(a[2:])
		case opDecorate:
			s.decor[a[0]] = append(s.decor[a[0]], decoration{a[1], a[2:]})
		case opMemberDecorate:
			k := member{a[0], a[1]}
			s.mdecor[k] = append(s.mdecor[k], decoration{a[2], a[3:]})
		case opGroupDecorate:
			for _, id := range a[1:] {
				s.decor[id] = append(s.decor[id], s.decor[a[0]]...)
			}
		case opGroupMemberDecorate:
			for k := 1; k+1 < len(a); k += 2 {
				key := member{a[k], a[k+1]}
				if s.at(key.id) == nil {
					return invalid("%v decorates %%%d, which nothing defines", in, key.id)
				}
				s.mdecor[key] = append(s.mdecor[key], s.decor[a[0]]...)
			}
		}
	}
	return nil
}

// declare builds the types and the values of scalar constants.
func (s *shader) declare() error {
	s.types = make([]*typ, s.bound)
	s.scalars = map[uint32]uint64{}
	s.vectors = map[uint32][]uint64{}
	s.special = map[uint32]bool{}
	for i := range s.insts {
		in := &s.insts[i]
		var err error
		switch {
		case isType(in.op):
			err = s.declareType(in)
		case isConstant(in.op) && in.op != opUndef:
			err = s.declareConstant(in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// need returns the type id names, which must have been declared already.
func (s *shader) need(in *inst, id uint32) (*typ, error) {
	if id < s.bound && s.types[id] != nil {
		return s.types[id], nil
	}
	return nil, invalid("%v: %%%d is not a type declared before it", in, id)
}

// declareType adds the type in declares.
func (s *shader) declareType(in *inst) error {
	t := &typ{id: in.res, op: in.op}
	a := in.args()
	var err error
	elem := func(id uint32) {
		if err == nil {
			t.elem, err = s.need(in, id)
		}
		if err == nil {
			t.depth = t.elem.depth + 1
		}
	}
	switch in.op {
	case opTypeInt:
		t.width, t.signed = a[0], a[1] == 1
		if a[1] > 1 || !(t.width == 8 || t.width == 16 || t.width == 32 || t.width == 64) {
			return invalid("%v: integer of %d bits, signedness %d", in, a[0], a[1])
		}
	case opTypeFloat:
		t.width = a[0]
		if !(t.width == 16 || t.width == 32 || t.width == 64) {
			return invalid("%v: float of %d bits", in, a[0])
		}
	case opTypeVector:
		elem(a[0])
		t.n = a[1]
		if err == nil && (t.elem.dims() != 1 || t.n < 2 || t.n > 4) {
			return invalid("%v: vector of %d × %v (want 2 to 4 scalars)", in, t.n, t.elem)
		}
	case opTypeMatrix:
		elem(a[0])
		t.n = a[1]
		if err == nil && (!t.elem.is(opTypeVector) || !t.elem.isFloat() || t.n < 2 || t.n > 4) {
			return invalid("%v: matrix of %d × %v (want 2 to 4 vectors of floats)", in, t.n, t.elem)
		}
	case opTypeImage:
		elem(a[0])
		t.dim, t.arrayed, t.ms, t.sampled, t.format = a[1], a[3], a[4], a[5], a[6]
		if err == nil && !(t.elem.dims() == 1 && !t.elem.isBool()) {
			return invalid("%v: sampled type is %v (want a numeric scalar)", in, t.elem)
		}
		if a[1] > 6 || a[2] > 2 || a[3] > 1 || a[4] > 1 || a[5] > 2 || a[6] > 41 || len(a) > 7 {
			return invalid("%v: dimension, depth, arrayed, multisampled, sampled or format out of range", in)
		}
		if t.sampled == 0 {
			return invalid("%v: Sampled is 0 (want 1 or 2)", in)
		}
	case opTypeSampledImage:
		if elem(a[0]); err == nil && !t.elem.is(opTypeImage) {
			return invalid("%v: %%%d is not an image type", in, a[0])
		}
	case opTypeArray:
		elem(a[0])
		n, known := s.scalars[a[1]]
		c := s.at(a[1])
		if c == nil || !s.typeOf(a[1]).is(opTypeInt) || !known {
			return invalid("%v: array length is not an integer constant", in)
		}
		if n == 0 || n > 1<<31-1 {
			return invalid("%v: array length %d", in, int64(n))
		}
		t.n, t.specLen = uint32(n), s.special[a[1]]
		if err == nil && !t.elem.sized() {
			return invalid("%v: array of %v", in, t.elem)
		}
	case opTypeRuntimeArray:
		if elem(a[0]); err == nil && !t.elem.sized() {
			return invalid("%v: runtime array of %v", in, t.elem)
		}
	case opTypeStruct:
		for k, id := range a {
			mt, err := s.need(in, id)
			if err != nil {
				return err
			}
			if !mt.sized() && !(mt.is(opTypeRuntimeArray) && k == len(a)-1) {
				return invalid("%v: member %d is %v", in, k, mt)
			}
			t.depth = max(t.depth, mt.depth+1)
			t.members = append(t.members, mt)
		}
	case opTypePointer:
		t.class = a[0]
		elem(a[1])
		if !knownClass(t.class) {
			return invalid("%v: storage class %d is not one of a compute shader", in, t.class)
		}
	case opTypeFunction:
		elem(a[0])
		for _, id := range a[1:] {
			p, err := s.need(in, id)
			if err != nil {
				return err
			}
			if p.is(opTypeVoid) {
				return invalid("%v: parameter of type void", in)
			}
			t.members = append(t.members, p)
		}
	case opTypeCoopKHR, opTypeCoopNV:
		elem(a[0])
		if err == nil && (t.elem.dims() != 1 || t.elem.isBool()) {
			return invalid("%v: component type is %v (want a numeric scalar)", in, t.elem)
		}
	}
	if err != nil {
		return err
	}
	if t.depth > maxDepth {
		return invalid("%v: types nest deeper than %d", in, maxDepth)
	}
	t.measure()
	s.types[in.res] = t
	return s.unique(in)
}

// unique refuses a second declaration of a type: equal types are one id, and
// the type rules compare ids. Only arrays, structs and pointers may repeat.
func (s *shader) unique(in *inst) error {
	switch in.op {
	case opTypeArray, opTypeRuntimeArray, opTypeStruct, opTypePointer:
		return nil
	}
	if s.trusted {
		return nil
	}
	if s.declared == nil {
		s.declared = map[string]bool{}
	}
	key := fmt.Sprint(in.op, in.args())
	if s.declared[key] {
		return invalid("%v declares a type a second time", in)
	}
	s.declared[key] = true
	return nil
}

// sized reports whether values of the type may be members and elements.
func (t *typ) sized() bool {
	switch t.op {
	case opTypeVoid, opTypeFunction, opTypeRuntimeArray:
		return false
	case opTypeStruct:
		return len(t.members) == 0 || !t.members[len(t.members)-1].is(opTypeRuntimeArray)
	}
	return true
}

func knownClass(c uint32) bool {
	switch c {
	case classUniformConstant, classInput, classUniform, classWorkgroup, classPrivate, classFunction, classPushConstant, classImage, classStorageBuffer, classPhysical:
		return true
	}
	return false
}

// declareConstant checks a constant and records the value of a scalar.
func (s *shader) declareConstant(in *inst) error {
	t, err := s.need(in, in.typ)
	if err != nil {
		return err
	}
	a := in.args()
	switch in.op {
	case opConstantTrue, opConstantFalse, opSpecConstantTrue, opSpecConstantFalse:
		if !t.is(opTypeBool) {
			return invalid("%v: type is %v (want bool)", in, t)
		}
		s.special[in.res] = in.op == opSpecConstantTrue || in.op == opSpecConstantFalse
		s.scalars[in.res] = 0
		if in.op == opConstantTrue || in.op == opSpecConstantTrue {
			s.scalars[in.res] = 1
		}
	case opConstant, opSpecConstant:
		if t.dims() != 1 || t.isBool() {
			return invalid("%v: type is %v (want a numeric scalar)", in, t)
		}
		if want := int(t.width+31) / 32; len(a) != want {
			return invalid("%v: words of the literal (got %d, want %d for %v)", in, len(a), want, t)
		}
		v := uint64(a[0])
		if len(a) == 2 {
			v |= uint64(a[1]) << 32
		}
		if !t.holds(a[0]) {
			return invalid("%v: the bits of %#x past those of %v (want them zero, or the sign of a signed integer)", in, a[0], t)
		}
		s.scalars[in.res], s.special[in.res] = v, in.op == opSpecConstant
	case opConstantNull:
		if t.dims() == 1 {
			s.scalars[in.res] = 0
		}
	case opConstantComposite, opSpecConstantComposite:
		for k, id := range a {
			d := s.at(id)
			if d == nil || !isConstant(d.op) || d.at >= in.at {
				return invalid("%v: %%%d is not a constant declared before it", in, id)
			}
			if want := t.constituent(k); want == nil || want != s.types[d.typ] {
				return invalid("%v: constituent %d is %v (want %v)", in, k, s.types[d.typ], want)
			}
			s.special[in.res] = s.special[in.res] || s.special[id]
		}
		if want := t.constituents(); len(a) != want {
			return invalid("%v: constituents (got %d, want %d)", in, len(a), want)
		}
	case opSpecConstantOp:
		s.special[in.res] = true
		if list, ok := s.fold(in); ok && len(list) == 1 {
			s.scalars[in.res] = list[0]
		} else if ok {
			s.vectors[in.res] = list
		}
	}
	return nil
}

// holds reports whether the literal of a scalar narrower than a word is extended
// as SPIR-V wants it: with zeros, or the sign of a signed integer.
func (t *typ) holds(w uint32) bool {
	switch {
	case t.width >= 32:
		return true
	case t.signed:
		return uint32(int32(w<<(32-t.width))>>(32-t.width)) == w
	}
	return w>>t.width == 0
}

// constituents is how many parts a composite has; 0 for others.
func (t *typ) constituents() int {
	switch t.op {
	case opTypeVector, opTypeMatrix, opTypeArray:
		return int(t.n)
	case opTypeStruct:
		return len(t.members)
	case opTypeCoopKHR, opTypeCoopNV:
		return 1
	}
	return 0
}

// constituent is the type of part k of a composite, or nil.
func (t *typ) constituent(k int) *typ {
	switch t.op {
	case opTypeStruct:
		if k >= 0 && k < len(t.members) {
			return t.members[k]
		}
	case opTypeVector, opTypeMatrix, opTypeArray, opTypeRuntimeArray, opTypeCoopKHR, opTypeCoopNV:
		return t.elem
	}
	return nil
}
