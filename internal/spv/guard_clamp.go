package spv

// clamp holds the indices of one instruction to the bounds of what they index,
// if it lies where no driver does so: in memory of the workgroup or of the
// invocation, in push constants and inputs, and in values. Indices that cannot
// be out of range stay as they are.
func (g *guarding) clamp(body []byte, in *inst) []byte {
	switch in.op {
	case opVectorExtractDynamic:
		return g.clampIndex(body, in, 4, g.s.typeOf(in.w[3]).n)
	case opVectorInsertDynamic:
		return g.clampIndex(body, in, 5, g.s.typeOf(in.w[3]).n)
	case opAccessChain, opInBoundsAccess:
	default:
		return body
	}
	p := g.s.typeOf(in.w[3])
	switch p.class {
	case classWorkgroup, classPrivate, classFunction, classPushConstant, classInput:
	default: // buffers, which robust access bounds
		return body
	}
	t := p.elem
	for k := 4; k < len(in.w); k++ {
		if t.is(opTypeStruct) {
			t = t.members[g.s.scalars[in.w[k]]]
			continue
		}
		body = g.clampIndex(body, in, k, t.n)
		t = t.elem
	}
	return body
}

// clampIndex holds the index that is word k of in below n. Indices are signed, so
// that no negative one passes as a large one either.
func (g *guarding) clampIndex(body []byte, in *inst, k int, n uint32) []byte {
	t := g.s.typeOf(in.w[k])
	most := min(uint64(n-1), uint64(1)<<(t.width-1)-1)
	if g.bound(in.w[k], 0) <= most {
		return body
	}
	body, in.w[k] = g.extended(body, t.id, extUMin, in.w[k], g.constant(t, most))
	return body
}

// maxBoundDepth is how far bound follows a value to its origins.
const maxBoundDepth = 8

// bound is a number that the integer id does not exceed, read without a sign. It
// knows the forms in which shaders index by what cannot be out of range.
func (g *guarding) bound(id uint32, depth int) uint64 {
	s := g.s
	t := s.typeOf(id)
	any := uint64(1)<<t.width - 1 // of 64 bits: all of them
	if v, ok := s.scalars[id]; ok {
		return v & any
	}
	d := s.at(id)
	if depth == maxBoundDepth || !t.is(opTypeInt) {
		return any
	}
	part := func(k int) uint64 { return g.bound(d.w[k], depth+1) }
	constant := func(k int) (uint64, bool) {
		v, ok := s.scalars[d.w[k]]
		return v, ok && s.at(d.w[k]).op == opConstant && v > 0
	}
	switch d.op {
	case opBitwiseAnd:
		return min(part(3), part(4))
	case opUMod:
		if v, ok := constant(4); ok {
			return min(part(3), v-1)
		}
	case opUDiv:
		if v, ok := constant(4); ok {
			return part(3) / v
		}
	case opShiftRightLogical:
		if v, ok := constant(4); ok && v < uint64(t.width) {
			return part(3) >> v
		}
	case opIAdd:
		if a, b := part(3), part(4); a <= any-b {
			return a + b
		}
	case opIMul:
		if a, b := part(3), part(4); b == 0 || a <= any/b {
			return a * b
		}
	case opCopyObject:
		return part(3)
	case opBitcast:
		if s.typeOf(d.w[3]).is(opTypeInt) {
			return part(3)
		}
	case opUConvert:
		if from := part(3); from <= any {
			return from
		}
	case opExtInst:
		if d.w[3] == g.glsl && d.w[4] == extUMin {
			return min(part(5), part(6))
		}
	case opLoad, opCompositeExtract:
		return min(any, g.builtIn(d))
	}
	return any
}

// Built-ins that say which invocation of its workgroup one is.
const (
	builtInLocalID    = 27
	builtInLocalIndex = 29
)

// builtIn is what a value that was loaded from a built-in does not exceed.
func (g *guarding) builtIn(d *inst) uint64 {
	const any = 1<<64 - 1
	part := -1
	if d.op == opCompositeExtract {
		if len(d.w) != 5 {
			return any
		}
		part = int(d.w[4])
		if d = g.s.at(d.w[3]); d.op != opLoad {
			return any
		}
	}
	p := g.s.at(d.w[3])
	if (p.op == opAccessChain || p.op == opInBoundsAccess) && len(p.w) == 5 {
		v, ok := g.s.scalars[p.w[4]]
		if !ok || v > 2 {
			return any
		}
		part = int(v)
		p = g.s.at(p.w[3])
	}
	if p.op != opVariable {
		return any
	}
	switch which, _ := number(g.s.decor[p.res], decBuiltIn); {
	case which == builtInLocalIndex && part < 0:
		return uint64(g.local[0])*uint64(g.local[1])*uint64(g.local[2]) - 1
	case which == builtInLocalID && part >= 0 && part < 3:
		return uint64(g.local[part]) - 1
	}
	return any
}
