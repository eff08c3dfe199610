package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Log is the natural logarithm of each element. It is −Inf for 0 and NaN for negative
// elements.
type Log struct{}

// Spec returns the declaration.
func (Log) Spec() *spec.Op { return logOp.Op() }

// Gradient declares the gradient, dy/x.
func (Log) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, over(t, dy, x))
}

var logOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Log](elementwise.Unary{
		Name: "log", Shader: "math/log", ONNX: []string{"Log"},
		Doc:  "The natural logarithm of each element: −Inf for 0, and NaN for negative elements.",
		F:    naturalLog,
		Ulps: 4,
		Abs:  1,
		Why:  "a quotient, a polynomial and the sum with a multiple of ln 2 are rounded", Low: 0.001, High: 100, Flops: 14,
	})
}}

// naturalLog is math.Log with subnormal numbers made normal first. On some processors
// math.Log reads the exponent of a subnormal number from its bits, which do not hold it.
func naturalLog(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}
