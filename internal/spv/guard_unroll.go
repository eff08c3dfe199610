package spv

// phis finds the blocks that begin with a phi. No line of the source stands between a
// label and its phi: see notes.
func (g *guarding) phis() {
	g.joins = map[uint32]bool{}
	for i := 1; i < len(g.s.insts); i++ {
		if label := &g.s.insts[i-1]; label.op == opLabel && g.s.insts[i].op == opPhi {
			g.joins[label.res] = true
		}
	}
}

// unroll takes the hint to unroll from a loop whose values are joined by a phi
// right behind it: SwiftShader unrolls such a loop wrongly, and the process ends
// (SIGILL in its compiler). GLSL compilers write such loops only when they optimise.
func (g *guarding) unroll(in *inst) {
	const hint = 1
	if in.op == opLoopMerge && in.w[3]&hint != 0 && g.joins[in.w[1]] {
		in.w[3] &^= hint
		g.changed = true
	}
}
