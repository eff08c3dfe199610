package spv

// What a decoration may adorn.
const (
	onType = 1 << iota
	onMember
	onVariable // global or local variable, or a function parameter
	onValue    // result of an instruction in a function
	onConst
	onFunction
	anywhere = onType | onMember | onVariable | onValue | onConst | onFunction
)

// decorations are those of a compute shader: how many literals each takes and
// what it may adorn.
var decorations = map[uint32]struct {
	name     string
	literals int
	on       int
}{
	0: {"RelaxedPrecision", 0, anywhere &^ onType}, decSpecID: {"SpecId", 1, onConst}, decBlock: {"Block", 0, onType},
	decBufferBlock: {"BufferBlock", 0, onType}, decRowMajor: {"RowMajor", 0, onMember}, decColMajor: {"ColMajor", 0, onMember},
	decArrayStride: {"ArrayStride", 1, onType}, decMatrixStride: {"MatrixStride", 1, onMember}, 8: {"GLSLShared", 0, onType},
	9: {"GLSLPacked", 0, onType}, decBuiltIn: {"BuiltIn", 1, onVariable | onConst}, 18: {"Invariant", 0, anywhere},
	19: {"Restrict", 0, onVariable | onMember}, 20: {"Aliased", 0, onVariable | onMember}, 21: {"Volatile", 0, onVariable | onMember},
	23: {"Coherent", 0, onVariable | onMember}, decNonWritable: {"NonWritable", 0, onVariable | onMember},
	decNonReadable: {"NonReadable", 0, onVariable | onMember}, 26: {"Uniform", 0, onVariable | onValue | onConst},
	decBinding: {"Binding", 1, onVariable}, decDescriptorSet: {"DescriptorSet", 1, onVariable}, decOffset: {"Offset", 1, onMember},
	39: {"FPRoundingMode", 1, onValue}, 42: {"NoContraction", 0, onValue | onConst}, 4469: {"NoSignedWrap", 0, onValue},
	4470: {"NoUnsignedWrap", 0, onValue}, 5300: {"NonUniform", 0, onVariable | onValue}, 5355: {"RestrictPointer", 0, onVariable},
	5356: {"AliasedPointer", 0, onVariable},
}

// decorated checks every decoration: that it is one of a compute shader, is
// given once, has its literals and adorns what it may.
func (s *shader) decorated() error {
	for id, list := range s.decor {
		d := s.at(id)
		on := onValue
		switch {
		case d.op == opDecorationGroup:
			continue
		case isType(d.op):
			on = onType
		case isConstant(d.op):
			on = onConst
		case d.op == opVariable || d.op == opFunctionParameter:
			on = onVariable
		case d.op == opFunction:
			on = onFunction
		case d.op == opLabel || d.op == opString || d.op == opExtInstImport:
			return invalid("%v is decorated", d)
		}
		if err := s.decoration(list, on, d); err != nil {
			return err
		}
	}
	for key, list := range s.mdecor {
		t := s.types[key.id]
		if !t.is(opTypeStruct) || int64(key.index) >= int64(len(t.members)) {
			return invalid("member %d of %%%d is decorated, which is not a struct with that member", key.index, key.id)
		}
		if err := s.decoration(list, onMember, s.at(key.id)); err != nil {
			return err
		}
		base := t.members[key.index]
		for base.is(opTypeArray) || base.is(opTypeRuntimeArray) {
			base = base.elem
		}
		if matrix := has(list, decMatrixStride) || has(list, decRowMajor) || has(list, decColMajor); matrix && !base.is(opTypeMatrix) {
			return invalid("member %d of %%%d has the layout of a matrix and is %v", key.index, key.id, base)
		}
	}
	return s.namedMembers()
}

// decoration checks the decorations of one target.
func (s *shader) decoration(list []decoration, on int, d *inst) error {
	seen := map[uint32]bool{}
	for _, x := range list {
		rule, ok := decorations[x.kind]
		if !ok {
			return invalid("decoration %d of %v is not one of a compute shader", x.kind, d)
		}
		if len(x.args) != rule.literals {
			return invalid("decoration %s of %v (got %d literals, want %d)", rule.name, d, len(x.args), rule.literals)
		}
		if rule.on&on == 0 {
			return invalid("decoration %s does not belong on %v", rule.name, d)
		}
		layout := rule.literals > 0 || x.kind == decRowMajor || x.kind == decColMajor
		if seen[x.kind] && layout { // compilers do repeat the others
			return invalid("%v is decorated %s twice", d, rule.name)
		}
		seen[x.kind] = true
		if err := s.fits(x, on, d); err != nil {
			return err
		}
	}
	return nil
}

// fits checks the rules of single decorations.
func (s *shader) fits(x decoration, on int, d *inst) error {
	t := s.types[d.res]
	ok, want := true, ""
	switch x.kind {
	case decBlock, decBufferBlock, 8, 9:
		ok, want = t.is(opTypeStruct), "a struct"
	case decArrayStride:
		ok, want = t.is(opTypeArray) || t.is(opTypeRuntimeArray) || t.is(opTypePointer), "an array"
		if ok && x.args[0] == 0 {
			return invalid("%v has the ArrayStride 0", d)
		}
	case decSpecID:
		ok, want = d.op == opSpecConstant || d.op == opSpecConstantTrue || d.op == opSpecConstantFalse, "a scalar specialisation constant"
	case decBuiltIn:
		if on == onConst {
			ok, want = x.args[0] == builtInWorkgroupSize && (d.op == opConstantComposite || d.op == opSpecConstantComposite), "a constant WorkgroupSize"
			break
		}
		ok, want = d.op == opVariable && s.types[d.typ].class == classInput && x.args[0] != builtInWorkgroupSize, "an input variable"
	case decBinding, decDescriptorSet:
		c := uint32(classInput)
		if d.op == opVariable {
			c = s.types[d.typ].class
		}
		ok, want = c == classUniformConstant || c == classUniform || c == classStorageBuffer, "a resource variable"
	case decNonWritable, decNonReadable:
		if on != onVariable {
			break
		}
		if pt := s.types[d.typ]; pt.is(opTypePointer) {
			e := pt.elem
			for e.is(opTypeArray) || e.is(opTypeRuntimeArray) {
				e = e.elem
			}
			storage := e.is(opTypeImage) && e.sampled == sampledStorage
			buffer := pt.class == classStorageBuffer || pt.class == classUniform && (has(s.decor[e.id], decBufferBlock) || x.kind == decNonWritable)
			local := x.kind == decNonWritable && s.version >= 0x10400 && (pt.class == classFunction || pt.class == classPrivate)
			ok, want = storage || buffer || local || d.op == opFunctionParameter, "a storage buffer or image"
		}
	case decMatrixStride:
		ok, want = x.args[0] > 0, "a positive stride"
	case 39: // FPRoundingMode
		ok, want = x.args[0] <= 3, "a rounding mode"
	}
	if !ok {
		return invalid("decoration %s of %v (want %s)", decorations[x.kind].name, d, want)
	}
	return nil
}

// namedMembers checks that member names belong to members.
func (s *shader) namedMembers() error {
	for key := range s.members {
		if t := s.types[key.id]; !t.is(opTypeStruct) || int64(key.index) >= int64(len(t.members)) {
			return invalid("member %d of %%%d is named, which is not a struct with that member", key.index, key.id)
		}
	}
	return nil
}
