package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// HardSigmoidGrad is the gradient of HardSigmoid: Alpha·dy where Alpha·x + Beta, rounded as HardSigmoid rounds it,
// is above 0 and below 1, NaN where it is NaN, and 0 elsewhere.
type HardSigmoidGrad struct {
	Alpha float64 `attr:"alpha" doc:"the slope"`
	Beta  float64 `attr:"beta" doc:"the value at 0"`
}

// Spec returns the declaration.
func (HardSigmoidGrad) Spec() *spec.Op { return hardSigmoidGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x is zero.
func (c HardSigmoidGrad) Gradient(t *spec.Tape) {
	second(t, c, nil)
}

var hardSigmoidGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradientWith(elementwise.Gradient{
		Name: "hard_sigmoid_grad", Shader: "nn/hard_sigmoid_grad",
		Doc:  "The gradient of hard_sigmoid: alpha·dy where alpha·x + beta, rounded as hard_sigmoid rounds it, is above 0 and below 1, NaN where it is NaN, and 0 elsewhere.",
		Ulps: 1, Why: "a product is rounded", Flops: 4,
	}, elementwise.GradientNumbers[*HardSigmoidGrad]{
		F: func(x, dy float64, n [2]float64) float64 {
			v := n[0]*x + n[1]
			switch {
			case math.IsNaN(v):
				return v
			case v <= 0, v >= 1:
				return 0
			}
			return n[0] * dy
		},
		Numbers: elementwise.Numbers[*HardSigmoidGrad]{
			Of: func(c *HardSigmoidGrad) [2]float64 { return [2]float64{c.Alpha, c.Beta} },
			Check: func(c *HardSigmoidGrad) error {
				if !isFinite(c.Alpha) || !isFinite(c.Beta) {
					return planner.Invalid("alpha and beta (got %v and %v, want finite numbers)", c.Alpha, c.Beta)
				}
				return nil
			},
			Defaults: &HardSigmoidGrad{Alpha: 0.2, Beta: 0.5},
			Calls:    []*HardSigmoidGrad{{Alpha: 1.0 / 6, Beta: 0.5}, {Alpha: -0.7, Beta: spec.Given(0.0)}},
			Invalid:  []*HardSigmoidGrad{{Alpha: math.NaN(), Beta: 1}, {Alpha: 1, Beta: math.Inf(1)}},
		},
	})
}}
