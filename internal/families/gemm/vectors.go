package gemm

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/tensor"
)

// This file decides what kernels of CPU drivers read in place, and how they compute
// products with a vector.

// usesRows reports whether a panel is one row.
func (g *product) usesRows() bool {
	return g.t.Strategy == byRow || g.size(g.dimM()) <= 4 && g.t.Strategy != byWide && g.t.Strategy != byPanel
}

// usesLong reports whether the panels of one row are long. Long panels read memory in
// runs of 2 KiB. There must be enough of them for all processors, where each slice of k
// counts.
func (g *product) usesLong() bool {
	n := g.size(g.dimN())
	groups := planner.CeilDiv(n, g.longPanel())
	if groups*g.longPanel() > n+n/4 { // The last panel would compute too much that is not needed.
		return false
	}
	groups *= g.longSlices()
	for _, d := range g.shape[:g.dimN()] {
		groups *= d
	}
	return groups >= 16
}

// longPanel is the number of columns of a long panel, which read runs of 2 KiB in F32 and in F64.
func (g *product) longPanel() int {
	if g.accumulator() == tensor.F64 {
		return 256
	}
	return 512
}

// longSlices returns the number of parts of k that long panels compute. Each has 256 rows
// of B, so that the memory pages of these rows stay in the caches of the processor.
func (g *product) longSlices() int {
	for _, d := range g.shape[:g.dimM()] {
		if d > 1 {
			return 1
		}
	}
	return max(min(g.size(g.dimK())/256, 64), 1)
}

// directDType returns the dtype, of 16 bits or that of the arithmetic, of the operand that kernels for
// vectors read in place. To convert a matrix to F32 first would take longer than its
// product with a vector.
func (g *product) directDType() tensor.DType {
	x, y := g.sides()
	s := x
	switch {
	case g.kind == panelKind && g.usesRows():
		s = y
	case g.kind != dotKind:
		return g.accumulator()
	}
	if g.reads = s.DType; g.isReadable(s) {
		return s.DType
	}
	return g.accumulator()
}

// inTexels reports whether an operand of a CPU kernel consists of whole texels. The
// stride along dim must be 1, and all others must be whole texels.
func inTexels(o planner.Operand, dim int) bool {
	texel := perTexel(o.DType)
	for d, s := range o.Strides {
		if d == dim && s != 1 || d != dim && s%texel != 0 {
			return false
		}
	}
	return o.Base%texel == 0
}

// perTexel returns the number of elements in a texel of 16 bytes.
func perTexel(d tensor.DType) int { return 16 / d.Size() }

// isReadable reports whether a CPU kernel can read the side in place. The side has the dtype of the arithmetic, or
// it is the one operand that kernels read in dtype g.reads.
func (g *product) isReadable(s side) bool {
	k, inner, texel := g.size(g.dimK()), s.dim, perTexel(s.DType)
	if s.alongK {
		inner = g.dimK()
	}
	if s.DType != g.accumulator() {
		first := s.slot == 0 != g.swapped()
		if s.DType != g.reads || first != (g.kind == dotKind) || g.size(inner)%texel != 0 {
			return false
		}
	}
	return inTexels(s.Operand, inner) && (k%4 == 0 || g.filled && s.slot == 0)
}

// readsTurned reports whether a CPU kernel can read side x in texels of neighbours along dim, as a transposed matrix has them. The
// products are those of a packed copy bit for bit. Tiles of one row have no such kernels, and wide ones of F64 would be slower by
// them than with a copy.
func (g *product) readsTurned(x side) bool {
	if g.kind != panelKind || g.size(g.dimK())%4 != 0 || g.usesRows() || x.DType == tensor.F64 && g.tile().rows == 16 {
		return false
	}
	x.alongK = false
	return x.DType == g.accumulator() && g.isReadable(x)
}

// shuffles reports whether the kernels can be those whose invocations read rows of the first operand for each other. They compute in F32,
// a workgroup of them is one subgroup, and they read that operand along k.
func (g *product) shuffles() bool {
	if g.kind != panelKind || g.t.SubgroupSize != 8 || g.accumulator() != tensor.F32 || g.reads != tensor.F32 {
		return false
	}
	x, _ := g.sides()
	return !x.turned
}

// isOfRows reports whether a bias, which may be nil, has a number for each row of C. Only tiles of several rows of F32 add such a
// bias, see canAddRows.
func (g *product) isOfRows(bias *planner.Operand) bool {
	return bias != nil && g.kind == panelKind && bias.Strides[g.dimM()] != 0
}

// canAddRows reports whether the kernels can add a number to each row of C.
func (g *product) canAddRows() bool {
	return g.kind == panelKind && !g.usesRows() && g.accumulator() == tensor.F32 && g.size(g.outer()) == 1
}
