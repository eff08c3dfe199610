package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Swish is x·sigmoid(Alpha·x) for each element x. SiLU is the same for an Alpha of 1. An infinite x times a sigmoid
// of 0 is 0, the limit.
type Swish struct {
	Alpha float64 `attr:"alpha" onnx:"alpha" doc:"the number often called β"`
}

// Spec returns the declaration.
func (Swish) Spec() *spec.Op { return swishOp.Op() }

// Gradient declares the gradient, by SwishGrad.
func (c Swish) Gradient(t *spec.Tape) {
	derivative(t, SwishGrad(c))
}

var swishOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnaryWith(elementwise.Unary{
		Name: "swish", Shader: "nn/swish", ONNX: []string{"Swish"},
		Source: "Ramachandran, Zoph and Le, Searching for Activation Functions, 2017",
		Doc:    "x·sigmoid(alpha·x) for each element x. An infinite x times a sigmoid of 0 is 0.",
		Ulps:   8, Abs: 4,
		Why: "an exponential, a sum, a quotient and a product are rounded; the rounding of alpha·x counts t²·e^−t/alpha, less than 2", Low: -20, High: 20, Flops: 18,
	}, elementwise.Numbers[*Swish]{
		Of: func(c *Swish) [2]float64 { return [2]float64{c.Alpha} },
		F: func(x float64, n [2]float64) float64 {
			if s := 1 / (1 + math.Exp(-n[0]*x)); s != 0 {
				return x * s
			}
			return 0
		},
		Check: func(c *Swish) error {
			if !isFinite(c.Alpha) {
				return planner.Invalid("alpha (got %v, want a finite number)", c.Alpha)
			}
			return nil
		},
		Defaults: &Swish{Alpha: 1},
		Calls:    []*Swish{{Alpha: 1.702}, {Alpha: -0.5}},
		Invalid:  []*Swish{{Alpha: math.NaN()}, {Alpha: math.Inf(1)}},
	})
}}
