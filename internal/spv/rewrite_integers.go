package spv

import "slices"

// integers rewrites the operations of a module on integers whose meaning depends on a
// sign. In SPIR-V the opcode says whether a division, a comparison or a shift is one of
// signed numbers, and operands and result may be of either type. What reads SPIR-V for
// WebGPU goes by the operand's type instead, and takes the result to be of that type;
// some drivers of Vulkan do so where the operands are constants. So the operands are
// made of the type that the opcode means, the operation gives a result of that type
// too, and the result is made of the type that the module wants: bits do not change by
// that. Operations on operands that have the right type already stay as they are.
//
// Remainders are made of a division, a product and a difference: Vulkan leaves OpSRem
// and OpSMod without a result where an operand is negative, and drivers differ then.
type integers struct {
	s   *shader
	add *additions
	// wide says to make products of double width, and sums and differences with a
	// carry, which WebGPU lacks, of operations that it has.
	wide bool
}

// signRule says what an operation takes the operands and the result for, a letter each:
// s signed, u unsigned, = of the result's type, 1 of the first operand's, . as it is.
type signRule struct {
	operands string
	result   byte
}

var signRules = map[opcode]signRule{
	opConvertFToS: {".", 's'}, opConvertSToF: {"s", '.'}, opConvertUToF: {"u", '.'}, opUConvert: {"u", 'u'}, opSConvert: {"s", 's'},
	opSNegate: {"s", 's'}, opNot: {"=", '.'}, opIAdd: {"==", '.'}, opISub: {"==", '.'}, opIMul: {"==", '.'},
	opBitwiseOr: {"==", '.'}, opBitwiseXor: {"==", '.'}, opBitwiseAnd: {"==", '.'},
	opUDiv: {"uu", 'u'}, opUMod: {"uu", 'u'}, opSDiv: {"ss", 's'},
	opShiftRightLogical: {"uu", 'u'}, opShiftRightArithmetic: {"su", 's'}, opShiftLeft: {"=u", '.'},
	opIEqual: {".1", '.'}, opINotEqual: {".1", '.'},
	opUGreaterThan: {"uu", '.'}, opUGreaterThanEqual: {"uu", '.'}, opULessThan: {"uu", '.'}, opULessThanEqual: {"uu", '.'},
	opSGreaterThan: {"ss", '.'}, opSGreaterThanEqual: {"ss", '.'}, opSLessThan: {"ss", '.'}, opSLessThanEqual: {"ss", '.'},
	opBitFieldInsert: {"..uu", '.'}, opBitFieldSExtract: {"suu", 's'}, opBitFieldUExtract: {"uuu", 'u'},
	opBitReverse: {"=", '.'}, opBitCount: {"=", '.'},
}

// signRulesExt are those of GLSL.std.450, by instruction number.
var signRulesExt = map[uint32]signRule{
	5: {"s", 's'}, 7: {"s", 's'}, // SAbs SSign
	38: {"uu", 'u'}, 39: {"ss", 's'}, 41: {"uu", 'u'}, 42: {"ss", 's'}, // UMin SMin UMax SMax
	44: {"uuu", 'u'}, 45: {"sss", 's'}, // UClamp SClamp
	53: {".s", '.'},                                                                // Ldexp
	54: {".", 'u'}, 55: {".", 'u'}, 56: {".", 'u'}, 57: {".", 'u'}, 58: {".", 'u'}, // Pack…
	60: {"u", '.'}, 61: {"u", '.'}, 62: {"u", '.'}, 63: {"u", '.'}, 64: {"u", '.'}, // Unpack…
	73: {"=", '.'}, 74: {"s", 's'}, 75: {"u", 'u'}, // FindILsb FindSMsb FindUMsb
}

