package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Atan2 is the angle of the vector (b, in) for the elements of two tensors, from −π to π. in is the ordinate, as in
// C99 (annex F.9.1.4), whose rules for zeros and infinities it follows. Both tensors are broadcast together.
type Atan2 struct{}

// Spec returns the declaration.
func (Atan2) Spec() *spec.Op { return atan2Op.Op() }

// Gradient declares the gradients: dy·b/(a² + b²), and −dy·a/(a² + b²).
func (Atan2) Gradient(t *spec.Tape) {
	dy, a, b := t.Gradient(0), t.In(0), t.In(1)
	q := sum(t, squared(t, a), squared(t, b))
	if t.Needs(0) {
		t.SetGradient(0, over(t, times(t, dy, b), q))
	}
	if t.Needs(1) {
		t.SetGradient(1, minus(t, over(t, times(t, dy, a), q)))
	}
}

var atan2Op = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineBinary[Atan2](elementwise.Binary{
		Name: "atan2", Shader: "math/atan2", DTypes: planner.Floats,
		Doc:  "The angle of the vector (b, in), from −π to π, with broadcasting. Zeros and infinities follow C99.",
		F:    math.Atan2,
		Ulps: 7, Why: "a quotient of 2.5 units of two rounded numbers, a polynomial and two sums are rounded", Low: -10, High: 10, Flops: 40,
	})
}}
