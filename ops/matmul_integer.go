package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/quantisation"
	"github.com/lathe-gpu/lathe/spec"
)

// MatMulInteger is the matrix product of a − a_zero_point and b − b_zero_point, as I32, over a broadcast
// batch. a and b are U8 or I8, each its own. A zero point is one number, or one for each row of a and for
// each column of b, which may differ between matrices. The result wraps. It is computed in F32, 256 indices of k
// at a time, for which F32 is exact. k is at most 524288.
type MatMulInteger struct{}

// Spec returns the declaration.
func (MatMulInteger) Spec() *spec.Op { return matMulIntegerOp.Op() }

var matMulIntegerOp = spec.Declaration{Define: func() *spec.Op {
	return quantisation.DefineMatMulInteger[*MatMulInteger]("matmul_integer",
		"The matrix product of integers of 8 bits, less their zero points, in integers of 32 bits.", "MatMulInteger")
}}
