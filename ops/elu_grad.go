package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ELUGrad is the gradient of ELU: dy, or Alpha·e^x·dy where x is below 0.
type ELUGrad struct {
	Alpha float64 `attr:"alpha" doc:"minus the limit of the function for x to −∞"`
}

// Spec returns the declaration.
func (ELUGrad) Spec() *spec.Op { return eluGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative, the first one where x is below 0, and else 0.
func (c ELUGrad) Gradient(t *spec.Tape) {
	second(t, c, func(x spec.Value) spec.Value {
		return where(t, negative(t, x), t.Call(c, x, ones(t, x)))
	})
}

var eluGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradientWith(elementwise.Gradient{
		Name: "elu_grad", Shader: "nn/elu_grad",
		Source: "Clevert, Unterthiner and Hochreiter, Exponential Linear Units, 2016",
		Doc:    "The gradient of elu: dy, or alpha·e^x·dy where x is below 0.",
		Ulps:   6, Why: "an exponential is off by 4 units, and two products are rounded", Flops: 14,
	}, elementwise.GradientNumbers[*ELUGrad]{
		F: func(x, dy float64, n [2]float64) float64 {
			switch {
			case math.IsNaN(x):
				return x
			case x < 0:
				return dy * (n[0] * math.Exp(x))
			}
			return dy
		},
		Numbers: elementwise.Numbers[*ELUGrad]{
			Of: func(c *ELUGrad) [2]float64 { return [2]float64{c.Alpha} },
			Check: func(c *ELUGrad) error {
				if !isFinite(c.Alpha) {
					return planner.Invalid("alpha (got %v, want a finite number)", c.Alpha)
				}
				return nil
			},
			Defaults: &ELUGrad{Alpha: 1},
			Calls:    []*ELUGrad{{Alpha: 0.3}},
			Invalid:  []*ELUGrad{{Alpha: math.NaN()}, {Alpha: math.Inf(-1)}},
		},
	})
}}
