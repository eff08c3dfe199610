package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// SELUGrad is the gradient of SELU: Gamma·dy, or Gamma·Alpha·e^x·dy where x is below 0.
type SELUGrad struct {
	Alpha float64 `attr:"alpha" doc:"minus the limit of the function for x to −∞, before it is scaled"`
	Gamma float64 `attr:"gamma" doc:"the scale"`
}

// Spec returns the declaration.
func (SELUGrad) Spec() *spec.Op { return seluGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative, the first one where x is below 0, and else 0.
func (c SELUGrad) Gradient(t *spec.Tape) {
	second(t, c, func(x spec.Value) spec.Value {
		return where(t, negative(t, x), t.Call(c, x, ones(t, x)))
	})
}

var seluGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradientWith(elementwise.Gradient{
		Name: "selu_grad", Shader: "nn/selu_grad",
		Source: "Klambauer and others, Self-Normalizing Neural Networks, 2017",
		Doc:    "The gradient of selu: gamma·dy, or gamma·alpha·e^x·dy where x is below 0.",
		Ulps:   7, Why: "an exponential is off by 4 units, and three products are rounded", Flops: 15,
	}, elementwise.GradientNumbers[*SELUGrad]{
		F: func(x, dy float64, n [2]float64) float64 {
			switch {
			case math.IsNaN(x):
				return x
			case x < 0:
				return dy * (n[1] * n[0] * math.Exp(x))
			}
			return dy * n[1]
		},
		Numbers: elementwise.Numbers[*SELUGrad]{
			Of: func(c *SELUGrad) [2]float64 { return [2]float64{c.Alpha, c.Gamma} },
			Check: func(c *SELUGrad) error {
				if !isFinite(c.Alpha) || !isFinite(c.Gamma) {
					return planner.Invalid("alpha and gamma (got %v and %v, want finite numbers)", c.Alpha, c.Gamma)
				}
				return nil
			},
			Defaults: &SELUGrad{Alpha: 1.67326319217681884765625, Gamma: 1.05070102214813232421875},
			Calls:    []*SELUGrad{{Alpha: 0.5, Gamma: 2.1}},
			Invalid:  []*SELUGrad{{Alpha: math.NaN(), Gamma: 1}, {Alpha: 1, Gamma: math.Inf(1)}},
		},
	})
}}
