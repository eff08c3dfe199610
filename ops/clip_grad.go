package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ClipGrad is the gradient of Clip: dy where x is at least Min and at most Max, NaN where x is NaN, and 0
// elsewhere.
type ClipGrad struct {
	Min float64 `attr:"min" doc:"the least value"`
	Max float64 `attr:"max" doc:"the largest value"`
}

// Spec returns the declaration.
func (ClipGrad) Spec() *spec.Op { return clipGradOp.Op() }

// Gradient declares the gradient: that of dy is the call again, and that of x is zero.
func (c ClipGrad) Gradient(t *spec.Tape) {
	second(t, c, nil)
}

var clipGradOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineGradientWith(elementwise.Gradient{
		Name: "clip_grad", Shader: "nn/clip_grad",
		Doc: "The gradient of clip: dy where x is at least min and at most max, NaN where x is NaN, and 0 elsewhere.",
		Why: "it rounds nothing", Flops: 2,
	}, elementwise.GradientNumbers[*ClipGrad]{
		F: func(x, dy float64, n [2]float64) float64 {
			switch {
			case math.IsNaN(x):
				return x
			case x < n[0], x > n[1]:
				return 0
			}
			return dy
		},
		Numbers: elementwise.Numbers[*ClipGrad]{
			Of: func(c *ClipGrad) [2]float64 { return openEnds(c.Min, c.Max) },
			Check: func(c *ClipGrad) error {
				if math.IsNaN(c.Min) || math.IsNaN(c.Max) {
					return planner.Invalid("min and max (got %v and %v, want numbers)", c.Min, c.Max)
				}
				return nil
			},
			Defaults: &ClipGrad{Min: -math.MaxFloat64, Max: math.MaxFloat64},
			Calls:    []*ClipGrad{{Min: spec.Given(0.0), Max: 6}, {Min: -0.1, Max: math.MaxFloat64}, {Min: 3, Max: 1}},
			Invalid:  []*ClipGrad{{Min: math.NaN(), Max: 1}, {Min: 1, Max: math.NaN()}},
		},
	})
}}
