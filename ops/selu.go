package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// SELU is the scaled exponential linear unit: Gamma·x for each element x, and Gamma·Alpha·(e^x − 1) where x is
// below 0.
type SELU struct {
	Alpha float64 `attr:"alpha" onnx:"alpha" doc:"minus the limit for x to −∞, before it is scaled"`
	Gamma float64 `attr:"gamma" onnx:"gamma" doc:"the scale"`
}

// Spec returns the declaration.
func (SELU) Spec() *spec.Op { return seluOp.Op() }

// Gradient declares the gradient, by SELUGrad.
func (c SELU) Gradient(t *spec.Tape) {
	derivative(t, SELUGrad(c))
}

var seluOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnaryWith(elementwise.Unary{
		Name: "selu", Shader: "nn/selu", ONNX: []string{"Selu"},
		Source: "Klambauer and others, Self-Normalizing Neural Networks, 2017",
		Doc:    "gamma·x for each element x, and gamma·alpha·(e^x − 1) where x is below 0.",
		Ulps:   7,
		Why:    "e^x − 1 is off by 4 units, and two products are rounded", Low: -10, High: 10, Flops: 15,
	}, elementwise.Numbers[*SELU]{
		Of: func(c *SELU) [2]float64 { return [2]float64{c.Alpha, c.Gamma} },
		F: func(x float64, n [2]float64) float64 {
			if x < 0 {
				return n[1] * (n[0] * math.Expm1(x))
			}
			return n[1] * x
		},
		Check: func(c *SELU) error {
			if !isFinite(c.Alpha) || !isFinite(c.Gamma) {
				return planner.Invalid("alpha and gamma (got %v and %v, want finite numbers)", c.Alpha, c.Gamma)
			}
			return nil
		},
		Defaults: &SELU{Alpha: 1.67326319217681884765625, Gamma: 1.05070102214813232421875},
		Calls:    []*SELU{{Alpha: 0.5, Gamma: 2.1}},
		Invalid:  []*SELU{{Alpha: math.NaN(), Gamma: 1}, {Alpha: 1, Gamma: math.Inf(1)}},
	})
}}