// rewrite appends what an instruction becomes, and reports whether it has.
func (n *integers) rewrite(code []byte, in *inst) ([]byte, bool) {
	t := n.s.types[in.typ]
	switch in.op {
	case opSRem, opSMod:
		if t.isCoop() {
			return code, false
		}
		return n.remainder(code, in), true
	case opIAddCarry, opISubBorrow:
		if n.wide {
			return n.carry(code, in), true
		}
	case opUMulExtended, opSMulExtended:
		if n.wide {
			return n.product(code, in), true
		}
	}
	rule, first := signRules[in.op], table[in.op].first
	if in.op == opExtInst && !n.s.nonSemantic(in.w[3]) {
		rule, first = signRulesExt[in.w[4]], 5
	}
	if rule.operands == "" {
		return code, false
	}
	w := slices.Clone(in.w)
	for k := range rule.operands {
		at := first + k
		of := n.s.typeOf(w[at])
		if !of.isInt() { // a float, or a cooperative matrix
			continue
		}
		switch rule.operands[k] {
		case 's', 'u':
			code, w[at] = n.as(code, w[at], of, rule.operands[k] == 's')
		case '=':
			code, w[at] = n.as(code, w[at], of, t.scalar().signed)
		case '1':
			code, w[at] = n.as(code, w[at], of, n.s.typeOf(w[first]).scalar().signed)
		}
	}
	if rule.result == '.' || !t.isInt() || t.scalar().signed == (rule.result == 's') {
		return appendWords(code, w), true
	}
	w[1], w[2] = n.typ(t, rule.result == 's'), n.add.id()
	code = appendWords(code, w)
	return appendInst(code, opBitcast, in.typ, in.res, w[2]), true
}

// typ is the type of integers of t's shape.
func (n *integers) typ(t *typ, signed bool) uint32 {
	return n.add.vector(n.add.integer(t.bits(), signed), t.dims())
}

// as is a value of integers as signed or unsigned ones.
func (n *integers) as(code []byte, id uint32, t *typ, signed bool) ([]byte, uint32) {
	if t.scalar().signed == signed {
		return code, id
	}
	return n.op(code, opBitcast, n.typ(t, signed), id)
}

// op appends an operation and gives its result.
func (n *integers) op(code []byte, op opcode, typ uint32, operands ...uint32) ([]byte, uint32) {
	id := n.add.id()
	return appendInst(code, op, append([]uint32{typ, id}, operands...)...), id
}

// appendResult appends the result of an instruction, which is the value id of such integers.
func (n *integers) appendResult(code []byte, in *inst, id uint32, signed bool) []byte {
	op := opBitcast
	if n.s.types[in.typ].scalar().signed == signed {
		op = opCopyObject
	}
	return appendInst(code, op, in.typ, in.res, id)
}

// remainder makes OpSRem(a, b) of a − a/b·b, where the division rounds to zero. OpSMod
// has the sign of b: where the remainder is of the other sign, b is added.
func (n *integers) remainder(code []byte, in *inst) []byte {
	t, w := n.s.types[in.typ], in.w
	num := n.typ(t, true)
	code, a := n.as(code, w[3], n.s.typeOf(w[3]), true)
	code, b := n.as(code, w[4], n.s.typeOf(w[4]), true)
	code, r := n.op(code, opSDiv, num, a, b)
	code, r = n.op(code, opIMul, num, r, b)
	code, r = n.op(code, opISub, num, a, r)
	if in.op == opSMod {
		truth := n.add.vector(n.add.boolean(), t.dims())
		zero := n.null(num)
		var some, other, sum uint32
		code, some = n.op(code, opINotEqual, truth, r, zero)
		code, other = n.op(code, opBitwiseXor, num, r, b)
		code, other = n.op(code, opSLessThan, truth, other, zero)
		code, some = n.op(code, opLogicalAnd, truth, some, other)
		code, sum = n.op(code, opIAdd, num, r, b)
		code, r = n.op(code, opSelect, num, some, sum, r)
	}
	return n.appendResult(code, in, r, true)
}

// null is zero of a type.
func (n *integers) null(typ uint32) uint32 { return n.add.add(opConstantNull, [2]uint32{typ}, 1, typ) }

