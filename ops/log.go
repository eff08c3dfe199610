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
	f:    naturalLog,
	ulps: 4,
	abs:  1,
	why:  "a quotient, a polynomial and the sum with a multiple of ln 2 are rounded", low: 0.001, high: 100, flops: 14,
})

// naturalLog is math.Log, which on some processors takes the exponent of a
// subnormal number from its bits, where it is not.
func naturalLog(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}
