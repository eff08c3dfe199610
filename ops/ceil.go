package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Ceil is the least integer not below each element.
type Ceil struct{}

// Spec returns the declaration.
func (Ceil) Spec() *spec.Op { return ceilOp }

var ceilOp = newUnary(unary{
	name: "ceil", shader: "math/ceil", call: Ceil{},
	doc: "The least integer not below each element.",
	f:   math.Ceil,
	why: "it rounds nothing", low: -100, high: 100, flops: 1,
})
