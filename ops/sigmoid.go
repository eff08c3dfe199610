package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Sigmoid is the logistic function 1/(1 + e⁻ˣ) of each element.
type Sigmoid struct{}

// Spec returns the declaration.
func (Sigmoid) Spec() *spec.Op { return sigmoidOp }

var sigmoidOp = newUnary(unary{
	name: "sigmoid", shader: "nn/sigmoid", call: Sigmoid{},
	doc:  "The logistic function 1/(1 + e^−x) of each element.",
	f:    func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	ulps: 8,
	why:  "an exponential, a sum and a quotient are rounded", low: -20, high: 20, flops: 16,
})
