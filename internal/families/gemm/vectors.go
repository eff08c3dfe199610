package gemm

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/tensor"
)

// What kernels of CPU drivers read where it lies, and products by a vector.

// usesRows reports whether panels are of one row.
func (g *product) usesRows() bool {
	return g.t.Strategy == byRow || g.size(g.dimM()) <= 4 && g.t.Strategy != byWide && g.t.Strategy != byPanel
}

// usesLong reports whether panels of one row are long ones, which read memory in runs of
// 2 KiB: where enough of them are left for all processors, slices of k counted.
func (g *product) usesLong() bool {
	n := g.size(g.dimN())
	groups := planner.CeilDiv(n, 512)
	if groups*512 > n+n/4 { // too much of a last one would be for nothing
		return false
	}
	groups *= g.slices()
	for _, d := range g.shape[:g.dimN()] {
		groups *= d
	}
	return groups >= 16
}

// slices is how many parts of k long panels take one after the other: of 256 rows of B,
// so that a processor that walks along them has their pages at hand.
func (g *product) slices() int {
	for _, d := range g.shape[:g.dimM()] {
		if d > 1 {
			return 1
		}
	}
	return max(min(g.size(g.dimK())/256, 64), 1)
}

// narrow is the dtype of the operand that the kernels for vectors read where it lies, of
// 16 bits or 32: to turn a matrix into f32 first would cost more than its product by a
// vector.
func (g *product) narrow() tensor.DType {
	x, y := g.sides()
	s := x
	switch {
	case g.kind == panelKind && g.usesRows():
		s = y
	case g.kind != dotKind:
		return tensor.F32
	}
	if g.reads = s.DType; g.isReadable(s) {
		return s.DType
	}
	return tensor.F32
}

// inTexels reports whether every stride of an operand of a CPU kernel is one of whole
// texels, except that along dim, which is 1.
func inTexels(o planner.Operand, dim int) bool {
	texel := perTexel(o.DType)
	for d, s := range o.Strides {
		if d == dim && s != 1 || d != dim && s%texel != 0 {
			return false
		}
	}
	return o.Base%texel == 0
}

// perTexel is how many elements a texel of 16 bytes holds.
func perTexel(d tensor.DType) int { return 16 / d.Size() }

// isReadable reports whether a CPU kernel can read the side where it lies: in f32, or in
// g.reads the one that kernels take so.
func (g *product) isReadable(s side) bool {
	k, inner, texel := g.size(g.dimK()), s.dim, perTexel(s.DType)
	if s.alongK {
		inner = g.dimK()
	}
	if s.DType != tensor.F32 {
		first := s.slot == 0 != g.swapped()
		if s.DType != g.reads || first != (g.kind == dotKind) || g.size(inner)%texel != 0 {
			return false
		}
	}
	return inTexels(s.Operand, inner) && (k%4 == 0 || g.filled && s.slot == 0)
}
