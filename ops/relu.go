package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// ReLU is the rectifier, max(x, 0) of each element.
type ReLU struct{}

// Spec returns the declaration.
func (ReLU) Spec() *spec.Op { return reluOp }

var reluOp = newUnary(unary{
	name: "relu", shader: "nn/relu", call: ReLU{},
	doc: "The rectifier: the larger of each element and 0. NaN stays NaN.",
	f: func(x float64) float64 {
		if x > 0 || math.IsNaN(x) {
			return x
		}
		return 0
	},
	why: "it rounds nothing", low: -4, high: 4,
})
