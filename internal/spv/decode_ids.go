package spv

// shader is a module under examination.
type shader struct {
	insts    []inst
	bound    uint32
	version  uint32
	trusted  bool                // it is known to be valid: see Reflect
	def      []int32             // by id: index in insts of its definition, −1 if none
	types    []*typ              // by id, nil if it is no type
	declared map[string]bool     // types that may be declared only once
	scalars  map[uint32]uint64   // value of scalar constants (default of a specialisation constant)
	vectors  map[uint32][]uint64 // values of vectors computed from constants, likewise
	special  map[uint32]bool     // constants that depend on a specialisation constant
	names    map[uint32]string
	members  map[member]string // names of struct members
	decor    map[uint32][]decoration
	mdecor   map[member][]decoration
	have     map[uint32]bool // capabilities, those that others bring included
	fns      []*function
	fnOf     []*function // by index in insts; nil outside functions
	blockOf  []*block    // by index in insts; nil outside blocks
}

// member is one member of a struct type.
type member struct{ id, index uint32 }

// decoration is one decoration with its literals.
type decoration struct {
	kind uint32
	args []uint32
}

// at returns the instruction that defines id, or nil.
func (s *shader) at(id uint32) *inst {
	if id >= s.bound || s.def[id] < 0 {
		return nil
	}
	return &s.insts[s.def[id]]
}

// typeOf returns the type of the value id, or nil if it has none.
func (s *shader) typeOf(id uint32) *typ {
	if d := s.at(id); d != nil && d.typ != 0 && d.typ < s.bound {
		return s.types[d.typ]
	}
	return nil
}

