package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// Neg is the negative of each element.
type Neg struct{}

// Spec returns the declaration.
func (Neg) Spec() *spec.Op { return negOp.Op() }

// Gradient declares the gradient, −dy.
func (Neg) Gradient(t *spec.Tape) {
	t.SetGradient(0, minus(t, t.Gradient(0)))
}

var negOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Neg](elementwise.Unary{
		Name: "neg", Integers: logic.Negative, Shader: "math/neg", ONNX: []string{"Neg"},
		Doc: "The negative of each element. Integers wrap.",
		F:   func(x float64) float64 { return -x },
		Why: "it rounds nothing", Low: -4, High: 4, Flops: 1,
	})
}}
