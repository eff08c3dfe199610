package ops

import (
	"github.com/lathe-gpu/lathe/spec"
)

// Mul is the product, element by element, of two tensors, broadcast together.
type Mul struct{}

// Spec returns the declaration.
func (Mul) Spec() *spec.Op { return mulOp }

var mulOp = newBinary(pairwise{
	name: "mul", call: Mul{}, dtypes: floats,
	doc:  "Products of elements, with broadcasting.",
	f:    func(a, b float64) float64 { return a * b },
	ulps: 1, why: "one rounding, in whichever direction the device rounds", low: -100, high: 100,
})
