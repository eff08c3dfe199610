package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Sin is the sine of each element, in radians. F64 takes |x| ≤ 2²⁷, and gives NaN
// beyond; the other types take any x.
type Sin struct{}

// Spec returns the declaration.
func (Sin) Spec() *spec.Op { return sinOp }

var sinOp = newUnary(unary{
	name: "sin", shader: "math/sin", call: Sin{},
	doc:  "The sine of each element, in radians; in f64 of |x| ≤ 2^27, and NaN beyond.",
	f:    math.Sin,
	ulps: 4,
	abs:  1,
	why:  "the argument is reduced exactly, and a polynomial rounded", low: -100, high: 100, flops: 20,
})
