package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Pow is in to the power b, broadcast together, by the rules of C99 (annex F.9.4.4).
type Pow struct{}

// Spec returns the declaration.
func (Pow) Spec() *spec.Op { return powOp }

var powOp = newBinary(pairwise{
	name: "pow", call: Pow{}, dtypes: floats,
	doc:  "Powers in^b, with broadcasting.",
	f:    math.Pow,
	ulps: 4, why: "the logarithm is kept as a sum of two numbers, and the exponential is off by a few units", low: -6, high: 6, flops: 40,
})
