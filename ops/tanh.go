package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Tanh is the hyperbolic tangent of each element.
type Tanh struct{}

// Spec returns the declaration.
func (Tanh) Spec() *spec.Op { return tanhOp }

var tanhOp = newUnary(unary{
	name: "tanh", shader: "math/tanh", call: Tanh{},
	doc:  "The hyperbolic tangent of each element.",
	f:    math.Tanh,
	ulps: 8,
	why:  "an exponential less 1, a sum and a quotient are rounded", low: -10, high: 10, flops: 16,
})
