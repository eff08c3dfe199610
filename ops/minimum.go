package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Minimum is the smaller of two elements, broadcast together; NaN if either is NaN. Of zeros of both signs it is either.
type Minimum struct{}

// Spec returns the declaration.
func (Minimum) Spec() *spec.Op { return minimumOp }

var minimumOp = elementwise.DefineBinary[Minimum](elementwise.Binary{
	Name: "minimum", Shader: "math/minimum", DTypes: planner.Floats,
	Doc: "The smaller of two elements, with broadcasting; NaN if either is NaN.",
	F:   func(a, b float64) float64 { return -elementwise.Larger(-a, -b) },
	Why: "it rounds nothing", Low: -100, High: 100,
})
