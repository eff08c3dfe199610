package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ThresholdedReLU is x for each element x above Alpha, and 0 for others. NaN stays NaN. Unless the elements are F64,
// Alpha is rounded to F32.
type ThresholdedReLU struct {
	Alpha float64 `attr:"alpha" onnx:"alpha" doc:"the threshold"`
}

// Spec returns the declaration.
func (ThresholdedReLU) Spec() *spec.Op { return thresholdedReLUOp.Op() }

// Gradient declares the gradient, by ThresholdedReLUGrad.
func (c ThresholdedReLU) Gradient(t *spec.Tape) {
	derivative(t, ThresholdedReLUGrad(c))
}

var thresholdedReLUOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnaryWith(elementwise.Unary{
		Name: "thresholded_relu", Shader: "nn/thresholded_relu", ONNX: []string{"ThresholdedRelu"},
		Doc: "x for each element x above alpha, and 0 for others. NaN stays NaN.",
		Why: "it rounds nothing", Low: -4, High: 4,
	}, elementwise.Numbers[*ThresholdedReLU]{
		Of: func(c *ThresholdedReLU) [2]float64 { return [2]float64{c.Alpha} },
		F: func(x float64, n [2]float64) float64 {
			if x > n[0] || math.IsNaN(x) {
				return x
			}
			return 0
		},
		Check: func(c *ThresholdedReLU) error {
			if !isFinite(c.Alpha) {
				return planner.Invalid("alpha (got %v, want a finite number)", c.Alpha)
			}
			return nil
		},
		Defaults: &ThresholdedReLU{Alpha: 1},
		Calls:    []*ThresholdedReLU{{Alpha: 0.1}, {Alpha: -0.5}},
		Invalid:  []*ThresholdedReLU{{Alpha: math.NaN()}, {Alpha: math.Inf(1)}},
	})
}}
