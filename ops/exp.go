package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Exp is eˣ of each element.
type Exp struct{}

// Spec returns the declaration.
func (Exp) Spec() *spec.Op { return expOp }

var expOp = newUnary(unary{
	name: "exp", shader: "math/exp", call: Exp{},
	doc:  "The exponential of each element.",
	f:    math.Exp,
	ulps: 4,
	why:  "the remainder of the reduction, a polynomial of degree 7 (14 in f64) and a product are rounded", low: -20, high: 20, flops: 12,
})
