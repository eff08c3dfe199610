package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Div is the quotient in / b of two tensors, broadcast together.
type Div struct{}

// Spec returns the declaration.
func (Div) Spec() *spec.Op { return divOp.Op() }

var divOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineBinary[Div](elementwise.Binary{
		Name: "div", Shader: "math/div", DTypes: planner.Floats, ONNX: []string{"Div"},
		Doc:  "The quotient in / b of two tensors, with broadcasting.",
		F:    func(a, b float64) float64 { return a / b },
		Ulps: 3, Why: "devices divide to 2.5 units of the last place", Low: -100, High: 100,
	})
}}
