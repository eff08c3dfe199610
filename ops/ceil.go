package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Ceil rounds each element up to an integer.
type Ceil struct{}

// Spec returns the declaration.
func (Ceil) Spec() *spec.Op { return ceilOp.Op() }

// Gradient declares that the gradient is zero.
func (Ceil) Gradient(*spec.Tape) {}

var ceilOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Ceil](elementwise.Unary{
		Name: "ceil", Shader: "math/ceil", ONNX: []string{"Ceil"},
		Doc: "Each element, rounded up to an integer.",
		F:   math.Ceil,
		Why: "it rounds nothing", Low: -100, High: 100, Flops: 1,
	})
}}
