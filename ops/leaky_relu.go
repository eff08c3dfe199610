package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// LeakyReLU is x for each element x, and Alpha·x where x is below 0. NaN stays NaN.
type LeakyReLU struct {
	Alpha float64 `attr:"alpha" onnx:"alpha" doc:"the factor below 0"`
}

// Spec returns the declaration.
func (LeakyReLU) Spec() *spec.Op { return leakyReLUOp.Op() }

// Gradient declares the gradient, by LeakyReLUGrad.
func (c LeakyReLU) Gradient(t *spec.Tape) {
	derivative(t, LeakyReLUGrad(c))
}

var leakyReLUOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnaryWith(elementwise.Unary{
		Name: "leaky_relu", Shader: "nn/leaky_relu", ONNX: []string{"LeakyRelu"},
		Source: "Maas, Hannun and Ng, Rectifier Nonlinearities Improve Neural Network Acoustic Models, 2013",
		Doc:    "x for each element x, and alpha·x where x is below 0. NaN stays NaN.",
		Ulps:   1,
		Why:    "a product is rounded", Low: -4, High: 4,
	}, elementwise.Numbers[*LeakyReLU]{
		Of: func(c *LeakyReLU) [2]float64 { return [2]float64{c.Alpha} },
		F: func(x float64, n [2]float64) float64 {
			if x < 0 {
				return n[0] * x
			}
			return x
		},
		Check: func(c *LeakyReLU) error {
			if !isFinite(c.Alpha) {
				return planner.Invalid("alpha (got %v, want a finite number)", c.Alpha)
			}
			return nil
		},
		Defaults: &LeakyReLU{Alpha: 0.01},
		Calls:    []*LeakyReLU{{Alpha: -1.3}, {Alpha: spec.Given(0.0)}},
		Invalid:  []*LeakyReLU{{Alpha: math.NaN()}, {Alpha: math.Inf(1)}},
	})
}}

// isFinite reports whether x is neither NaN nor infinite.
func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