// carry makes a sum or difference and what it carries: one where the sum is less than
// an operand, or the first operand less than the second.
func (n *integers) carry(code []byte, in *inst) []byte {
	part := n.s.types[in.typ].members[0]
	num, truth := n.typ(part, false), n.add.vector(n.add.boolean(), part.dims())
	code, a := n.as(code, in.w[3], part, false)
	code, b := n.as(code, in.w[4], part, false)
	var r, c uint32
	if in.op == opIAddCarry {
		code, r = n.op(code, opIAdd, num, a, b)
		code, c = n.op(code, opULessThan, truth, r, a)
	} else {
		code, r = n.op(code, opISub, num, a, b)
		code, c = n.op(code, opULessThan, truth, a, b)
	}
	one := n.add.constant(n.add.integer(part.bits(), false), part.dims(), 1)
	code, c = n.op(code, opSelect, num, c, one, n.null(num))
	return n.pair(code, in, r, c)
}

// pair appends the struct of two unsigned values that an instruction gives.
func (n *integers) pair(code []byte, in *inst, low, high uint32) []byte {
	part := n.s.types[in.typ].members[0]
	if part.scalar().signed {
		code, low = n.op(code, opBitcast, part.id, low)
		code, high = n.op(code, opBitcast, part.id, high)
	}
	return appendInst(code, opCompositeConstruct, in.typ, in.res, low, high)
}

// product makes the product of double width of the products of half words. Of signed
// numbers, the upper half is that of the same bits without a sign, less the one operand
// where the other is negative.
func (n *integers) product(code []byte, in *inst) []byte {
	part := n.s.types[in.typ].members[0]
	num := n.typ(part, false)
	word := func(v uint32) uint32 {
		return n.add.constant(n.add.integer(part.bits(), false), part.dims(), v)
	}
	half, low := word(part.bits()/2), word(1<<(part.bits()/2)-1)
	emit := func(op opcode, x, y uint32) (id uint32) {
		code, id = n.op(code, op, num, x, y)
		return id
	}
	code, a := n.as(code, in.w[3], part, false)
	code, b := n.as(code, in.w[4], part, false)
	a0, a1 := emit(opBitwiseAnd, a, low), emit(opShiftRightLogical, a, half)
	b0, b1 := emit(opBitwiseAnd, b, low), emit(opShiftRightLogical, b, half)
	// None of these sums exceeds a word.
	m := emit(opShiftRightLogical, emit(opIMul, a0, b0), half)
	m = emit(opIAdd, emit(opIMul, a1, b0), m)
	k := emit(opIAdd, emit(opIMul, a0, b1), emit(opBitwiseAnd, m, low))
	high := emit(opIAdd, emit(opIMul, a1, b1), emit(opShiftRightLogical, m, half))
	high = emit(opIAdd, high, emit(opShiftRightLogical, k, half))
	if in.op == opSMulExtended {
		// Shifted right as a signed number, the sign is all bits or none.
		sign, all := n.typ(part, true), word(part.bits()-1)
		for _, x := range [][2]uint32{{a, b}, {b, a}} {
			var s uint32
			code, s = n.op(code, opBitcast, sign, x[0])
			code, s = n.op(code, opShiftRightArithmetic, sign, s, all)
			code, s = n.op(code, opBitcast, num, s)
			high = emit(opISub, high, emit(opBitwiseAnd, s, x[1]))
		}
	}
	return n.pair(code, in, emit(opIMul, a, b), high)
}

// folded appends the value of an operation on constants as a constant, and reports
// whether it is known.
func (s *shader) folded(code []byte, in *inst, add *additions) ([]byte, bool) {
	t := s.types[in.typ]
	list, ok := s.components(in.res)
	if !ok || t.isInt() && t.bits() > 32 {
		return code, false
	}
	one := func(id uint32, v uint64) {
		switch {
		case t.isInt() && t.scalar().signed:
			code = appendInst(code, opConstant, t.scalar().id, id, uint32(signed(v, t.bits())))
		case t.isInt():
			code = appendInst(code, opConstant, t.scalar().id, id, uint32(v))
		case v != 0:
			code = appendInst(code, opConstantTrue, t.scalar().id, id)
		default:
			code = appendInst(code, opConstantFalse, t.scalar().id, id)
		}
	}
	if len(list) == 1 {
		one(in.res, list[0])
		return code, true
	}
	words := []uint32{in.typ, in.res}
	for _, v := range list {
		words = append(words, add.id())
		one(words[len(words)-1], v)
	}
	return appendInst(code, opConstantComposite, words...), true
}
