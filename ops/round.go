package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Round rounds each element to the nearest integer, and to the even one of two that are
// equally near, as IEEE 754 does by default. The function round of package value is
// different: it rounds such ties away from 0.
type Round struct{}

// Spec returns the declaration.
func (Round) Spec() *spec.Op { return roundOp.Op() }

// Gradient declares that the gradient is zero.
func (Round) Gradient(*spec.Tape) {}

var roundOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Round](elementwise.Unary{
		Name: "round", Shader: "math/round", ONNX: []string{"Round"},
		Doc: "Each element, rounded to the nearest integer, and to the even one of two that are equally near.",
		F:   math.RoundToEven,
		Why: "it rounds to integers, exactly", Low: -100, High: 100, Flops: 1,
	})
}}
