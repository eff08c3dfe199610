package gemm

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/tensor"
)

// vectorForm says which kernel multiplies a matrix and a vector on a GPU, where a tile of the other kernels
// would have one column of elements that count, or one row.
type vectorForm uint8

const (
	// noVector is for all other products and devices.
	noVector vectorForm = iota
	// vectorAlong reads a matrix whose rows have no gaps along k, or any strides.
	vectorAlong
	// vectorAcross reads a matrix whose neighbours along k are apart, and whose rows are neighbours.
	vectorAcross
)

// vector returns the form of the kernel. turned says that the second operand is the matrix, and the first the vector.
// kind must have been chosen.
func (g *product) vector() (form vectorForm, turned bool) {
	m, n := g.size(g.dimM()), g.size(g.dimN())
	if g.kind != sharedKind || g.t.CPU || g.t.HostVectors || min(m, n) != 1 {
		return noVector, false
	}
	switch g.t.Strategy {
	case byShared, byLarge, byMatrix:
		return noVector, false
	}
	turned = n != 1
	matrix, dim, vector := g.a, g.dimM(), g.b
	if turned {
		matrix, dim, vector = g.b, g.dimN(), g.a
	}
	if vector.DType != matrix.DType && (vector.DType != tensor.F32 || matrix.DType.Size() != 2) {
		return noVector, false
	}
	if matrix.Strides[dim] == 1 && g.size(dim) > 1 && matrix.Strides[g.dimK()] != 1 {
		return vectorAcross, turned
	}
	return vectorAlong, turned
}

// vectorTile is tile for these kernels.
func (g *product) vectorTile(form vectorForm, turned bool) tile {
	matrix, vector := g.a.DType, g.b.DType
	if turned {
		matrix, vector = vector, matrix
	}
	name, rows := "blas/matmul_vector."+matrix.String(), 4
	if vector != matrix {
		name += ".wide"
	}
	if form == vectorAcross {
		name, rows = name+".across", 16*planner.Pack/matrix.Size()
	}
	return tile{name, rows, 1}
}
