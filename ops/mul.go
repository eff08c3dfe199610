package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Mul is the product of the elements of two tensors, broadcast together.
type Mul struct{}

// Spec returns the declaration.
func (Mul) Spec() *spec.Op { return mulOp.Op() }

var mulOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineBinary[Mul](elementwise.Binary{
		Name: "mul", Integers: logic.Product, Shader: "math/mul", DTypes: planner.Floats, ONNX: []string{"Mul"},
		Doc:  "The product of the elements of two tensors, with broadcasting. Integers wrap.",
		F:    func(a, b float64) float64 { return a * b },
		Ulps: 1, Why: "the device rounds once, up or down", Low: -100, High: 100,
	})
}}
