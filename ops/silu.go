package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// SiLU is x·sigmoid(x) of each element, and 0 of −Inf, the limit.
type SiLU struct{}

// Spec returns the declaration.
func (SiLU) Spec() *spec.Op { return siluOp }

var siluOp = newUnary(unary{
	name: "silu", shader: "nn/silu", call: SiLU{},
	aliases: []string{"swish"},
	source:  "Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units, 2017",
	doc:     "x·sigmoid(x) of each element; 0 of −Inf, the limit.",
	f: func(x float64) float64 {
		if math.IsInf(x, -1) {
			return 0
		}
		return x / (1 + math.Exp(-x))
	},
	ulps: 8,
	why:  "an exponential, a sum, a quotient and a product are rounded", low: -20, high: 20, flops: 17,
})
