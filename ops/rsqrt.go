package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Rsqrt is 1/√x of each element: +Inf of 0, NaN of what is below.
type Rsqrt struct{}

// Spec returns the declaration.
func (Rsqrt) Spec() *spec.Op { return rsqrtOp }

var rsqrtOp = newUnary(unary{
	name: "rsqrt", shader: "math/rsqrt", call: Rsqrt{},
	doc:  "The reciprocal of the square root of each element.",
	f:    func(x float64) float64 { return 1 / math.Sqrt(x) },
	ulps: 8,
	why:  "a root and a division, which devices round to 3 units each", low: 0.001, high: 100, flops: 2,
})
