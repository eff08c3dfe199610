package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/quantisation"
	"github.com/lathe-gpu/lathe/spec"
)

// MatMulBlocks multiplies vectors by a matrix of quantised weights: out[..., j] = Σ x[..., i]·w[j, i]. The
// weights are U8 [n, bytes]: rows of whole blocks, as GGUF stores them and DequantizeBlocks reads them. They
// stay blocks: a few vectors are multiplied by the blocks where they lie, and for many vectors parts of the
// matrix become numbers in a temporary buffer of 16 MiB. The weights have all their bits in the products,
// which are added in F32.
//
// Some devices add the products of a block without its scale first, and multiply by it then. Where that sum is out of the
// range of F32, or the scale is infinite, the result is an infinity or NaN there.
type MatMulBlocks struct {
	Format string `attr:"format,required" doc:"q4_0, q8_0, q4_k or q6_k, in upper or lower case"`
}

// Spec returns the declaration.
func (MatMulBlocks) Spec() *spec.Op { return matMulBlocksOp.Op() }

// Gradient declares the gradient of x: dy times the matrix. The blocks are no numbers that have one.
func (c MatMulBlocks) Gradient(t *spec.Tape) {
	if dy := t.Gradient(0); dy != spec.NoValue && t.Needs(0) {
		w := t.Call(DequantizeBlocks{Format: c.Format, DType: t.Desc(t.In(0)).DType}, t.In(1))
		t.SetGradient(0, t.Call(MatMul{}, dy, w))
	}
}

var matMulBlocksOp = spec.Declaration{Define: func() *spec.Op {
	return quantisation.DefineMatMulBlocks("matmul_blocks",
		"Multiplies vectors by the transpose of a matrix whose rows are blocks of quantised weights, as GGUF stores them.",
		func(c *MatMulBlocks) string { return c.Format },
		func(format string) *MatMulBlocks { return &MatMulBlocks{format} })
}}
