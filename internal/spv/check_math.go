package spv

// like reports whether t is an integer type of u's shape: components and width.
func like(t, u *typ) bool {
	return t.isInt() && u.isInt() && t.dims() == u.dims() && t.bits() == u.bits()
}

// arithmetic checks operations on numbers.
func (c *call) arithmetic(op opcode) bool {
	t := c.t
	x, y := c.arg(0), c.arg(1)
	switch op {
	case 204: // BitReverse
		c.want(t.isInt() && like(x, t), "operand is %v, result %v (want integers of one shape)", x, t)
		c.bits32(x)
	case 126, 200: // SNegate, Not
		c.want(t.isInt() && like(x, t), "operand is %v, result %v (want integers of one shape)", x, t)
	case 127: // FNegate
		c.want((t.isFloat() || t.isCoop()) && x == t, "operand is %v, result %v (want one float type)", x, t)
	case 128, 130, 132, 135, 138, 139, 197, 198, 199: // IAdd ISub IMul SDiv SRem SMod, Or Xor And
		if t.isCoop() {
			c.want(x == t && y == t, "operands are %v and %v, result %v", x, y, t)
			break
		}
		c.want(t.isInt() && like(x, t) && like(y, t), "operands are %v and %v, result %v (want integers of one shape)", x, y, t)
	case 134, 137: // UDiv UMod
		if t.isCoop() {
			c.want(x == t && y == t, "operands are %v and %v, result %v", x, y, t)
			break
		}
		c.want(t.isInt() && !t.scalar().signed && x == t && y == t, "operands are %v and %v, result %v (want one unsigned type)", x, y, t)
	case 129, 131, 133, 136, 140, 141: // FAdd FSub FMul FDiv FRem FMod
		c.want((t.isFloat() || t.isCoop()) && x == t && y == t, "operands are %v and %v, result %v (want one float type)", x, y, t)
	case 142: // VectorTimesScalar
		c.want(t.is(opTypeVector) && t.isFloat() && x == t && y == t.elem, "operands are %v and %v, result %v", x, y, t)
	case 143: // MatrixTimesScalar
		c.want((t.is(opTypeMatrix) && y == t.scalar() || t.isCoop() && y == t.elem) && x == t, "operands are %v and %v, result %v", x, y, t)
	case 144: // VectorTimesMatrix
		c.want(y.is(opTypeMatrix) && t.is(opTypeVector) && x == y.elem && t.elem == x.elem && t.n == y.n, "operands are %v and %v, result %v", x, y, t)
	case 145: // MatrixTimesVector
		c.want(x.is(opTypeMatrix) && y.is(opTypeVector) && t == x.elem && y.elem == t.elem && y.n == x.n, "operands are %v and %v, result %v", x, y, t)
	case 146: // MatrixTimesMatrix
		c.want(t.is(opTypeMatrix) && x.is(opTypeMatrix) && y.is(opTypeMatrix) && t.elem == x.elem && t.n == y.n && y.elem.n == x.n && y.elem.elem == x.elem.elem, "operands are %v and %v, result %v", x, y, t)
	case 147: // OuterProduct
		c.want(t.is(opTypeMatrix) && x == t.elem && y.is(opTypeVector) && y.n == t.n && y.elem == t.scalar(), "operands are %v and %v, result %v", x, y, t)
	case 84: // Transpose
		c.want(t.is(opTypeMatrix) && x.is(opTypeMatrix) && t.n == x.elem.n && t.elem.n == x.n && t.scalar() == x.scalar(), "operand is %v, result %v", x, t)
	case 148: // Dot
		c.want(t.is(opTypeFloat) && x.is(opTypeVector) && x == y && x.elem == t, "operands are %v and %v, result %v", x, y, t)
	case 149, 150, 151, 152: // IAddCarry ISubBorrow UMulExtended SMulExtended
		ok := t.is(opTypeStruct) && len(t.members) == 2 && t.members[0] == t.members[1] && t.members[0].isInt()
		c.want(ok && x == t.members[0] && y == x && (op == 152 || !x.scalar().signed), "operands are %v and %v, result is not a struct of two of them", x, y)
	case 194, 195, 196: // shifts
		c.want(t.isInt() && like(x, t) && y.isInt() && y.dims() == t.dims(), "shifts %v by %v to %v", x, y, t)
	case 201: // BitFieldInsert
		c.want(t.isInt() && x == t && y == t && c.integer(2) && c.integer(3), "operands do not fit %v", t)
		c.bits32(t)
	case 202, 203: // BitFieldSExtract BitFieldUExtract
		c.want(t.isInt() && x == t && c.integer(1) && c.integer(2), "operands do not fit %v", t)
		c.bits32(t)
	case 205: // BitCount
		c.want(t.isInt() && x.isInt() && x.dims() == t.dims(), "operand is %v, result %v", x, t)
		c.bits32(x)
	case 4450, 4451, 4452, 4453, 4454, 4455: // SDot … SUDotAccSat
		c.want(t.is(opTypeInt) && x.isInt() && y.isInt() && x.dims() == y.dims() && x.bits() == y.bits(), "operands are %v and %v, result %v", x, y, t)
		if x.is(opTypeInt) {
			k := 2
			if op >= 4453 {
				k = 3
			}
			c.want(x.width == 32 && len(c.a) > k && c.a[k] == 0, "packed operands are %v, or the format is missing", x)
		}
		if op >= 4453 {
			c.want(c.arg(2) == t, "accumulator is %v (want %v)", c.arg(2), t)
		}
	default:
		return false
	}
	return true
}

