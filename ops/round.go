package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Round is the integer nearest to each element, the even one of two, as IEEE 754
// rounds by default. (The scalar round of package tensor takes ties away from 0.)
type Round struct{}

// Spec returns the declaration.
func (Round) Spec() *spec.Op { return roundOp }

var roundOp = newUnary(unary{
	name: "round", shader: "math/round", call: Round{},
	doc: "The integer nearest to each element; of two, the even one.",
	f:   math.RoundToEven,
	why: "it rounds to integers, exactly", low: -100, high: 100, flops: 1,
})
