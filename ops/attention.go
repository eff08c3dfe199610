package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/spec"
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
type Attention struct {
	Scale  float64 `attr:"scale" onnx:"scale" doc:"the factor of the scores, often 1/√d; any finite number"`
	Causal bool    `attr:"causal" doc:"query i sees only the keys up to i + skv − sq"`
}

// Spec returns the declaration.
func (Attention) Spec() *spec.Op { return attentionOp.Op() }

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
