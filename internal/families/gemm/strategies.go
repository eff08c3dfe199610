package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// The strategies of products, for spec.Target.Strategy. Most are named after the part of
// C that a workgroup makes.
const (
	byPanel  = "panel"  // 8 by 64 of C
	byWide   = "wide"   // 16 by 128
	byTall   = "tall"   // 32 by 64
	byRow    = "row"    // 1 by 64
	byDot    = "dot"    // a few vectors, along k
	byShared = "shared" // by way of workgroup memory, 64 by 64
	byLarge  = "large"  // the same, 128 by 128
	byMatrix = "matrix" // by cooperative matrices
	byWhole  = "whole"  // without parts of k side by side
)

// strategies lists the strategies of a product. The first is the one that it was made
// for.
func (g *product) strategies() []string {
	m, n := g.size(g.dimM()), g.size(g.dimN())
	if slices.Contains(g.shape, 0) {
		return nil
	}
	own := g.strategy()
	list := []string{own}
	add := func(name string, suits bool) {
		if suits && name != own {
			list = append(list, name)
		}
	}
	texels := g.a.DType != tensor.F64 && planner.HasTexels(g.t, planner.SmallGroup)
	add(byPanel, texels)
	add(byWide, texels && m > 8 && n > 64)
	add(byTall, texels && m > 8)
	add(byRow, texels && m <= 16)
	add(byDot, texels && min(m, n) <= 64)
	// To CPU drivers barriers are so dear that there is nothing to measure.
	add(byShared, !g.t.CPU)
	add(byMatrix, !g.t.CPU && g.matrixTile().rows > 0)
	add(byLarge, !g.t.CPU && g.hasLarge() && m > 64 && n > 64)
	add(byWhole, g.parts > 1)
	return list
}

// strategy names how g makes the product.
func (g *product) strategy() string {
	switch tile := g.tile(); {
	case g.kind == sharedKind && g.matrixTile().rows > 0 && g.usesMatrices():
		return byMatrix
	case g.kind == sharedKind && g.usesLarge():
		return byLarge
	case g.kind == sharedKind:
		return byShared
	case g.kind == dotKind:
		return byDot
	case tile.rows == 1:
		return byRow
	case tile.rows == 16:
		return byWide
	case tile.rows == 32:
		return byTall
	}
	return byPanel
}

// attentionStrategies lists the strategies for both products of attention: the choice of
// each product, or kernels that suit both.
func attentionStrategies(t *spec.Target, in, out []tensor.Desc) []string {
	list := planner.TexelStrategies(t, in[0].DType)
	_, sq, skv, _, dv := attentionSizes(in)
	if len(list) == 0 || out[0].Elems() == 0 || skv == 0 {
		return nil
	}
	if !t.CPU {
		return list
	}
	list = []string{planner.ByTexels, byPanel} // to CPU drivers barriers are too dear
	add := func(name string, suits bool) {
		if suits {
			list = append(list, name)
		}
	}
	add(byTall, sq > 8)
	add(byWide, sq > 8 && max(skv, dv) > 64)
	add(byRow, sq <= 16)
	add(byDot, sq <= 64)
	return list
}
