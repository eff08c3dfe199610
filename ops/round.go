package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Round is the integer nearest to each element, the even one of two, as IEEE 754
// rounds by default. (The scalar round of package value takes ties away from 0.)
type Round struct{}

// Spec returns the declaration.
func (Round) Spec() *spec.Op { return roundOp }

var roundOp = elementwise.DefineUnary[Round](elementwise.Unary{
	Name: "round", Shader: "math/round", ONNX: []string{"Round"},
	Doc: "The integer nearest to each element; of two, the even one.",
	F:   math.RoundToEven,
	Why: "it rounds to integers, exactly", Low: -100, High: 100, Flops: 1,
})
