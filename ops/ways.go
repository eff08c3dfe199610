package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// The ways of plans, for spec.Target.Strategy: which buffers kernels read, in
// whichever operation; the rest are those of operations along rows, and of
// matrix products.
const (
	byTexels  = "texels"
	byStorage = "storage"

	byPanel  = "panel"  // 8 by 64 of C a workgroup
	byWide   = "wide"   // 16 by 128
	byTall   = "tall"   // 32 by 64
	byRow    = "row"    // 1 by 64
	byDot    = "dot"    // a few vectors, along k
	byShared = "shared" // by way of workgroup memory, 64 by 64
	byLarge  = "large"  // the same, 128 by 128
	byMatrix = "matrix" // by cooperative matrices
	byWhole  = "whole"  // without parts of k side by side
)

var texelsFirst, storageFirst = []string{byTexels, byStorage}, []string{byStorage, byTexels}

// texelWays are the ways of an operation on elements of d that has texel kernels
// and storage ones, and no other choice.
func texelWays(t *spec.Target, d tensor.DType) []string {
	switch {
	case d.Size() >= 8 || !hasTexels(t, texelGroup):
		return nil
	case t.CPU:
		return texelsFirst
	}
	return storageFirst
}

// gemmWays are the ways to make a product, first the one that g was made for.
func gemmWays(g *gemm) []string {
	m, n := g.size(g.dimM()), g.size(g.dimN())
	if slices.Contains(g.shape, 0) {
		return nil
	}
	own := g.way()
	ways := []string{own}
	add := func(way string, suits bool) {
		if suits && way != own {
			ways = append(ways, way)
		}
	}
	texels := g.a.dtype != tensor.F64 && hasTexels(g.t, smallGroup)
	add(byPanel, texels)
	add(byWide, texels && m > 8 && n > 64)
	add(byTall, texels && m > 8)
	add(byRow, texels && m <= 16)
	add(byDot, texels && min(m, n) <= 64)
	// To CPU drivers barriers are so dear that there is nothing to measure.
	add(byShared, !g.t.CPU)
	add(byMatrix, !g.t.CPU && g.matrixTile().rows > 0)
	add(byLarge, !g.t.CPU && g.takesLarge() && m > 64 && n > 64)
	add(byWhole, g.parts > 1)
	return ways
}

// attentionWays are the ways to make both products of attention: by the rules for
// each, or by kernels that both can do with.
func attentionWays(_ spec.Call, t *spec.Target, in, out []tensor.Desc) []string {
	ways := texelWays(t, in[0].DType)
	_, sq, skv, _, dv := attentionSizes(in)
	if len(ways) == 0 || out[0].Elems() == 0 || skv == 0 {
		return nil
	}
	if !t.CPU {
		return ways
	}
	ways = []string{byTexels, byPanel} // to CPU drivers barriers are too dear
	add := func(way string, suits bool) {
		if suits {
			ways = append(ways, way)
		}
	}
	add(byTall, sq > 8)
	add(byWide, sq > 8 && max(skv, dv) > 64)
	add(byRow, sq <= 16)
	add(byDot, sq <= 64)
	return ways
}

// way names how g makes the product.
func (g *gemm) way() string {
	switch tile := g.tile(); {
	case g.mode == gemmShared && g.matrixTile().rows > 0 && g.matrices():
		return byMatrix
	case g.mode == gemmShared && g.large():
		return byLarge
	case g.mode == gemmShared:
		return byShared
	case g.mode == gemmDot:
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
