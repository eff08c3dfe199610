// Package hir has the blocks that networks are written in. A block adds calls to a graph, and nothing else: what it computes can be
// read in its function, and the compiler sees the calls. Weights of products are [inputs, outputs], so that a block computes x·W.
//
// Blocks return no errors. A mistake, such as a weight of another shape, is one of the graph: see graph.Graph.Err.
package hir

import (
	"fmt"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// Activation is a function of single elements, such as (*graph.Graph).GELU.
type Activation = func(g *graph.Graph, x *graph.Value) *graph.Value

// Linear is x·weight + bias, and then the activation. x is [..., n], weight [n,m] and bias [m]. Bias and activation may be nil.
func Linear(g *graph.Graph, x, weight, bias *graph.Value, activation Activation) *graph.Value {
	y := g.MatMul(x, weight)
	if bias != nil {
		y = g.Add(y, bias)
	}
	if activation != nil {
		y = activation(g, y)
	}
	return y
}

// SwiGLU is (silu(x·gate) ⊙ x·up)·down, the gated network of Shazeer, GLU Variants Improve Transformer, 2020. x is [..., n], gate and up are
// [n,m], and down is [m,n].
func SwiGLU(g *graph.Graph, x, gate, up, down *graph.Value) *graph.Value {
	return g.MatMul(g.Mul(g.SiLU(g.MatMul(x, gate)), g.MatMul(x, up)), down)
}

// ResidualRMSNorm is sum = x + residual, and the RMS norm of sum over its last dimension with the weights gamma.
func ResidualRMSNorm(g *graph.Graph, x, residual, gamma *graph.Value, eps float64) (sum, norm *graph.Value) {
	sum = g.Add(x, residual)
	return sum, g.Call(ops.RMSNorm{Dim: -1, Eps: eps}, sum, gamma)[0]
}

// ResidualLayerNorm is sum = x + residual, and the layer norm of sum over its last dimension with the weights gamma and beta.
func ResidualLayerNorm(g *graph.Graph, x, residual, gamma, beta *graph.Value, eps float64) (sum, norm *graph.Value) {
	sum = g.Add(x, residual)
	return sum, g.Call(ops.LayerNorm{Eps: eps}, sum, gamma, beta)[0]
}

// RoPE rotates pairs of elements of x, [..., positions, d], by angles that grow with the position (Su and others, RoFormer, 2021). Element i of the
// first half of a row and element i of the second half are a pair, as in Llama. cos and sin are [positions, d/2]: see Angles.
func RoPE(g *graph.Graph, x, cos, sin *graph.Value) *graph.Value {
	shape := x.Shape()
	if len(shape) == 0 { // a mistake, which Mul collects
		return g.Mul(x, cos)
	}
	half := shape[len(shape)-1] / 2
	a, b := x.Narrow(-1, 0, half), x.Narrow(-1, half, half)
	return g.Concat(-1, g.Sub(g.Mul(a, cos), g.Mul(b, sin)), g.Add(g.Mul(b, cos), g.Mul(a, sin)))
}

// Angles returns the cosines and sines of RoPE for n positions from first on and rows of d elements, as F32 [n, d/2]. The angle of pair i at
// position p is p·base^(−2i/d). base is often 10000.
// Errors: ErrInvalidArgument for a negative n, an odd or negative d, and more than 2²⁶ angles.
func Angles(first, n, d int, base float64) (cos, sin *tensor.Host, err error) {
	const most = 1 << 26
	if n < 0 || d < 0 || d%2 != 0 || n > most || d > most || uint64(n)*uint64(d)/2 > most {
		return nil, nil, fmt.Errorf("hir: angles: %w: %d positions of %d elements (want an even number of elements, and at most %d angles)", errs.ErrInvalidArgument, n, d, most)
	}
	half := d / 2
	c, s := make([]float64, n*half), make([]float64, n*half)
	for p := range n {
		for i := range half {
			angle := float64(first+p) * math.Pow(base, -2*float64(i)/float64(d))
			s[p*half+i], c[p*half+i] = math.Sincos(angle)
		}
	}
	cos, sin = tensor.NewHost(tensor.Contiguous(tensor.F32, n, half)), tensor.NewHost(tensor.Contiguous(tensor.F32, n, half))
	cos.SetFloats(c)
	sin.SetFloats(s)
	return cos, sin, nil
}

// AttentionWeights are the weights of an Attention. With d elements a row, h heads and k heads of keys and values, Q is [d, d], K and V are
// [d, d·k/h], and O is [d, d].
type AttentionWeights struct{ Q, K, V, O *graph.Value }

// Heads says how an Attention divides rows. KV is the number of heads of keys and values, each of which serves Q/KV heads of queries (Ainslie and
// others, GQA, 2023). 0 means Q.
type Heads struct{ Q, KV int }

// Attention is causal self-attention of x, [..., positions, d]. Queries and keys are rotated by RoPE if cos is not nil.
func Attention(g *graph.Graph, x *graph.Value, w AttentionWeights, h Heads, cos, sin *graph.Value) *graph.Value {
	shape := x.Shape()
	if h.KV == 0 {
		h.KV = h.Q
	}
	if len(shape) < 2 || h.Q < 1 || h.KV < 1 || h.Q%h.KV != 0 || shape[len(shape)-1]%h.Q != 0 {
		// No heads divide such rows. The reshape below collects the mistake.
		return x.Reshape(append(slices.Clone(shape), max(h.Q, 2), -1)...)
	}
	before, n, d := shape[:len(shape)-2], shape[len(shape)-2], shape[len(shape)-1]
	size := d / h.Q
	// split makes [..., kv, group, positions, size] of [..., positions, kv·group·size].
	split := func(v *graph.Value, group int) *graph.Value {
		v = v.Reshape(append(slices.Clone(before), n, h.KV, group, size)...)
		perm := make([]int, len(before), len(before)+4)
		for i := range perm {
			perm[i] = i
		}
		return v.Transpose(append(perm, -3, -2, -4, -1)...)
	}
	q, k, v := split(g.MatMul(x, w.Q), h.Q/h.KV), split(g.MatMul(x, w.K), 1), split(g.MatMul(x, w.V), 1)
	if cos != nil {
		q, k = RoPE(g, q, cos, sin), RoPE(g, k, cos, sin)
	}
	a := g.Call(ops.Attention{Scale: 1 / math.Sqrt(float64(size)), Causal: true}, q, k, v)[0]
	perm := make([]int, len(before), len(before)+4)
	for i := range perm {
		perm[i] = i
	}
	return g.MatMul(a.Transpose(append(perm, -2, -4, -3, -1)...).Reshape(shape...), w.O)
}

// LlamaWeights are the weights of a LlamaBlock.
type LlamaWeights struct {
	// AttentionNorm and FeedForwardNorm are [d].
	AttentionNorm, FeedForwardNorm *graph.Value
	Attention                      AttentionWeights
	// Gate, Up and Down are those of SwiGLU.
	Gate, Up, Down *graph.Value
}

// LlamaBlock is a decoder block of Llama (Touvron and others, 2023): attention of the RMS norm of x is added to x, and SwiGLU of the RMS norm of
// that is added too. x is [..., positions, d].
func LlamaBlock(g *graph.Graph, x *graph.Value, w LlamaWeights, h Heads, eps float64, cos, sin *graph.Value) *graph.Value {
	norm := g.Call(ops.RMSNorm{Dim: -1, Eps: eps}, x, w.AttentionNorm)[0]
	sum, norm := ResidualRMSNorm(g, x, Attention(g, norm, w.Attention, h, cos, sin), w.FeedForwardNorm, eps)
	return g.Add(sum, SwiGLU(g, norm, w.Gate, w.Up, w.Down))
}
