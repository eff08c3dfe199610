package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Softplus is ln(1 + eˣ) for each element x. It does not overflow.
type Softplus struct{}

// Spec returns the declaration.
func (Softplus) Spec() *spec.Op { return softplusOp.Op() }

// Gradient declares the gradient, by SoftplusGrad.
func (Softplus) Gradient(t *spec.Tape) {
	derivative(t, SoftplusGrad{})
}

var softplusOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Softplus](elementwise.Unary{
		Name: "softplus", Shader: "nn/softplus", ONNX: []string{"Softplus"},
		Doc:  "ln(1 + e^x) for each element x. It does not overflow.",
		F:    func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
		Ulps: 8,
		Why:  "an exponential, a logarithm and a sum are rounded", Low: -20, High: 20, Flops: 30,
	})
}}
