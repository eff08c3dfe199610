package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// LeakyReLUGrad is the gradient of LeakyReLU: dy, or Alpha·dy where x is below 0, and NaN where x is NaN.
type LeakyReLUGrad struct {
	Alpha float64 `attr:"alpha" doc:"the factor below 0"`
}

// Spec returns the declaration.
func (LeakyReLUGrad) Spec() *spec.Op { return leakyReLUGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x is zero.
func (c LeakyReLUGrad) Gradient(t *spec.Tape) {
	second(t, c, nil)
}

var leakyReLUGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradientWith(elementwise.Gradient{
		Name: "leaky_relu_grad", Shader: "nn/leaky_relu_grad",
		Source: "Maas, Hannun and Ng, Rectifier Nonlinearities Improve Neural Network Acoustic Models, 2013",
		Doc:    "The gradient of leaky_relu: dy, or alpha·dy where x is below 0, and NaN where x is NaN.",
		Ulps:   1, Why: "a product is rounded", Flops: 1,
	}, elementwise.GradientNumbers[*LeakyReLUGrad]{
		F: func(x, dy float64, n [2]float64) float64 {
			switch {
			case math.IsNaN(x):
				return x
			case x < 0:
				return n[0] * dy
			}
			return dy
		},
		Numbers: elementwise.Numbers[*LeakyReLUGrad]{
			Of: func(c *LeakyReLUGrad) [2]float64 { return [2]float64{c.Alpha} },
			Check: func(c *LeakyReLUGrad) error {
				if !isFinite(c.Alpha) {
					return planner.Invalid("alpha (got %v, want a finite number)", c.Alpha)
				}
				return nil
			},
			Defaults: &LeakyReLUGrad{Alpha: 0.01},
			Calls:    []*LeakyReLUGrad{{Alpha: -1.3}, {Alpha: spec.Given(0.0)}},
			Invalid:  []*LeakyReLUGrad{{Alpha: math.NaN()}, {Alpha: math.Inf(1)}},
		},
	})
}}