// typed takes apart a module that has been checked before, as far as those need who
// write it anew: where each id is defined, decorations, types and constants.
func typed(code []byte) (*shader, error) {
	s, err := decode(code)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{s.define, s.annotate, s.declare} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// define records where each id is defined, once each.
func (s *shader) define() error {
	s.def = make([]int32, s.bound)
	for i := range s.def {
		s.def[i] = -1
	}
	for i := range s.insts {
		in := &s.insts[i]
		if info := in.op.info(); info == nil || !info.res {
			continue
		}
		if in.res == 0 || in.res >= s.bound {
			return invalid("result id of %v out of range (got %%%d, want 1 to %d)", in, in.res, s.bound-1)
		}
		if s.def[in.res] >= 0 {
			return invalid("%v defines an id a second time (first by %v)", in, &s.insts[s.def[in.res]])
		}
		s.def[in.res] = int32(i)
	}
	return nil
}

func isType(op opcode) bool {
	return op >= opTypeVoid && op <= opTypeFunction || op == opTypeCoopKHR || op == opTypeCoopNV || op == opTypeAccel || op == opTypeRayQuery
}

func isConstant(op opcode) bool {
	return op >= opConstantTrue && op <= opSpecConstantOp || op == opUndef
}

// operands checks that every instruction holds exactly the operands its
// grammar allows and that each id operand names a thing of the right class.
func (s *shader) operands() error {
	for i := range s.insts {
		in := &s.insts[i]
		if in.op == opSpecConstantOp {
			if err := s.specOp(in); err != nil {
				return err
			}
			continue
		}
		if in.op == opSource && in.args()[0] > maxLanguage {
			return invalid("%v: source language %d", in, in.args()[0])
		}
		info := table[in.op]
		if info.typ {
			if err := s.operand(in, i, 't', in.typ); err != nil {
				return err
			}
		}
		if err := s.walk(in, i, info.operands, in.args()); err != nil {
			return err
		}
	}
	return nil
}

// maxLanguage is the largest number of a source language known.
const maxLanguage = 13

// walk matches words against a grammar.
func (s *shader) walk(in *inst, i int, pattern string, w []uint32) error {
	for k := 0; k < len(pattern); k++ {
		p := pattern[k]
		mod := byte(0)
		if k+1 < len(pattern) && (pattern[k+1] == '?' || pattern[k+1] == '*') {
			mod = pattern[k+1]
			k++
		}
		for first := true; ; first = false {
			if len(w) == 0 && (mod != 0 || p == 'm' || p == 'I' || p == 'p' || p == 'w') {
				break
			}
			if !first && mod != '*' {
				break
			}
			if len(w) == 0 {
				return invalid("%v is too short", in)
			}
			n, err := s.checkOperand(in, i, p, w)
			if err != nil {
				return err
			}
			w = w[n:]
		}
	}
	if len(w) != 0 {
		return invalid("%v has %d words too many", in, len(w))
	}
	return nil
}

// checkOperand checks one operand of the kind p at the start of w and returns its words.
func (s *shader) checkOperand(in *inst, i int, p byte, w []uint32) (int, error) {
	switch p {
	case 'l':
		return 1, nil
	case 's':
		_, n, ok := str(w)
		if !ok {
			return 0, invalid("%v: string is not terminated", in)
		}
		return n, nil
	case 'm':
		return s.memoryOperands(in, i, w)
	case 'I':
		return s.imageOperands(in, i, w)
	case 'p':
		if len(w)%2 != 0 {
			return 0, invalid("%v: operands do not come in pairs", in)
		}
		for k := 0; k < len(w); k += 2 {
			if err := s.operand(in, i, 'v', w[k]); err != nil {
				return 0, err
			}
			if err := s.operand(in, i, 'b', w[k+1]); err != nil {
				return 0, err
			}
		}
		return len(w), nil
	case 'w':
		return s.switchCases(in, i, w)
	}
	return 1, s.operand(in, i, p, w[0])
}

// memoryOperands checks the optional memory-access mask of loads and stores.
func (s *shader) memoryOperands(in *inst, i int, w []uint32) (int, error) {
	const aligned, available, visible = 2, 8, 16
	mask, n := w[0], 1
	if mask&^0x3f != 0 {
		return 0, invalid("%v: unknown memory operands %#x", in, mask)
	}
	if mask&aligned != 0 {
		if n++; len(w) < n || w[n-1] == 0 || w[n-1]&(w[n-1]-1) != 0 {
			return 0, invalid("%v: alignment is missing or not a power of two", in)
		}
	}
	for _, bit := range []uint32{available, visible} {
		if mask&bit == 0 {
			continue
		}
		if n++; len(w) < n {
			return 0, invalid("%v: memory scope is missing", in)
		}
		if err := s.operand(in, i, 'v', w[n-1]); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// imageOperands checks the optional image-operand mask and its ids.
func (s *shader) imageOperands(in *inst, i int, w []uint32) (int, error) {
	mask := w[0]
	if mask&^0x7fff != 0 {
		return 0, invalid("%v: unknown image operands %#x", in, mask)
	}
	n := 1
	// Ids each bit carries, from the lowest: Bias, Lod, Grad, ConstOffset,
	// Offset, ConstOffsets, Sample, MinLod, MakeTexelAvailable,
	// MakeTexelVisible, NonPrivateTexel, VolatileTexel, SignExtend, ZeroExtend,
	// Nontemporal.
	for bit, ids := range [...]int{1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0} {
		for range ids * int(mask>>bit&1) {
			if n++; len(w) < n {
				return 0, invalid("%v: an image operand is missing", in)
			}
			if err := s.operand(in, i, 'v', w[n-1]); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// switchCases checks the literal and label pairs of a switch, whose literals
// are as wide as its selector.
func (s *shader) switchCases(in *inst, i int, w []uint32) (int, error) {
	t := s.typeOf(in.args()[0])
	if !t.is(opTypeInt) {
		return 0, invalid("%v: selector is not an integer", in)
	}
	lit := int((t.width + 31) / 32)
	if len(w)%(lit+1) != 0 {
		return 0, invalid("%v: cases do not come in pairs of literal and label", in)
	}
	for k := lit; k < len(w); k += lit + 1 {
		if !t.holds(w[k-lit]) {
			return 0, invalid("%v: the bits of the case %#x past those of %v (want them zero, or the sign of a signed integer)", in, w[k-lit], t)
		}
		if err := s.operand(in, i, 'b', w[k]); err != nil {
			return 0, err
		}
	}
	return len(w), nil
}

// operand checks that id names a thing of the class p says. Everything but
// labels, functions, phi operands and values in later blocks must come before
// instruction i; for values inside functions see the rule of dominance.
func (s *shader) operand(in *inst, i int, p byte, id uint32) error {
	d := s.at(id)
	if d == nil {
		return invalid("%v uses %%%d, which nothing defines", in, id)
	}
	ok, want := true, ""
	switch p {
	case 't':
		ok, want = isType(d.op), "a type"
	case 'c':
		ok, want = isConstant(d.op), "a constant"
	case 'v':
		ok, want = d.typ != 0 && d.op != opFunction, "a value"
	case 'b':
		ok, want = d.op == opLabel, "a label"
	case 'f':
		ok, want = d.op == opFunction, "a function"
	case 'i':
		ok, want = d.op == opString || d.op == opExtInstImport || d.op == opDecorationGroup, "a string or set of instructions"
	}
	if !ok {
		return invalid("%v: %%%d is not %s (it is %v)", in, id, want, d.op)
	}
	if late := int(s.def[id]) >= i; late && (p == 't' || p == 'c' || p == 'i') && in.op != opTypeStruct && in.op != opTypePointer {
		return invalid("%v uses %%%d before its definition", in, id)
	}
	return nil
}

// specOp checks an operation on constants: its operands are those of the
// operation named, whose ids must be constants.
func (s *shader) specOp(in *inst) error {
	op := opcode(in.args()[0])
	info := op.info()
	if info == nil || !info.typ || !info.res || in.args()[0] > 0xffff || !specOps[op] {
		return invalid("%v: opcode %d is not an operation on constants", in, in.args()[0])
	}
	i := int(s.def[in.res])
	if err := s.operand(in, i, 't', in.typ); err != nil {
		return err
	}
	return s.walk(in, i, constants(info.operands), in.args()[1:])
}

// constants turns a grammar into the one of the same operation on constants.
func constants(pattern string) string {
	b := []byte(pattern)
	for i := range b {
		if b[i] == 'v' {
			b[i] = 'c'
		}
	}
	return string(b)
}

// specOps are the operations OpSpecConstantOp may name in a shader.
var specOps = map[opcode]bool{
	113: true, 114: true, 115: true, 116: true, 126: true, 200: true, 128: true, 130: true, 132: true, 134: true, 135: true,
	137: true, 138: true, 139: true, 194: true, 195: true, 196: true, 197: true, 198: true, 199: true, 79: true, 81: true,
	82: true, 166: true, 167: true, 168: true, 164: true, 165: true, 169: true, 170: true, 171: true, 172: true, 173: true,
	174: true, 175: true, 176: true, 177: true, 178: true, 179: true,
}
