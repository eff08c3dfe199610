package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// SwishGrad is the gradient of Swish: dy times s(t)·(1 + t·s(−t)) with t = Alpha·x, where s is the
// logistic function. The derivative is 0 for t = −Inf and 1 for t = +Inf.
type SwishGrad struct {
	Alpha float64 `attr:"alpha" doc:"the factor of x in the sigmoid"`
}

// Spec returns the declaration.
func (SwishGrad) Spec() *spec.Op { return swishGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x has the second derivative, alpha·s'·(2 + z·(1 − 2s)) with z = alpha·x.
func (c SwishGrad) Gradient(t *spec.Tape) {
	second(t, c, func(x spec.Value) spec.Value {
		return curvedSwish(t, x, c.Alpha)
	})
}

var swishGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradientWith(elementwise.Gradient{
		Name: "swish_grad", Shader: "nn/swish_grad",
		Source: "Ramachandran, Zoph and Le, Searching for Activation Functions, 2017",
		Doc:    "The gradient of swish: dy times s(t)·(1 + t·s(−t)) with t = alpha·x, where s is the logistic function. The derivative is 0 for t = −∞ and 1 for t = ∞.",
		Ulps:   10, Abs: 22, Why: "as that of silu; the rounding of t counts at most t·½, which the derivative of it makes less than 1, and dy is up to 6", Flops: 21,
	}, elementwise.GradientNumbers[*SwishGrad]{
		F: func(x, dy float64, n [2]float64) float64 {
			t := n[0] * x
			if math.Abs(t) > 1000 { // at infinities too
				if t > 0 {
					return dy
				}
				return dy * 0
			}
			return dy * (1/(1+math.Exp(-t)) + t/(1+math.Exp(-t))/(1+math.Exp(t)))
		},
		Numbers: elementwise.Numbers[*SwishGrad]{
			Of: func(c *SwishGrad) [2]float64 { return [2]float64{c.Alpha} },
			Check: func(c *SwishGrad) error {
				if !isFinite(c.Alpha) {
					return planner.Invalid("alpha (got %v, want a finite number)", c.Alpha)
				}
				return nil
			},
			Defaults: &SwishGrad{Alpha: 1},
			Calls:    []*SwishGrad{{Alpha: 1.702}, {Alpha: -0.5}},
			Invalid:  []*SwishGrad{{Alpha: math.NaN()}, {Alpha: math.Inf(1)}},
		},
	})
}}
