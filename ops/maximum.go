package ops

import (
	"github.com/lathe-gpu/lathe/spec"
)

// Maximum is the larger of two elements, broadcast together; NaN if either is NaN. Of zeros of both signs it is either.
type Maximum struct{}

// Spec returns the declaration.
func (Maximum) Spec() *spec.Op { return maximumOp }

var maximumOp = newBinary(pairwise{
	name: "maximum", call: Maximum{}, dtypes: floats,
	doc:  "The larger of two elements, with broadcasting; NaN if either is NaN.",
	f:    larger,
	ulps: 0, why: "it rounds nothing", low: -100, high: 100,
})
