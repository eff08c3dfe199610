package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Cube is the third power of each element.
type Cube struct{}

// Spec returns the declaration.
func (Cube) Spec() *spec.Op { return cubeOp.Op() }

var cubeOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnary[Cube](elementwise.Unary{
		Name: "cube", Shader: "math/cube",
		Doc:  "The third power of each element.",
		F:    func(x float64) float64 { return x * x * x },
		Ulps: 2,
		Why:  "two products are rounded", Low: -4, High: 4, Flops: 2,
	})
}}
