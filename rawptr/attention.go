package rawptr

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// Attention computes softmax(q·kᵀ·scale)·v for each head of each batch. q and o are
// [batch, heads, seqQ, headDim], k and v are [batch, heads, seqKV, headDim], all row-major and of F32. The
// scale multiplies the scores. It is finite and above 0.
//
// With causal, query i sees the keys up to i + seqKV − seqQ, so that the last query sees all of them. What lies in
// other keys and values, such as NaN, does not reach the result. The row of a query that sees no key is zeros.
//
// Memory does not grow with seqQ·seqKV. Without queries or columns Attention is a no-op.
// Errors: ErrInvalidArgument (sizes, scale, range, overlap of o), *LimitError, ErrOutOfMemory, ErrNotInitialized,
// ErrClosed.
func (d *Device) Attention(q, k, v, o Ptr, batch, heads, seqQ, seqKV, headDim int, scale float32, causal bool) error {
	c := d.begin("attention")
	defer c.end()
	for _, x := range []struct {
		name string
		n    int
	}{{"batch", batch}, {"heads", heads}, {"seqQ", seqQ}, {"seqKV", seqKV}, {"headDim", headDim}} {
		c.count(x.name, x.n)
	}
	if s := float64(scale); !(s > 0) || math.IsInf(s, 0) {
		c.invalid("scale (got %v, want a finite number above 0)", scale)
	}
	rows := func(name string, p Ptr, seq int) session.Tensor {
		return c.operand(name, p, tensor.Contiguous(tensor.F32, batch, heads, seq, headDim))
	}
	x, y, z, out := rows("q", q, seqQ), rows("k", k, seqKV), rows("v", v, seqKV), rows("o", o, seqQ)
	return c.run(ops.Attention{Scale: float64(scale), Causal: causal}, out, x, y, z)
}
