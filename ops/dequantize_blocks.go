package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/quantisation"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// DequantizeBlocks turns blocks of quantised weights, as GGUF stores them, into numbers. The input is U8
// [..., bytes], whose rows are whole blocks, byte for byte as in the file. The result is [..., k]. A block of
// q4_0 has 32 weights in 18 bytes, of q8_0 32 in 34, of q4_k 256 in 144, and of q6_k 256 in 210. The
// weights are exact in F32, but for one rounding in q4_k. F16 and BF16 round to nearest even.
type DequantizeBlocks struct {
	Format string       `attr:"format,required" doc:"q4_0, q8_0, q4_k or q6_k, in upper or lower case"`
	DType  tensor.DType `attr:"dtype,required" doc:"the element type of the result: f32, f16 or bf16"`
}

// Spec returns the declaration.
func (DequantizeBlocks) Spec() *spec.Op { return dequantizeBlocksOp.Op() }

var dequantizeBlocksOp = spec.Declaration{Define: func() *spec.Op {
	return quantisation.DefineDequantize("dequantize_blocks",
		"Turns blocks of quantised weights, as GGUF stores them, into numbers. Rows are whole blocks.",
		func(c *DequantizeBlocks) (string, tensor.DType) { return c.Format, c.DType },
		func(format string, d tensor.DType) *DequantizeBlocks { return &DequantizeBlocks{format, d} })
}}
