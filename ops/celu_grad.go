package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// CELUGrad is the gradient of CELU: dy, or e^(x/Alpha)·dy where x is below 0.
type CELUGrad struct {
	Alpha float64 `attr:"alpha" doc:"minus the limit of the function for x to −∞"`
}

// Spec returns the declaration.
func (CELUGrad) Spec() *spec.Op { return celuGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative, the first one over alpha where x is below 0, and else 0.
func (c CELUGrad) Gradient(t *spec.Tape) {
	second(t, c, func(x spec.Value) spec.Value {
		return where(t, negative(t, x), scaled(t, t.Call(c, x, ones(t, x)), 1/c.Alpha))
	})
}

var celuGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradientWith(elementwise.Gradient{
		Name: "celu_grad", Shader: "nn/celu_grad",
		Source: "Barron, Continuously Differentiable Exponential Linear Units, 2017",
		Doc:    "The gradient of celu: dy, or e^(x/alpha)·dy where x is below 0.",
		Ulps:   6, Abs: 6, Why: "an exponential is off by 4 units, and a product is rounded; the quotient t is off by 2.5 units, which counts |t|·e^t, at most 0.37, times dy of up to 6", Flops: 16,
	}, elementwise.GradientNumbers[*CELUGrad]{
		F: func(x, dy float64, n [2]float64) float64 {
			switch {
			case math.IsNaN(x):
				return x
			case x < 0:
				return dy * math.Exp(x/n[0])
			}
			return dy
		},
		Numbers: elementwise.Numbers[*CELUGrad]{
			Of: func(c *CELUGrad) [2]float64 { return [2]float64{c.Alpha} },
			Check: func(c *CELUGrad) error {
				if !(float32(c.Alpha) >= 0x1p-126) || !isFinite(c.Alpha) {
					return planner.Invalid("alpha (got %v, want a finite number of at least 2^-126)", c.Alpha)
				}
				return nil
			},
			Defaults: &CELUGrad{Alpha: 1},
			Calls:    []*CELUGrad{{Alpha: 0.3}, {Alpha: 7}},
			Invalid:  []*CELUGrad{{Alpha: math.NaN()}, {Alpha: math.Inf(1)}, {Alpha: -1}, {Alpha: 1e-300}},
		},
	})
}}
