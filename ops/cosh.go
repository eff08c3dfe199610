package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Cosh is the hyperbolic cosine of each element.
type Cosh struct{}

// Spec returns the declaration.
func (Cosh) Spec() *spec.Op { return coshOp }

var coshOp = elementwise.DefineUnary[Cosh](elementwise.Unary{
	Name: "cosh", Shader: "math/cosh", ONNX: []string{"Cosh"},
	Doc:  "The hyperbolic cosine of each element.",
	F:    math.Cosh,
	Ulps: 12,
	Why:  "an exponential of 4 units is squared, which doubles its error, and a sum and a quotient are rounded", Low: -30, High: 30, Flops: 18,
})
