package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/spec"
)

// MatMulBias is MatMul with a bias [n] that is added to each row of the result before the
// result is rounded. Gemm does more: it takes factors, and a matrix instead of the bias.
type MatMulBias struct {
	TransA bool `attr:"trans_a" doc:"a is transposed, [..., k,m]"`
	TransB bool `attr:"trans_b" doc:"b is transposed, [..., n,k]"`
}

// Spec returns the declaration.
func (MatMulBias) Spec() *spec.Op { return matmulBiasOp.Op() }

// Gradient declares the gradients: those of MatMul, and the sum of dy over the rows.
func (c MatMulBias) Gradient(t *spec.Tape) {
	productGradients(t, t.Gradient(0), c.TransA, c.TransB)
	t.SetGradient(2, t.Gradient(0))
}

var matmulBiasOp = spec.Declaration{Define: func() *spec.Op {
	return gemm.DefineMatMul(gemm.MatMul[*MatMulBias]{
		Name: "matmul_bias", Bias: true,
		Doc:        "The matrix product over the last two dimensions, with a bias added to each row.",
		Defaults:   &MatMulBias{},
		Transposed: func(c *MatMulBias) (ta, tb bool) { return c.TransA, c.TransB },
		Calls:      []*MatMulBias{{TransB: true}},
	})
}}
