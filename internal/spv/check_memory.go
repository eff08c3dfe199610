package spv

// memory checks variables, loads, stores and pointers.
func (c *call) memory(op opcode) bool {
	switch op {
	case opVariable:
		c.variable()
	case opLoad:
		p := c.arg(0)
		if c.want(p.is(opTypePointer), "loads from %v", p) {
			c.want(p.elem == c.t, "loads %v from a pointer to %v", c.t, p.elem)
			c.want(!c.t.is(opTypeRuntimeArray) && !c.unsizedStruct(c.t), "loads a runtime array")
		}
	case opStore:
		p := c.arg(0)
		if c.want(p.is(opTypePointer), "stores to %v", p) {
			c.want(p.elem == c.arg(1), "stores %v to a pointer to %v", c.arg(1), p.elem)
			c.writable(p)
		}
	case opCopyMemory:
		p, q := c.arg(0), c.arg(1)
		if c.want(p.is(opTypePointer) && q.is(opTypePointer), "copies between %v and %v", p, q) {
			c.want(p.elem == q.elem, "copies %v to a pointer to %v", q.elem, p.elem)
			c.writable(p)
		}
	case opAccessChain, opInBoundsAccess:
		c.chain(1)
	case opPtrAccessChain, opInBoundsPtrAccess:
		c.want(c.arg(1).isInt() && c.arg(1).dims() == 1, "element is %v (want an integer)", c.arg(1))
		c.chain(2)
	case opArrayLength:
		p := c.arg(0)
		ok := p.is(opTypePointer) && p.elem.is(opTypeStruct) && len(p.elem.members) > 0 &&
			int64(c.a[1]) == int64(len(p.elem.members)-1) && p.elem.members[c.a[1]].is(opTypeRuntimeArray)
		c.want(ok, "operands do not name a runtime array at the end of a struct")
		c.want(c.t.is(opTypeInt) && c.t.width == 32 && !c.t.signed, "result is %v (want u32)", c.t)
	case opPtrEqual, opPtrNotEqual, opPtrDiff:
		p, q := c.arg(0), c.arg(1)
		c.want(p.is(opTypePointer) && p == q, "compares %v and %v", p, q)
		c.want(c.version >= 0x10400, "is not of this version of SPIR-V")
		switch {
		case op != opPtrDiff:
			c.want(c.t.is(opTypeBool), "result is %v (want bool)", c.t)
		default:
			c.want(c.t.is(opTypeInt), "result is %v (want an integer)", c.t)
		}
	case opImageTexelPointer:
		p := c.arg(0)
		ok := p.is(opTypePointer) && p.elem.is(opTypeImage) && c.t.is(opTypePointer) && c.t.class == classImage && c.t.elem == p.elem.elem
		c.want(ok, "result or image is no pointer of the right type")
		c.want(c.arg(1).isInt(), "coordinate is %v", c.arg(1))
		if ok && p.elem.dim == dimBuffer {
			c.want(c.arg(1).dims() == 1, "coordinate is %v (want one integer)", c.arg(1))
		}
		c.want(c.arg(2).isInt() && c.arg(2).dims() == 1, "sample is %v", c.arg(2))
	default:
		return false
	}
	return true
}

// unsizedStruct reports a struct that ends in a runtime array.
func (c *call) unsizedStruct(t *typ) bool { return t.is(opTypeStruct) && !t.sized() }

// writable checks that the memory a pointer leads to may be written.
func (c *call) writable(p *typ) {
	switch p.class {
	case classInput, classUniformConstant, classPushConstant:
		c.want(false, "writes to memory of storage class %d, which is read-only", p.class)
	}
	c.want(!p.elem.is(opTypeRuntimeArray) && !c.unsizedStruct(p.elem), "writes a runtime array")
}

// variable checks a variable and its initialiser.
func (c *call) variable() {
	class := c.a[0]
	if !c.want(c.t.is(opTypePointer) && c.t.class == class, "result type is not a pointer of storage class %d", class) {
		return
	}
	local := c.fnOf[c.index(c.in)] != nil
	c.want(local == (class == classFunction), "storage class %d in this place", class)
	e := c.t.elem
	c.want(!e.is(opTypeVoid) && !e.is(opTypeFunction) && class != classPhysical && class != classImage, "variable of %v in storage class %d", e, class)
	switch class {
	case classFunction, classPrivate, classWorkgroup:
		c.want(!e.opaque, "variable of %v in storage class %d", e, class)
	}
	if c.want(!e.is(opTypeRuntimeArray) || class == classUniformConstant || class == classStorageBuffer || class == classUniform, "runtime array outside a buffer"); c.unsizedStruct(e) {
		c.want(class == classStorageBuffer || class == classUniform, "runtime array outside a buffer")
	}
	if len(c.a) > 1 {
		init := c.at(c.a[1])
		c.want(class == classFunction || class == classPrivate || class == classWorkgroup && init.op == opConstantNull, "initialiser in storage class %d", class)
		c.want(c.typeOf(c.a[1]) == e, "initialiser is %v (want %v)", c.typeOf(c.a[1]), e)
	}
}

