package spv

// extUnpackHalf is UnpackHalf2x16.
const extUnpackHalf = 62

// halves unpacks the upper half of a word as a lower one: of a constant, also of
// one that only the compiler finds, lavapipe takes the upper half for zero.
func (g *guarding) halves(body []byte, in *inst) []byte {
	if in.op != opExtInst || in.w[3] != g.glsl || in.w[4] != extUnpackHalf {
		return body
	}
	t, word := in.typ, in.w[5]
	shifted := g.id()
	body = appendInst(body, opShiftRightLogical, g.s.typeOf(word).id, shifted, word, g.constant(g.s.typeOf(word), 16))
	body, high := g.extended(body, t, extUnpackHalf, shifted)
	body, low := g.extended(body, t, extUnpackHalf, word)
	in.op = opVectorShuffle
	in.w = []uint32{7<<16 | uint32(opVectorShuffle), t, in.res, low, high, 0, 2}
	return body
}
