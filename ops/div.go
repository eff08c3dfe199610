package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Div is the quotient in / b of two tensors, broadcast together. Integers are rounded towards 0. An integer divided by
// 0 is 0, and the least integer divided by −1 wraps.
type Div struct{}

// Spec returns the declaration.
func (Div) Spec() *spec.Op { return divOp.Op() }

var divOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineBinary[Div](elementwise.Binary{
		Name: "div", Integers: logic.Quotient, Shader: "math/div", DTypes: planner.Floats, ONNX: []string{"Div"},
		Doc:  "The quotient in / b of two tensors, with broadcasting. Integers are rounded towards 0, and x / 0 is 0.",
		F:    func(a, b float64) float64 { return a / b },
		Ulps: 3, Why: "devices divide to 2.5 units of the last place", Low: -100, High: 100,
	})
}}
