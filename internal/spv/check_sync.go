package spv

// scope checks operand k, a constant that names who takes part: in Vulkan the
// device, queue family, workgroup, subgroup or invocation.
func (c *call) scope(k int, execution bool) {
	v, ok := c.scalars[c.a[k]]
	t := c.arg(k)
	c.want(ok && t.is(opTypeInt) && t.width == 32 && c.at(c.a[k]).op == opConstant, "scope %%%d is not a 32-bit integer constant", c.a[k])
	if execution {
		c.want(v == 2 || v == 3, "execution scope %d (want 2, Workgroup, or 3, Subgroup)", v)
	} else {
		c.want(v >= 1 && v <= 5, "memory scope %d (want 1 to 5)", v)
	}
}

// semantics checks operand k, a constant of memory-semantics bits, and returns it.
func (c *call) semantics(k int) uint64 {
	v, ok := c.scalars[c.a[k]]
	t := c.arg(k)
	if !c.want(ok && t.is(opTypeInt) && t.width == 32 && c.at(c.a[k]).op == opConstant, "memory semantics %%%d are not a 32-bit integer constant", c.a[k]) {
		return 0
	}
	const known = 0xffde // all bits the specification defines
	order := v & 0x1e
	c.want(v&^known == 0 && order&(order-1) == 0 && order != 0x10, "memory semantics %#x", v)
	const memory = 0x40 | 0x100 | 0x800 | 0x1000 // uniform, workgroup, image, output
	c.want(order == 0 || v&memory != 0, "memory semantics %#x order no storage class", v)
	c.want(order != 0 || v&^0x1e == 0 || v&(0x2000|0x4000|0x8000) == 0, "memory semantics %#x", v)
	return v
}

// atomic checks barriers and atomic operations.
func (c *call) atomic(op opcode) bool {
	switch {
	case op == 224: // ControlBarrier
		c.scope(0, true)
		c.scope(1, false)
		c.semantics(2)
		return true
	case op == 225: // MemoryBarrier
		c.scope(0, false)
		c.want(c.semantics(1)&0x1e != 0, "memory semantics order nothing")
		return true
	case !(op >= 227 && op <= 242 || op == 5614 || op == 5615 || op == 6035):
		return false
	}
	p := c.arg(0)
	if !c.want(p.is(opTypePointer), "works on %v (want a pointer)", p) {
		return true
	}
	switch p.class {
	case classUniform, classWorkgroup, classImage, classStorageBuffer:
	default:
		c.want(false, "works on memory of storage class %d", p.class)
	}
	e := p.elem
	c.scope(1, false)
	sem := c.semantics(2)
	float := op == 227 || op == 228 || op == 229 || op >= 5614
	c.want(e.is(opTypeInt) && op < 5614 || e.is(opTypeFloat) && float, "works on a pointer to %v", e)
	c.want(e.dims() == 1 && e.bits() >= 32, "works on a pointer to %v", e)
	if op != 228 {
		c.want(c.t == e, "result is %v (want %v)", c.t, e)
	}
	switch op {
	case 227: // AtomicLoad
		c.want(sem&(0x4|0x8) == 0, "an atomic load releases")
	case 228: // AtomicStore
		c.want(c.arg(3) == e, "stores %v (want %v)", c.arg(3), e)
		c.want(sem&(0x2|0x8) == 0, "an atomic store acquires")
	case 232, 233: // AtomicIIncrement AtomicIDecrement
	case 230: // AtomicCompareExchange
		unequal := c.semantics(3)
		c.want(unequal&(0x4|0x8) == 0, "the semantics of an unequal comparison release")
		c.want(c.arg(4) == e && c.arg(5) == e, "values are %v and %v (want %v)", c.arg(4), c.arg(5), e)
	default:
		c.want(c.arg(3) == e, "value is %v (want %v)", c.arg(3), e)
	}
	return true
}

// group checks operations between the invocations of a subgroup.
func (c *call) group(op opcode) bool {
	t := c.t
	if op >= 4421 && op <= 4432 { // KHR subgroup ballot and vote
		switch op {
		case 4421: // SubgroupBallotKHR
			c.want(t.is(opTypeVector) && t.n == 4 && t.isInt() && t.bits() == 32 && c.arg(0).is(opTypeBool), "ballot of %v to %v", c.arg(0), t)
		case 4428, 4429, 4430:
			c.want(t.is(opTypeBool) && c.arg(0).is(opTypeBool), "votes on %v to %v", c.arg(0), t)
		default:
			c.want(t.dims() > 0 && c.arg(0) == t, "reads %v to %v", c.arg(0), t)
		}
		return true
	}
	if op < 333 || op > 366 {
		return false
	}
	v, ok := c.scalars[c.a[0]]
	c.want(ok && v == 3 && c.integer(0) && c.arg(0).bits() == 32 && c.at(c.a[0]).op == opConstant, "scope %%%d is not the constant 3 (Subgroup)", c.a[0])
	ballot := func(t *typ) bool {
		return t.is(opTypeVector) && t.n == 4 && t.isInt() && t.bits() == 32 && !t.elem.signed
	}
	index := func(k int) bool {
		return c.integer(k) && !c.arg(k).signed
	}
	good := true
	switch op {
	case 333: // Elect
		good = t.is(opTypeBool)
	case 334, 335: // All Any
		good = t.is(opTypeBool) && c.arg(1).is(opTypeBool)
	case 336: // AllEqual
		good = t.is(opTypeBool) && c.arg(1).dims() > 0
	case 337, 345, 346, 347, 348, 365, 366: // Broadcast Shuffle… QuadBroadcast QuadSwap
		good = t.dims() > 0 && c.arg(1) == t && index(2)
		if (op == 337 || op == 365) && c.version < 0x10500 || op == 366 {
			good = good && isConstant(c.at(c.a[2]).op)
		}
	case 338: // BroadcastFirst
		good = t.dims() > 0 && c.arg(1) == t
	case 339: // Ballot
		good = ballot(t) && c.arg(1).is(opTypeBool)
	case 340: // InverseBallot
		good = t.is(opTypeBool) && ballot(c.arg(1))
	case 341: // BallotBitExtract
		good = t.is(opTypeBool) && ballot(c.arg(1)) && index(2)
	case 342: // BallotBitCount
		good = t.is(opTypeInt) && !t.signed && ballot(c.arg(2)) && c.a[1] <= 2
	case 343, 344: // BallotFindLSB BallotFindMSB
		good = t.is(opTypeInt) && !t.signed && ballot(c.arg(1))
	default: // 349 … 364, reductions
		x := c.arg(2)
		good = x == t && c.a[1] <= 3
		switch op {
		case 350, 352, 355, 358:
			good = good && t.isFloat()
		case 362, 363, 364:
			good = good && t.isBool()
		default:
			good = good && t.isInt()
		}
		cluster := c.a[1] == 3
		good = good && cluster == (len(c.a) == 4)
		if cluster && good {
			n, ok := c.scalars[c.a[3]]
			good = index(3) && ok && n > 0 && n&(n-1) == 0
		}
	}
	c.want(good, "operands do not fit the result %v", t)
	return true
}
