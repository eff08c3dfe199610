package ops

import (
	"github.com/lathe-gpu/lathe/spec"
)

// Reciprocal is 1/x of each element.
type Reciprocal struct{}

// Spec returns the declaration.
func (Reciprocal) Spec() *spec.Op { return reciprocalOp }

var reciprocalOp = newUnary(unary{
	name: "reciprocal", shader: "math/reciprocal", call: Reciprocal{},
	doc:  "One over each element; an infinity of 0.",
	f:    func(x float64) float64 { return 1 / x },
	ulps: 3,
	why:  "devices round a division to 2.5 units", low: -4, high: 4, flops: 1,
})
