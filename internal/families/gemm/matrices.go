package gemm

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// matrixTile returns the kernel for the device's cooperative matrices. Its rows are 0 if
// there is none.
func (g *product) matrixTile() tile {
	if g.a.DType != tensor.F16 || g.b.DType != tensor.F16 {
		return tile{}
	}
	variant, edge := Matrices(g.t)
	return tile{"blas/matmul_coop." + variant, edge, edge}
}

// matrixWork is the number of multiply-adds from which on cooperative matrices are faster than the other kernels
// of GPUs. On an H100, square matrices of 1024 take as long by both, the smaller ones up to four times as long by
// cooperative matrices, and those of 2048 half as long.
const matrixWork = 1 << 30

// WorthMatrices reports whether a product of batch matrices m by k and k by n should be made by cooperative matrices,
// where the device has them.
func WorthMatrices(batch, m, n, k int64) bool {
	return min(m, n) > 16 && float64(batch)*float64(m)*float64(n)*float64(k) >= matrixWork
}

// Matrices returns the variant of the kernels for the device's cooperative matrices of F16, such as "f16.m16.s32", and
// how many rows and columns of C a workgroup of them computes: 0 if there are none.
func Matrices(t *spec.Target) (variant string, edge int) {
	for _, k := range []struct {
		edge, subgroup uint32
		variant        string
		tile           int
	}{
		{16, 32, "f16.m16.s32", 128},
		{16, 64, "f16.m16.s64", 128},
		{8, 8, "f16.m8.s8", 32},
	} {
		if t.Matrix == [3]uint32{k.edge, k.edge, k.edge} && t.SubgroupSize == k.subgroup && t.MaxInvocations >= 4*k.subgroup && t.MaxSharedBytes >= 32<<10 {
			return k.variant, k.tile
		}
	}
	return "", 0
}

// usesMatrices reports whether to use the kernel of matrixTile, if there is one.
func (g *product) usesMatrices() bool {
	switch g.t.Strategy {
	case byMatrix:
		return true
	case byShared, byLarge:
		return false
	}
	batch := int64(1)
	for _, d := range g.shape[:g.dimM()] {
		batch *= int64(d)
	}
	return !g.t.CPU && WorthMatrices(batch, int64(g.size(g.dimM())), int64(g.size(g.dimN())), int64(g.size(g.dimK())))
}
