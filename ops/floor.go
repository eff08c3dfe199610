package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Floor is the largest integer not above each element.
type Floor struct{}

// Spec returns the declaration.
func (Floor) Spec() *spec.Op { return floorOp }

var floorOp = newUnary(unary{
	name: "floor", shader: "math/floor", call: Floor{},
	doc: "The largest integer not above each element.",
	f:   math.Floor,
	why: "it rounds nothing", low: -100, high: 100, flops: 1,
})
