package ops

import (
	"github.com/lathe-gpu/lathe/spec"
)

// Neg is the negative of each element.
type Neg struct{}

// Spec returns the declaration.
func (Neg) Spec() *spec.Op { return negOp }

var negOp = newUnary(unary{
	name: "neg", shader: "math/neg", call: Neg{},
	doc: "The negative of each element.",
	f:   func(x float64) float64 { return -x },
	why: "it rounds nothing", low: -4, high: 4, flops: 1,
})
