package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Cos is the cosine of each element, in radians. F64 takes |x| ≤ 2²⁷, and gives NaN
// beyond; the other types take any x.
type Cos struct{}

// Spec returns the declaration.
func (Cos) Spec() *spec.Op { return cosOp }

var cosOp = elementwise.DefineUnary[Cos](elementwise.Unary{
	Name: "cos", Shader: "math/cos", ONNX: []string{"Cos"},
	Doc:  "The cosine of each element, in radians; in f64 of |x| ≤ 2^27, and NaN beyond.",
	F:    math.Cos,
	Ulps: 4,
	Abs:  1,
	Why:  "the argument is reduced exactly, and a polynomial rounded", Low: -100, High: 100, Flops: 20,
})
