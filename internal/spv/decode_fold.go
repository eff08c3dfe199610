package spv

import "slices"

// fold computes the default value of an operation on constants, component by
// component. What the operation means goes by its opcode alone, whatever the types
// say of signs. It is false where the result is not of integers or truth values,
// where an operand is not known, and for a division by zero, which has no value.
func (s *shader) fold(in *inst) ([]uint64, bool) {
	a := in.args()
	op, t := opcode(a[0]), s.types[in.typ]
	if !t.isInt() && !t.isBool() {
		return nil, false
	}
	a = a[1:]
	ids, literals := a, []uint32(nil)
	switch op {
	case opVectorShuffle, opCompositeInsert:
		if len(a) < 2 {
			return nil, false
		}
		ids, literals = a[:2], a[2:]
	case opCompositeExtract:
		if len(a) != 2 || !s.typeOf(a[0]).is(opTypeVector) {
			return nil, false
		}
		ids, literals = a[:1], a[1:]
	}
	var x [3][]uint64
	if len(ids) == 0 || len(ids) > len(x) {
		return nil, false
	}
	for k, id := range ids {
		var ok bool
		if x[k], ok = s.components(id); !ok {
			return nil, false
		}
	}
	out := make([]uint64, t.dims())
	for k := range out {
		v, ok := uint64(0), true
		switch op {
		case opVectorShuffle: // the literal 0xFFFFFFFF leaves a component without a value
			if both := slices.Concat(x[0], x[1]); k < len(literals) && int(literals[k]) < len(both) {
				v = both[literals[k]]
			}
		case opCompositeExtract:
			v, ok = pick(x[0], int(literals[0]))
		case opCompositeInsert:
			if v, ok = pick(x[1], k); ok && len(literals) == 1 && int(literals[0]) == k {
				v = x[0][0]
			}
		case opSelect:
			side := x[2]
			if c, known := pick(x[0], min(k, len(x[0])-1)); known && c != 0 {
				side = x[1]
			}
			v, ok = pick(side, k)
		default:
			var p, q uint64
			if p, ok = pick(x[0], k); ok && len(ids) == 2 {
				q, ok = pick(x[1], k)
			}
			if ok {
				v, ok = foldScalar(op, p, q, s.typeOf(ids[0]).bits())
			}
		}
		if !ok {
			return nil, false
		}
		out[k] = v & mask(t)
	}
	return out, true
}

// pick is list[k], where there is one.
func pick(list []uint64, k int) (uint64, bool) {
	if k < 0 || k >= len(list) {
		return 0, false
	}
	return list[k], true
}

// mask is the bits of a component of t.
func mask(t *typ) uint64 {
	if t.isBool() {
		return 1
	}
	return 1<<t.bits() - 1 // of 64 bits: all of them
}

// components are the values of a constant scalar or vector of integers or truth
// values, each without the bits past its width.
func (s *shader) components(id uint32) ([]uint64, bool) {
	t, d := s.typeOf(id), s.at(id)
	if !t.isInt() && !t.isBool() {
		return nil, false
	}
	if list, ok := s.vectors[id]; ok {
		return list, true
	}
	if v, ok := s.scalars[id]; ok {
		return []uint64{v & mask(t)}, true
	}
	switch d.op {
	case opConstantNull:
		return make([]uint64, t.dims()), true
	case opConstantComposite, opSpecConstantComposite:
		list := make([]uint64, len(d.args()))
		for k, part := range d.args() {
			v, ok := s.scalars[part]
			if !ok {
				return nil, false
			}
			list[k] = v & mask(t)
		}
		return list, true
	}
	return nil, false
}

// foldScalar computes one component; width is that of the operands, for shifts that
// of the first.
func foldScalar(op opcode, x, y uint64, width uint32) (v uint64, ok bool) {
	sx, sy := signed(x, width), signed(y, width)
	is := func(b bool) (uint64, bool) {
		if b {
			return 1, true
		}
		return 0, true
	}
	switch op {
	case opUConvert:
		return x, true
	case opSConvert:
		return uint64(sx), true
	case opSNegate:
		return -x, true
	case opNot:
		return ^x, true
	case opIAdd:
		return x + y, true
	case opISub:
		return x - y, true
	case opIMul:
		return x * y, true
	case opUDiv, opUMod, opSDiv, opSRem, opSMod:
		if y == 0 {
			return 0, false
		}
		return divide(op, x, y, sx, sy), true
	case opShiftRightLogical:
		return x >> min(y, 64), true
	case opShiftRightArithmetic:
		return uint64(sx >> min(y, 63)), true
	case opShiftLeft:
		return x << min(y, 64), true
	case opBitwiseOr:
		return x | y, true
	case opBitwiseXor:
		return x ^ y, true
	case opBitwiseAnd:
		return x & y, true
	case opLogicalOr:
		return x | y, true
	case opLogicalAnd:
		return x & y, true
	case opLogicalNot:
		return 1 - x&1, true
	case opIEqual, opLogicalEqual:
		return is(x == y)
	case opINotEqual, opLogicalNotEqual:
		return is(x != y)
	case opUGreaterThan:
		return is(x > y)
	case opSGreaterThan:
		return is(sx > sy)
	case opUGreaterThanEqual:
		return is(x >= y)
	case opSGreaterThanEqual:
		return is(sx >= sy)
	case opULessThan:
		return is(x < y)
	case opSLessThan:
		return is(sx < sy)
	case opULessThanEqual:
		return is(x <= y)
	case opSLessThanEqual:
		return is(sx <= sy)
	}
	return 0, false
}

// divide is a division or remainder by another number than zero. That of the least
// number by −1, which has no value in SPIR-V, wraps around.
func divide(op opcode, x, y uint64, sx, sy int64) uint64 {
	switch op {
	case opUDiv:
		return x / y
	case opUMod:
		return x % y
	case opSDiv:
		return uint64(sx / sy)
	}
	r := sx % sy
	if op == opSMod && r != 0 && (r < 0) != (sy < 0) {
		r += sy
	}
	return uint64(r)
}

// signed is a number of so many bits read as a signed one.
func signed(v uint64, width uint32) int64 {
	if width == 0 || width >= 64 {
		return int64(v)
	}
	return int64(v<<(64-width)) >> (64 - width)
}
