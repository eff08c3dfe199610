package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MatMul is the matrix product over the last two dimensions: [..., m,k] by [..., k,n] gives
// [..., m,n]. The dimensions before the last two are the batch. They are broadcast by NumPy's
// rule. A tensor of one dimension is refused. Products of F16 and BF16 are summed in F32 and
// rounded once. If k is 0, the result is zeros.
type MatMul struct {
	TransA bool `attr:"trans_a" doc:"a is transposed, [..., k,m]"`
	TransB bool `attr:"trans_b" doc:"b is transposed, [..., n,k]"`
}

// Spec returns the declaration.
func (MatMul) Spec() *spec.Op { return matmulOp.Op() }

// Gradient declares the gradients: dy·bᵀ and aᵀ·dy, summed over batches that were broadcast.
func (c MatMul) Gradient(t *spec.Tape) {
	productGradients(t, t.Gradient(0), c.TransA, c.TransB)
}

// Stacks declares that columns of the result come from columns of b.
func (c MatMul) Stacks(in []tensor.Desc) (spec.Stacking, bool) {
	if len(in) != 2 || len(in[0].Shape) < 2 || len(in[1].Shape) < 2 {
		return spec.Stacking{}, false
	}
	s := spec.Stacking{Input: 1, Dim: len(in[1].Shape) - 1, OutDim: max(len(in[0].Shape), len(in[1].Shape)) - 1}
	if c.TransB {
		s.Dim--
	}
	return s, true
}

var matmulOp = spec.Declaration{Define: func() *spec.Op {
	return gemm.DefineMatMul(gemm.MatMul[*MatMul]{
		Name: "matmul", ONNX: []string{"MatMul"},
		Doc:        "The matrix product over the last two dimensions. The dimensions before them are broadcast.",
		Defaults:   &MatMul{},
		Transposed: func(c *MatMul) (ta, tb bool) { return c.TransA, c.TransB },
		Calls:      []*MatMul{{TransB: true}, {TransA: true}, {TransA: true, TransB: true}},
	})
}}
