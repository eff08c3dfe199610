package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Floor rounds each element down to an integer.
type Floor struct{}

// Spec returns the declaration.
func (Floor) Spec() *spec.Op { return floorOp.Op() }

// Gradient declares that the gradient is zero.
func (Floor) Gradient(*spec.Tape) {}

var floorOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Floor](elementwise.Unary{
		Name: "floor", Shader: "math/floor", ONNX: []string{"Floor"},
		Doc: "Each element, rounded down to an integer.",
		F:   math.Floor,
		Why: "it rounds nothing", Low: -100, High: 100, Flops: 1,
	})
}}
