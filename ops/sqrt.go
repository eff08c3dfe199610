package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Sqrt is the square root of each element, and NaN of what is below 0.
type Sqrt struct{}

// Spec returns the declaration.
func (Sqrt) Spec() *spec.Op { return sqrtOp }

var sqrtOp = newUnary(unary{
	name: "sqrt", shader: "math/sqrt", call: Sqrt{},
	doc:  "The square root of each element; NaN of what is below 0.",
	f:    math.Sqrt,
	ulps: 2,
	why:  "the root is rounded, and the division in its correction may be 2.5 units off", low: 0, high: 100, flops: 4,
})
