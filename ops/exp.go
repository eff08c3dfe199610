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
	f:    exponential,
	ulps: 4,
	why:  "the remainder of the reduction, a polynomial of degree 7 (14 in f64) and a product are rounded", low: -20, high: 20, flops: 12,
})

// exponential is eˣ. Go's own overflows too early on some processors, from 709.4
// on, and is not asked for more than half the way.
func exponential(x float64) float64 {
	if x > 700 && x < 710 {
		return math.Exp(x/2) * math.Exp(x-x/2)
	}
	return math.Exp(x)
}
