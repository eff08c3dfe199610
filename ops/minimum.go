package ops

import (
	"github.com/lathe-gpu/lathe/spec"
)

// Minimum is the smaller of two elements, broadcast together; NaN if either is NaN. Of zeros of both signs it is either.
type Minimum struct{}

// Spec returns the declaration.
func (Minimum) Spec() *spec.Op { return minimumOp }

var minimumOp = newBinary(pairwise{
	name: "minimum", call: Minimum{}, dtypes: floats,
	doc:  "The smaller of two elements, with broadcasting; NaN if either is NaN.",
	f:    func(a, b float64) float64 { return -larger(-a, -b) },
	ulps: 0, why: "it rounds nothing", low: -100, high: 100,
})