// bits32 wants the integers an operation on bits works on to be of 32 bits, as
// Vulkan does; lavapipe's compiler ends the process on some others.
func (c *call) bits32(t *typ) {
	c.want(!t.isInt() || t.bits() == 32, "works on the bits of %v (want 32 bits)", t)
}

// integer reports whether operand k is a scalar integer.
func (c *call) integer(k int) bool { return c.arg(k).is(opTypeInt) }

// logic checks comparisons and operations on truth values.
func (c *call) logic(op opcode) bool {
	t := c.t
	x, y := c.arg(0), c.arg(1)
	switch {
	case op == 154 || op == 155: // Any All
		c.want(t.is(opTypeBool) && x.is(opTypeVector) && x.isBool(), "operand is %v, result %v", x, t)
	case op == 156 || op == 157: // IsNan IsInf
		c.want(t.isBool() && x.isFloat() && x.dims() == t.dims(), "operand is %v, result %v", x, t)
	case op >= 164 && op <= 167: // LogicalEqual LogicalNotEqual LogicalOr LogicalAnd
		c.want(t.isBool() && x == t && y == t, "operands are %v and %v, result %v (want bools)", x, y, t)
	case op == 168: // LogicalNot
		c.want(t.isBool() && x == t, "operand is %v, result %v (want bools)", x, t)
	case op == 169: // Select
		wide := t.dims() > 0 && x.dims() == t.dims()
		one := x.dims() == 1 && (t.dims() == 1 || c.version >= 0x10400 || t.is(opTypePointer))
		if t.is(opTypePointer) {
			one = one && (c.have[capVarPointers] || c.have[capVarPointersSB] && t.class == classStorageBuffer)
		}
		c.want(x.isBool() && (wide || one) && y == t && c.arg(2) == t, "selects by %v between %v and %v to %v", x, y, c.arg(2), t)
		c.want(!t.opaque, "selects between %v", t)
	case op >= 170 && op <= 179: // integer comparisons
		c.want(t.isBool() && x.isInt() && like(x, y) && x.dims() == t.dims(), "compares %v and %v to %v", x, y, t)
	case op >= 180 && op <= 191: // float comparisons
		c.want(t.isBool() && x.isFloat() && x == y && x.dims() == t.dims(), "compares %v and %v to %v", x, y, t)
	default:
		return false
	}
	return true
}

// convert checks conversions between numbers.
func (c *call) convert(op opcode) bool {
	t, x := c.t, c.arg(0)
	same := t.dims() > 0 && x.dims() == t.dims()
	ok := true
	switch op {
	case 109: // ConvertFToU
		ok = x.isFloat() && t.isInt() && !t.scalar().signed && same
	case 110: // ConvertFToS
		ok = x.isFloat() && t.isInt() && same
	case 111, 112: // ConvertSToF ConvertUToF
		ok = x.isInt() && t.isFloat() && same
	case 113: // UConvert
		ok = x.isInt() && t.isInt() && !t.scalar().signed && same && x.bits() != t.bits()
	case 114: // SConvert
		ok = x.isInt() && t.isInt() && same && x.bits() != t.bits()
	case 115: // FConvert
		ok = x.isFloat() && t.isFloat() && same && x.bits() != t.bits()
	case 116: // QuantizeToF16
		ok = t.isFloat() && x == t && t.bits() == 32
	case 124: // Bitcast
		ok = t.dims() > 0 && x.dims() > 0 && !t.isBool() && !x.isBool() && t.dims()*t.bits() == x.dims()*x.bits()
	case 117, 120: // ConvertPtrToU ConvertUToPtr
		ok = false // needs physical addressing
	default:
		return false
	}
	if t.isCoop() && x.isCoop() {
		return true
	}
	c.want(ok, "converts %v to %v", x, t)
	return true
}
