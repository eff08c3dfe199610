package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ELU is the exponential linear unit: x for each element x, and Alpha·(e^x − 1) where x is below 0.
type ELU struct {
	Alpha float64 `attr:"alpha" onnx:"alpha" doc:"minus the limit for x to −∞"`
}

// Spec returns the declaration.
func (ELU) Spec() *spec.Op { return eluOp.Op() }

// Gradient declares the gradient, by ELUGrad.
func (c ELU) Gradient(t *spec.Tape) {
	derivative(t, ELUGrad(c))
}

var eluOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnaryWith(elementwise.Unary{
		Name: "elu", Shader: "nn/elu", ONNX: []string{"Elu"},
		Source: "Clevert, Unterthiner and Hochreiter, Exponential Linear Units, 2016",
		Doc:    "x for each element x, and alpha·(e^x − 1) where x is below 0.",
		Ulps:   6,
		Why:    "e^x − 1 is off by 4 units, and a product of it is rounded", Low: -10, High: 10, Flops: 14,
	}, elementwise.Numbers[*ELU]{
		Of: func(c *ELU) [2]float64 { return [2]float64{c.Alpha} },
		F: func(x float64, n [2]float64) float64 {
			if x < 0 {
				return n[0] * math.Expm1(x)
			}
			return x
		},
		Check: func(c *ELU) error {
			if !isFinite(c.Alpha) {
				return planner.Invalid("alpha (got %v, want a finite number)", c.Alpha)
			}
			return nil
		},
		Defaults: &ELU{Alpha: 1},
		Calls:    []*ELU{{Alpha: 0.3}},
		Invalid:  []*ELU{{Alpha: math.NaN()}, {Alpha: math.Inf(-1)}},
	})
}}
