package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// Abs is the magnitude of each element.
type Abs struct{}

// Spec returns the declaration.
func (Abs) Spec() *spec.Op { return absOp.Op() }

// Gradient declares the gradient, dy·sign x.
func (Abs) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	t.SetGradient(0, times(t, dy, t.Call(Sign{}, x)))
}

var absOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Abs](elementwise.Unary{
		Name: "abs", Integers: logic.Magnitude, Shader: "math/abs", ONNX: []string{"Abs"},
		Doc: "The magnitude of each element. Integers wrap.",
		F:   math.Abs,
		Why: "it rounds nothing", Low: -4, High: 4, Flops: 1,
	})
}}
