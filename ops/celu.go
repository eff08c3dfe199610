package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// CELU is the continuously differentiable exponential linear unit: x for each element x, and
// Alpha·(e^(x/Alpha) − 1) where x is below 0.
type CELU struct {
	Alpha float64 `attr:"alpha" onnx:"alpha" doc:"minus the limit for x to −∞, above 0"`
}

// Spec returns the declaration.
func (CELU) Spec() *spec.Op { return celuOp.Op() }

// Gradient declares the gradient, by CELUGrad.
func (c CELU) Gradient(t *spec.Tape) {
	derivative(t, CELUGrad(c))
}

var celuOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnaryWith(elementwise.Unary{
		Name: "celu", Shader: "nn/celu", ONNX: []string{"Celu"},
		Source: "Barron, Continuously Differentiable Exponential Linear Units, 2017",
		Doc:    "x for each element x, and alpha·(e^(x/alpha) − 1) where x is below 0.",
		Ulps:   9,
		Why:    "a quotient is off by 2.5 units and e^x − 1 by 4, and a product of them is rounded", Low: -10, High: 10, Flops: 15,
	}, elementwise.Numbers[*CELU]{
		Of: func(c *CELU) [2]float64 { return [2]float64{c.Alpha} },
		F: func(x float64, n [2]float64) float64 {
			if x < 0 {
				return n[0] * math.Expm1(x/n[0])
			}
			return x
		},
		Check: func(c *CELU) error {
			if !(float32(c.Alpha) >= 0x1p-126) || !isFinite(c.Alpha) {
				return planner.Invalid("alpha (got %v, want a finite number of at least 2^-126)", c.Alpha)
			}
			return nil
		},
		Defaults: &CELU{Alpha: 1},
		Calls:    []*CELU{{Alpha: 0.3}, {Alpha: 7}},
		Invalid:  []*CELU{{Alpha: math.NaN()}, {Alpha: math.Inf(1)}, {Alpha: -1}, {Alpha: 1e-300}},
	})
}}
