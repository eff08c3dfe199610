package ops

import (
	"github.com/lathe-gpu/lathe/spec"
)

// Add is the sum of two tensors, broadcast together. Integers wrap.
type Add struct{}

// Spec returns the declaration.
func (Add) Spec() *spec.Op { return addOp }

var addOp = newBinary(pairwise{
	name: "add", call: Add{}, dtypes: arithmetic,
	doc:  "Sums, with broadcasting. Integers wrap.",
	f:    func(a, b float64) float64 { return a + b },
	ulps: 1, why: "one rounding, in whichever direction the device rounds", low: -100, high: 100,
})
