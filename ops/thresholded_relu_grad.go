package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ThresholdedReLUGrad is the gradient of ThresholdedReLU: dy where x is above Alpha, NaN where x is NaN, and 0
// elsewhere.
type ThresholdedReLUGrad struct {
	Alpha float64 `attr:"alpha" doc:"the threshold"`
}

// Spec returns the declaration.
func (ThresholdedReLUGrad) Spec() *spec.Op { return thresholdedReLUGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x is zero.
func (c ThresholdedReLUGrad) Gradient(t *spec.Tape) {
	second(t, c, nil)
}

var thresholdedReLUGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradientWith(elementwise.Gradient{
		Name: "thresholded_relu_grad", Shader: "nn/thresholded_relu_grad",
		Source: "Konda, Memisevic and Krueger, Zero-Bias Autoencoders and the Benefits of Co-Adapting Features, 2015",
		Doc:    "The gradient of thresholded_relu: dy where x is above alpha, NaN where x is NaN, and 0 elsewhere.",
		Why:    "it rounds nothing", Flops: 1,
	}, elementwise.GradientNumbers[*ThresholdedReLUGrad]{
		F: func(x, dy float64, n [2]float64) float64 {
			switch {
			case math.IsNaN(x):
				return x
			case x > n[0]:
				return dy
			}
			return 0
		},
		Numbers: elementwise.Numbers[*ThresholdedReLUGrad]{
			Of: func(c *ThresholdedReLUGrad) [2]float64 { return [2]float64{c.Alpha} },
			Check: func(c *ThresholdedReLUGrad) error {
				if !isFinite(c.Alpha) {
					return planner.Invalid("alpha (got %v, want a finite number)", c.Alpha)
				}
				return nil
			},
			Defaults: &ThresholdedReLUGrad{Alpha: 1},
			Calls:    []*ThresholdedReLUGrad{{Alpha: -0.5}, {Alpha: spec.Given(0.0)}},
			Invalid:  []*ThresholdedReLUGrad{{Alpha: math.NaN()}, {Alpha: math.Inf(1)}},
		},
	})
}}
