package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Erf is the error function of each element.
type Erf struct{}

// Spec returns the declaration.
func (Erf) Spec() *spec.Op { return erfOp }

var erfOp = newUnary(unary{
	name: "erf", shader: "math/erf", call: Erf{},
	doc:  "The error function of each element.",
	f:    math.Erf,
	ulps: 8,
	abs:  1,
	why:  "a polynomial, and an exponential beyond 1, are rounded", low: -4, high: 4, flops: 20,
})
