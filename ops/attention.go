package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Attention is scaled dot-product attention, softmax(q·kᵀ·scale + mask)·v. The shapes are
// q [..., sq,d], k [..., skv,d] and v [..., skv,dv]. The mask is added to the scores and can
// be broadcast to [..., sq,skv]. The result has the leading dimensions of q. Those of k, v
// and the mask are broadcast to them. A row of the result is zeros if there are no keys, or
// if the mask is −∞ for all of them. The temporary memory does not grow with sq·skv.
//
// With Causal, query i sees the keys up to i + skv − sq, so that the last query sees all of them. is_causal of ONNX counts from
// the first query instead: it is the same if sq is skv. Keys that a query does not see do not matter: NaN and
// infinities in them or in their values do not reach its row. A query that sees no key gives a row of zeros.
//
// kv_lengths (nonpad_kv_seqlen of ONNX, opset 24) says how many keys there are, n of skv: for each index of the first dimension of q, or for all. The
// rest of k and v is memory for more, and what lies there does not matter. With Causal, query i then sees the keys up to i + n − sq. It is
// read on the device, so the same call serves all steps of a decoder: see TensorScatter. With at most four queries only these keys are read, and the time grows with them. A number below 0 counts as 0, and one above skv as skv.
//
// If groups of query heads share a head of keys and values, give q the shape [batch, heads of keys, group, sq,d], and k and v
// [batch, heads of keys, 1, skv,d]. Nothing is copied for that.
type Attention struct {
	Scale  float64 `attr:"scale" onnx:"scale" doc:"the factor of the scores, often 1/√d; any finite number"`
	Causal bool    `attr:"causal" doc:"query i sees only the keys up to i + skv − sq"`
}

// Spec returns the declaration.
func (Attention) Spec() *spec.Op { return attentionOp.Op() }

// Gradient declares the gradients. It computes the probabilities p again, which take memory that grows with sq·skv: with ds the gradient of the
// scores, that of v is pᵀ·dy, that of q is ds·k·scale, that of k is dsᵀ·q·scale, and that of the mask is ds. With kv_lengths there is none.
func (c Attention) Gradient(t *spec.Tape) {
	dy, q, k, v := t.Gradient(0), t.In(0), t.In(1), t.In(2)
	if dy == spec.NoValue {
		return
	}
	if t.In(4) != spec.NoValue {
		t.Refuse("kv_lengths (want none)")
		return
	}
	scores := scaled(t, t.Call(MatMul{TransB: true}, q, k), c.Scale)
	if t.In(3) != spec.NoValue {
		scores = sum(t, scores, t.In(3))
	}
	if c.Causal {
		sq, skv := t.Shape(q)[len(t.Shape(q))-2], t.Shape(k)[len(t.Shape(k))-2]
		unseen := t.Call(Trilu{K: skv - sq + 1}, t.Call(Fill{Value: 1, DType: tensor.Bool, Shape: []int{sq, skv}}))
		scores = t.Call(Where{}, unseen, t.Scalar(math.Inf(-1), q), scores)
	}
	p := t.Call(Softmax{Dim: -1}, scores)
	if t.Needs(2) {
		t.SetGradient(2, t.Call(MatMul{TransA: true}, p, dy))
	}
	if !t.Needs(0) && !t.Needs(1) && !t.Needs(3) {
		return
	}
	ds := t.Call(SoftmaxGrad{Dim: -1}, p, t.Call(MatMul{TransB: true}, dy, v))
	if t.Needs(0) {
		t.SetGradient(0, scaled(t, t.Call(MatMul{}, ds, k), c.Scale))
	}
	if t.Needs(1) {
		t.SetGradient(1, scaled(t, t.Call(MatMul{TransA: true}, ds, q), c.Scale))
	}
	t.SetGradient(3, ds)
}

var attentionOp = spec.Declaration{Define: func() *spec.Op {
	return gemm.DefineAttention(gemm.Attention[*Attention]{
		Name: "attention", ONNX: []string{"Attention"},
		Doc:      "Scaled dot-product attention, softmax(q·kᵀ·scale + mask)·v, in bounded memory.",
		Source:   "Vaswani et al. 2017; online softmax of Milakov and Gimelshein 2018",
		Defaults: &Attention{Scale: 0.125},
		Scale:    func(c *Attention) float64 { return c.Scale },
		Causal:   func(c *Attention) bool { return c.Causal },
		Calls:    []*Attention{{Scale: -1}, {Scale: spec.Given(0.0)}, {Scale: 0.125, Causal: true}},
		Invalid:  []*Attention{{Scale: math.NaN()}, {Scale: math.Inf(1)}, {Scale: math.Inf(-1)}, {Scale: 1e300}},
	})
}}
