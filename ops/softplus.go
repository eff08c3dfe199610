package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Softplus is ln(1 + eˣ) of each element.
type Softplus struct{}

// Spec returns the declaration.
func (Softplus) Spec() *spec.Op { return softplusOp }

var softplusOp = newUnary(unary{
	name: "softplus", shader: "nn/softplus", call: Softplus{},
	doc:  "ln(1 + e^x) of each element; it overflows nowhere.",
	f:    func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
	ulps: 8,
	why:  "an exponential, a logarithm and a sum are rounded", low: -20, high: 20, flops: 30,
})