// chain checks an access chain whose indices start at operand k.
func (c *call) chain(k int) {
	p := c.arg(0)
	if !c.want(p.is(opTypePointer), "base is %v (want a pointer)", p) {
		return
	}
	t := p.elem
	for ; k < len(c.a); k++ {
		idx := c.arg(k)
		if !c.want(idx.is(opTypeInt), "index %%%d is %v (want an integer)", c.a[k], idx) {
			return
		}
		if t.is(opTypeStruct) {
			d := c.at(c.a[k])
			v := c.scalars[c.a[k]]
			if !c.want(d.op == opConstant && v < uint64(len(t.members)), "index %%%d does not name a member of a struct of %d", c.a[k], len(t.members)) {
				return
			}
			t = t.members[v]
			continue
		}
		next := t.constituent(0)
		if !c.want(next != nil, "index %%%d reaches into %v", c.a[k], t) {
			return
		}
		t = next
	}
	c.want(c.t.is(opTypePointer) && c.t.elem == t && c.t.class == p.class, "result type is not a pointer to %v of storage class %d", t, p.class)
}

// walk follows literal indices into a composite and returns the part's type.
func (c *call) walkTo(t *typ, idx []uint32) *typ {
	for _, k := range idx {
		if t == nil || t.is(opTypeRuntimeArray) {
			return nil
		}
		if n := t.constituents(); !t.isCoop() && int64(k) >= int64(n) {
			return nil
		}
		t = t.constituent(int(k))
	}
	return t
}

// composite checks what builds composites and takes them apart.
func (c *call) composite(op opcode) bool {
	t := c.t
	switch op {
	case opVectorExtractDynamic:
		v := c.arg(0)
		c.want(v.is(opTypeVector) && v.elem == t, "takes %v from %v", t, v)
		c.want(c.arg(1).is(opTypeInt), "index is %v", c.arg(1))
	case opVectorInsertDynamic:
		c.want(t.is(opTypeVector) && c.arg(0) == t && c.arg(1) == t.elem, "puts %v into %v to make %v", c.arg(1), c.arg(0), t)
		c.want(c.arg(2).is(opTypeInt), "index is %v", c.arg(2))
	case opVectorShuffle:
		v, w := c.arg(0), c.arg(1)
		if !c.want(t.is(opTypeVector) && v.is(opTypeVector) && w.is(opTypeVector) && v.elem == t.elem && w.elem == t.elem, "shuffles %v and %v to %v", v, w, t) {
			return true
		}
		c.want(len(c.a)-2 == int(t.n), "indices (got %d, want %d)", len(c.a)-2, t.n)
		for _, k := range c.a[2:] {
			c.want(k < v.n+w.n || k == 0xffffffff, "index %d of %d components", k, v.n+w.n)
		}
	case opCompositeConstruct:
		c.construct()
	case opCompositeExtract:
		part := c.walkTo(c.arg(0), c.a[1:])
		c.want(len(c.a) > 1 && part == t && t != nil, "takes %v from %v, which has %v there", t, c.arg(0), part)
	case opCompositeInsert:
		part := c.walkTo(c.arg(1), c.a[2:])
		c.want(len(c.a) > 2 && c.arg(1) == t && part == c.arg(0) && part != nil, "puts %v into %v, which has %v there", c.arg(0), c.arg(1), part)
	case opCopyObject:
		c.want(c.arg(0) == t, "copies %v to %v", c.arg(0), t)
	case 400: // OpCopyLogical
		c.want(c.arg(0) != t && alike(c.arg(0), t, map[[2]*typ]bool{}), "copies %v to %v", c.arg(0), t)
	case opUndef:
		c.want(t != nil && !t.is(opTypeFunction), "undefined %v", t)
	default:
		return false
	}
	return true
}

// alike reports whether two types have the same shape, decorations aside.
// seen holds the pairs found alike, so that no pair is compared twice.
func alike(a, b *typ, seen map[[2]*typ]bool) bool {
	if a == b || seen[[2]*typ{a, b}] {
		return true
	}
	if a == nil || b == nil || a.op != b.op {
		return false
	}
	switch {
	case a.op == opTypeArray && a.n == b.n && alike(a.elem, b.elem, seen):
	case a.op == opTypeStruct && len(a.members) == len(b.members):
		for k := range a.members {
			if !alike(a.members[k], b.members[k], seen) {
				return false
			}
		}
	default:
		return false
	}
	seen[[2]*typ{a, b}] = true
	return true
}

// construct checks a composite made of its parts.
func (c *call) construct() {
	t := c.t
	if t.is(opTypeVector) {
		n := uint32(0)
		for k := range c.a {
			p := c.arg(k)
			if !c.want(p.dims() > 0 && p.scalar() == t.elem, "part %d is %v of %v", k, p, t) {
				return
			}
			n += p.dims()
		}
		c.want(n == t.n && len(c.a) >= 2, "%d components for %v", n, t)
		return
	}
	if !c.want(t.composite() && !t.is(opTypeRuntimeArray) && len(c.a) == t.constituents(), "%d parts for %v", len(c.a), t) {
		return
	}
	for k := range c.a {
		c.want(c.arg(k) == t.constituent(k), "part %d is %v (want %v)", k, c.arg(k), t.constituent(k))
	}
}
