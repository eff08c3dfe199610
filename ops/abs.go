package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Abs is the magnitude of each element.
type Abs struct{}

// Spec returns the declaration.
func (Abs) Spec() *spec.Op { return absOp }

var absOp = newUnary(unary{
	name: "abs", shader: "math/abs", call: Abs{},
	doc: "The magnitude of each element.",
	f:   math.Abs,
	why: "it rounds nothing", low: -4, high: 4, flops: 1,
})
