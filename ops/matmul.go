package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/spec"
)

// MatMul is the matrix product of the last two dimensions: [..., m,k] by
// [..., k,n] gives [..., m,n]. The dimensions before them are a batch and are
// broadcast by NumPy's rule; vectors of one dimension are refused. Products of
// f16 and bf16 are summed in f32 and rounded once; k = 0 gives zeros.
type MatMul struct {
	TransA bool `attr:"trans_a" doc:"a is [..., k,m]"`
	TransB bool `attr:"trans_b" doc:"b is [..., n,k]"`
}

// Spec returns the declaration.
func (MatMul) Spec() *spec.Op { return matmulOp }

var matmulOp = gemm.DefineMatMul(gemm.MatMul[MatMul]{
	Name: "matmul", ONNX: []string{"MatMul"},
	Doc:        "The matrix product of the last two dimensions, over a broadcast batch.",
	Transposed: func(c MatMul) (ta, tb bool) { return c.TransA, c.TransB },
	Calls:      []MatMul{{TransB: true}, {TransA: true}, {TransA: true, TransB: true}},
})
