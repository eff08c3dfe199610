package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
)

// Log is the natural logarithm of each element: −Inf of 0, NaN of what is below.
type Log struct{}

// Spec returns the declaration.
func (Log) Spec() *spec.Op { return logOp }

var logOp = newUnary(unary{
	name: "log", shader: "math/log", call: Log{},
	doc:  "The natural logarithm of each element.",
	f:    math.Log,
	ulps: 4,
	abs:  1,
	why:  "a quotient, a polynomial and the sum with a multiple of ln 2 are rounded", low: 0.001, high: 100, flops: 14,
})
