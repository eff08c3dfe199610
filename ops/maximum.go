package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Maximum is the larger of two elements, broadcast together; NaN if either is NaN. Of zeros of both signs it is either.
type Maximum struct{}

// Spec returns the declaration.
func (Maximum) Spec() *spec.Op { return maximumOp }

var maximumOp = elementwise.DefineBinary[Maximum](elementwise.Binary{
	Name: "maximum", Shader: "math/maximum", DTypes: planner.Floats,
	Doc: "The larger of two elements, with broadcasting; NaN if either is NaN.",
	F:   elementwise.Larger,
	Why: "it rounds nothing", Low: -100, High: 100,
})
