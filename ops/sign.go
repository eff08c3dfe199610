package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// Sign is −1 for negative elements, 0 for 0, 1 for positive elements and NaN for NaN.
type Sign struct{}

// Spec returns the declaration.
func (Sign) Spec() *spec.Op { return signOp.Op() }

// Gradient declares that the gradient is zero.
func (Sign) Gradient(*spec.Tape) {}

var signOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Sign](elementwise.Unary{
		Name: "sign", Integers: logic.Sign, Shader: "math/sign", ONNX: []string{"Sign"},
		Doc: "−1 for negative elements, 0 for 0, 1 for positive elements and NaN for NaN.",
		F: func(x float64) float64 {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return x
		},
		Why: "it rounds nothing", Low: -4, High: 4, Flops: 1,
	})
}}
