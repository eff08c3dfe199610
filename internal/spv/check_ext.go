package spv

// extRule is what an extended instruction works on.
type extRule struct {
	args  int
	shape byte
}

// Shapes of extended instructions.
const (
	shapeFloat = 'F' // result and operands one float type
	shapeSmall = 'f' // likewise, but not 64-bit
	shapeInt   = 'I' // result and operands integers of one shape
	// Any other shape ('o') is checked instruction by instruction.
)

// glsl450 is GLSL.std.450 by instruction number.
var glsl450 = map[uint32]extRule{
	1: {1, 'F'}, 2: {1, 'F'}, 3: {1, 'F'}, 4: {1, 'F'}, 5: {1, 'I'}, 6: {1, 'F'}, 7: {1, 'I'}, 8: {1, 'F'}, 9: {1, 'F'}, 10: {1, 'F'},
	11: {1, 'f'}, 12: {1, 'f'}, 13: {1, 'f'}, 14: {1, 'f'}, 15: {1, 'f'}, 16: {1, 'f'}, 17: {1, 'f'}, 18: {1, 'f'}, 19: {1, 'f'},
	20: {1, 'f'}, 21: {1, 'f'}, 22: {1, 'f'}, 23: {1, 'f'}, 24: {1, 'f'}, 25: {2, 'f'}, 26: {2, 'f'}, 27: {1, 'f'}, 28: {1, 'f'},
	29: {1, 'f'}, 30: {1, 'f'}, 31: {1, 'F'}, 32: {1, 'F'}, 33: {1, 'o'}, 34: {1, 'o'}, 35: {2, 'o'}, 36: {1, 'o'},
	37: {2, 'F'}, 38: {2, 'I'}, 39: {2, 'I'}, 40: {2, 'F'}, 41: {2, 'I'}, 42: {2, 'I'}, 43: {3, 'F'}, 44: {3, 'I'}, 45: {3, 'I'},
	46: {3, 'F'}, 48: {2, 'F'}, 49: {3, 'F'}, 50: {3, 'F'}, 51: {2, 'o'}, 52: {1, 'o'}, 53: {2, 'o'},
	54: {1, 'o'}, 55: {1, 'o'}, 56: {1, 'o'}, 57: {1, 'o'}, 58: {1, 'o'}, 59: {1, 'o'}, 60: {1, 'o'}, 61: {1, 'o'}, 62: {1, 'o'},
	63: {1, 'o'}, 64: {1, 'o'}, 65: {1, 'o'}, 66: {1, 'o'}, 67: {2, 'o'}, 68: {2, 'o'}, 69: {1, 'F'}, 70: {3, 'F'}, 71: {2, 'F'},
	72: {3, 'o'}, 73: {1, 'I'}, 74: {1, 'I'}, 75: {1, 'I'}, 79: {2, 'F'}, 80: {2, 'F'}, 81: {3, 'F'},
}

// extended checks an instruction of GLSL.std.450.
func (c *call) extended() {
	if c.nonSemantic(c.a[0]) {
		c.want(c.t.is(opTypeVoid), "result is %v (want void)", c.t)
		return
	}
	n := c.a[1]
	r, ok := glsl450[n]
	if !c.want(ok, "instruction %d of GLSL.std.450 is not one of a compute shader", n) {
		return
	}
	ops := c.a[2:]
	if !c.want(len(ops) == r.args, "operands of instruction %d (got %d, want %d)", n, len(ops), r.args) {
		return
	}
	t := c.t
	arg := func(k int) *typ { return c.typeOf(ops[k]) }
	for k := range ops {
		if !c.want(arg(k) != nil, "%%%d is not a value", ops[k]) {
			return
		}
	}
	switch r.shape {
	case shapeFloat, shapeSmall:
		good := t.isFloat() && (r.shape == shapeFloat || t.bits() <= 32)
		for k := range ops {
			good = good && arg(k) == t
		}
		c.want(good, "instruction %d: operands are not of the float type %v", n, t)
		return
	case shapeInt:
		good := t.isInt()
		for k := range ops {
			good = good && like(arg(k), t)
		}
		if n >= 73 && n <= 75 {
			good = good && t.bits() == 32
		}
		c.want(good, "instruction %d: operands are not integers like %v", n, t)
		return
	}
	is := func(t *typ, n uint32, op opcode, width uint32) bool {
		return t.dims() == n && t.scalar().op == op && t.scalar().width == width
	}
	x := arg(0)
	good := false
	switch n {
	case 33: // Determinant
		good = x.is(opTypeMatrix) && x.n == x.elem.n && t == x.scalar()
	case 34: // MatrixInverse
		good = t.is(opTypeMatrix) && t.n == t.elem.n && x == t
	case 35: // Modf
		p := arg(1)
		good = t.isFloat() && x == t && p.is(opTypePointer) && p.elem == t && p.class != classInput && p.class != classUniformConstant
	case 36: // ModfStruct
		good = t.is(opTypeStruct) && len(t.members) == 2 && t.members[0] == t.members[1] && t.members[0].isFloat() && x == t.members[0]
	case 51: // Frexp
		p := arg(1)
		good = t.isFloat() && x == t && p.is(opTypePointer) && p.elem.isInt() && p.elem.bits() == 32 && p.elem.dims() == t.dims()
	case 52: // FrexpStruct
		good = t.is(opTypeStruct) && len(t.members) == 2 && t.members[0].isFloat() && t.members[1].isInt() && t.members[1].bits() == 32 &&
			t.members[0].dims() == t.members[1].dims() && x == t.members[0]
	case 53: // Ldexp
		good = t.isFloat() && x == t && arg(1).isInt() && arg(1).dims() == t.dims()
	case 54, 55: // PackSnorm4x8 PackUnorm4x8
		good = is(t, 1, opTypeInt, 32) && is(x, 4, opTypeFloat, 32)
	case 56, 57, 58: // PackSnorm2x16 PackUnorm2x16 PackHalf2x16
		good = is(t, 1, opTypeInt, 32) && is(x, 2, opTypeFloat, 32)
	case 59: // PackDouble2x32
		good = is(t, 1, opTypeFloat, 64) && is(x, 2, opTypeInt, 32)
	case 60, 61, 62: // UnpackSnorm2x16 UnpackUnorm2x16 UnpackHalf2x16
		good = is(t, 2, opTypeFloat, 32) && is(x, 1, opTypeInt, 32)
	case 63, 64: // UnpackSnorm4x8 UnpackUnorm4x8
		good = is(t, 4, opTypeFloat, 32) && is(x, 1, opTypeInt, 32)
	case 65: // UnpackDouble2x32
		good = is(t, 2, opTypeInt, 32) && is(x, 1, opTypeFloat, 64)
	case 66: // Length
		good = t.is(opTypeFloat) && x.isFloat() && x.scalar() == t
	case 67: // Distance
		good = t.is(opTypeFloat) && x.isFloat() && x.scalar() == t && arg(1) == x
	case 68: // Cross
		good = t.isFloat() && t.dims() == 3 && x == t && arg(1) == t
	case 72: // Refract
		good = t.isFloat() && x == t && arg(1) == t && arg(2).is(opTypeFloat)
	}
	c.want(good, "instruction %d: operands do not fit the result %v", n, t)
}
