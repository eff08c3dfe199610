package ops

import (
	"github.com/lathe-gpu/lathe/spec"
)

// Div is the quotient in / b of two tensors, broadcast together.
type Div struct{}

// Spec returns the declaration.
func (Div) Spec() *spec.Op { return divOp }

var divOp = newBinary(pairwise{
	name: "div", call: Div{}, dtypes: floats,
	doc:  "Quotients in / b, with broadcasting.",
	f:    func(a, b float64) float64 { return a / b },
	ulps: 3, why: "devices divide to 2.5 units of the last place", low: -100, high: 100,
})
