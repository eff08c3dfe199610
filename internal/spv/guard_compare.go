package spv

// widened says whether the module sign-extends integers to 64 bits.
func (g *guarding) widened() bool {
	for i := range g.s.insts {
		in := &g.s.insts[i]
		if in.op == opSConvert && g.s.types[in.typ].bits() == 64 {
			return true
		}
	}
	return false
}

// compare compares signed integers of 64 bits as unsigned ones whose highest bit is
// flipped. Mesa 22.3 compares an int that was widened to 64 bits wrongly with a constant,
// also one that only its compiler finds: 16 <= x is true for each x.
func (g *guarding) compare(body []byte, in *inst) []byte {
	switch in.op {
	case opSGreaterThan, opSGreaterThanEqual, opSLessThan, opSLessThanEqual:
	default:
		return body
	}
	if t := g.s.typeOf(in.w[3]); t.bits() != 64 || !g.wide {
		return body
	}
	flipped := func(id uint32) uint32 {
		t, res := g.s.typeOf(id), g.id()
		body = appendInst(body, opBitwiseXor, t.id, res, id, g.constant(t, 1<<63))
		return res
	}
	a, b := flipped(in.w[3]), flipped(in.w[4])
	in.op-- // The opcode of the unsigned comparison lies before that of the signed one.
	in.w = []uint32{5<<16 | uint32(in.op), in.typ, in.res, a, b}
	return body
}
