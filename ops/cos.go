package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Cos is the cosine of each element, in radians. F64 takes |x| ≤ 2²⁷, and gives NaN
// beyond; the other types take any x.
type Cos struct{}

// Spec returns the declaration.
func (Cos) Spec() *spec.Op { return cosOp }

var cosOp = newUnary(unary{
	name: "cos", shader: "math/cos", call: Cos{},
	doc:  "The cosine of each element, in radians; in f64 of |x| ≤ 2^27, and NaN beyond.",
	f:    math.Cos,
	ulps: 4,
	abs:  1,
	why:  "the argument is reduced exactly, and a polynomial rounded", low: -100, high: 100, flops: 20,
})
