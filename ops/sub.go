package ops

import (
	"github.com/lathe-gpu/lathe/spec"
)

// Sub is the difference in - b of two tensors, broadcast together. Integers wrap.
type Sub struct{}

// Spec returns the declaration.
func (Sub) Spec() *spec.Op { return subOp }

var subOp = newBinary(pairwise{
	name: "sub", call: Sub{}, dtypes: arithmetic,
	doc:  "Differences in - b, with broadcasting. Integers wrap.",
	f:    func(a, b float64) float64 { return a - b },
	ulps: 1, why: "one rounding, in whichever direction the device rounds", low: -100, high: 100,
})
