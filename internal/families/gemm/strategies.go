package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Strategies of products, for spec.Target.Strategy. Most of them are named after the part
// of C that one workgroup computes.
const (
	byPanel  = "panel"  // 8 by 64 elements of C
	byWide   = "wide"   // 16 by 128 elements
	byTall   = "tall"   // 32 by 64 elements
	byRow    = "row"    // 1 by 64 elements
	byBlock  = "block"  // 16 by 64 elements, with shuffles
	byNarrow = "narrow" // 16 by 32 elements, with shuffles
	byDot    = "dot"    // a few vectors, along k
	byShared = "shared" // 64 by 64 elements, with workgroup memory
	byLarge  = "large"  // 128 by 128 elements, with workgroup memory
	byMatrix = "matrix" // cooperative matrices
	byVector = "vector" // a few rows or columns, of a matrix and a vector
	byLanes  = "lanes"  // 3 by 16 elements, by invocations that are lanes of a vector
	byWhole  = "whole"  // k is not divided into parts that are computed at the same time
)

// panels are the strategies that name one of the kernels of panelKind.
var panels = []string{byPanel, byWide, byTall, byRow, byBlock, byNarrow}

// strategies lists the strategies of a product. The first one is the strategy that
// newProduct has chosen.
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
	texels := planner.HasTexels(g.t, planner.SmallGroup)
	add(byPanel, texels)
	add(byWide, texels && m > 8 && n > 64)
	add(byTall, texels && m > 8)
	add(byRow, texels && m <= 16)
	add(byBlock, texels && m > 8 && g.shuffles())
	add(byNarrow, texels && m > 8 && n <= 64 && g.shuffles())
	add(byDot, texels && min(m, n) <= 64)
	// Barriers are so slow on CPU drivers that these strategies need not be measured
	// there.
	add(byShared, !g.t.CPU && own != byVector) // one column of a tile would count
	add(byMatrix, !g.t.CPU && g.matrixTile().rows > 0)
	add(byLarge, !g.t.CPU && g.hasLarge() && m > 64 && n > 64)
	add(byWhole, g.parts > 1)
	return list
}

// strategy returns the name of the strategy that g uses.
func (g *product) strategy() string {
	if form, _ := g.vector(); form != noVector {
		return byVector
	}
	switch tile := g.tile(); {
	case g.lanes() != noLanes:
		return byLanes
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
	case tile.rows == 16 && tile.cols == 64 && g.shuffles():
		return byBlock
	case tile.rows == 16 && tile.cols == 32:
		return byNarrow
	case tile.rows == 16:
		return byWide
	case tile.rows == 32:
		return byTall
	}
	return byPanel
}

// attentionStrategies lists the strategies of attention. One of them leaves the choice to
// each of the two products. The others name kernels for both, or take few queries by themselves: that is
// the first one if there are numbers of keys, but for large caches of F32 where kernels read texels.
func attentionStrategies(t *spec.Target, in, out []tensor.Desc) []string {
	_, _, skv, _, _ := attentionSizes(in)
	if out[0].Elems() == 0 || skv == 0 {
		return nil
	}
	list := tileStrategies(t, in)
	if !fewAttention(t, in) {
		return list
	}
	if len(list) == 0 {
		list = []string{byTiles}
	}
	if len(in) > lengthsInput && !(fewTexels(t, in[0].DType) && in[0].DType == tensor.F32 && skv > fewRoom) {
		return slices.Insert(list, 0, byFew)
	}
	return append(list, byFew)
}

// tileStrategies lists the strategies of attention by tiles.
func tileStrategies(t *spec.Target, in []tensor.Desc) []string {
	list := planner.TexelStrategies(t, in[0].DType)
	_, sq, skv, _, dv := attentionSizes(in)
	if len(list) == 0 || !t.CPU {
		return list
	}
	list = []string{planner.ByTexels, byPanel} // Barriers are too slow on CPU drivers.
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
