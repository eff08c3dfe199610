package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// HardSwish is x·max(0, min(1, x/6 + ½)) for each element x. HardSwish of −Inf is 0, the limit.
// NaN stays NaN.
type HardSwish struct{}

// Spec returns the declaration.
func (HardSwish) Spec() *spec.Op { return hardSwishOp.Op() }

// Gradient declares the gradient, by HardSwishGrad.
func (HardSwish) Gradient(t *spec.Tape) {
	derivative(t, HardSwishGrad{})
}

var hardSwishOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[HardSwish](elementwise.Unary{
		Name: "hard_swish", Shader: "nn/hard_swish", ONNX: []string{"HardSwish"},
		Doc:    "x·max(0, min(1, x/6 + ½)) for each element x. The result for −Inf is 0, the limit. NaN stays NaN.",
		Source: "Howard et al., Searching for MobileNetV3, 2019",
		F: func(x float64) float64 {
			switch {
			case x <= -3:
				return 0
			case x >= 3:
				return x
			}
			return x * (x + 3) / 6
		},
		Ulps: 6,
		Why:  "a sum, a product and a quotient of 2.5 units are rounded", Low: -5, High: 5, Flops: 4,
	})
}}
