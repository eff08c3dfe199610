package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// HardSigmoid is Alpha·x + Beta for each element x, but at least 0 and at most 1. NaN stays NaN.
type HardSigmoid struct {
	Alpha float64 `attr:"alpha" onnx:"alpha" doc:"the factor"`
	Beta  float64 `attr:"beta" onnx:"beta" doc:"the value at 0"`
}

// Spec returns the declaration.
func (HardSigmoid) Spec() *spec.Op { return hardSigmoidOp.Op() }

// Gradient declares the gradient, by HardSigmoidGrad.
func (c HardSigmoid) Gradient(t *spec.Tape) {
	derivative(t, HardSigmoidGrad(c))
}

var hardSigmoidOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnaryWith(elementwise.Unary{
		Name: "hard_sigmoid", Shader: "nn/hard_sigmoid", ONNX: []string{"HardSigmoid"},
		Doc:  "alpha·x + beta for each element x, but at least 0 and at most 1. NaN stays NaN.",
		Ulps: 1, Abs: 3,
		Why: "a product and a sum of numbers up to 2 are rounded", Low: -5, High: 5, Flops: 4,
	}, elementwise.Numbers[*HardSigmoid]{
		Of: func(c *HardSigmoid) [2]float64 { return [2]float64{c.Alpha, c.Beta} },
		F: func(x float64, n [2]float64) float64 {
			v := n[0]*x + n[1]
			switch {
			case v < 0:
				return 0
			case v > 1:
				return 1
			}
			return v
		},
		Check: func(c *HardSigmoid) error {
			if !isFinite(c.Alpha) || !isFinite(c.Beta) {
				return planner.Invalid("alpha and beta (got %v and %v, want finite numbers)", c.Alpha, c.Beta)
			}
			return nil
		},
		Defaults: &HardSigmoid{Alpha: 0.2, Beta: 0.5},
		Calls:    []*HardSigmoid{{Alpha: 1.0 / 6, Beta: 0.5}, {Alpha: -0.7, Beta: spec.Given(0.0)}},
		Invalid:  []*HardSigmoid{{Alpha: math.NaN(), Beta: 1}, {Alpha: 1, Beta: math.Inf(1)}},
	})
}}
