package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// PReLU is x for each element x of in, and x·b where x is below 0. b is broadcast to the shape of in by the
// rule of NumPy. A factor for each channel of [N,C,H,W] has the shape [C,1,1].
type PReLU struct{}

// Spec returns the declaration.
func (PReLU) Spec() *spec.Op { return preluOp.Op() }

// Gradient declares the gradients: dy, and dy·b where x is below 0; and dy·x there.
func (PReLU) Gradient(t *spec.Tape) {
	dy, x, b := t.Gradient(0), t.In(0), t.In(1)
	below := negative(t, x)
	if t.Needs(0) {
		t.SetGradient(0, t.Call(Where{}, below, times(t, dy, b), dy))
	}
	if t.Needs(1) {
		t.SetGradient(1, where(t, below, times(t, dy, x)))
	}
}

var preluOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkNN()
	return elementwise.DefineBinary[PReLU](elementwise.Binary{
		Name: "prelu", Shader: "nn/prelu", DTypes: planner.Floats, ONNX: []string{"PRelu"}, OneWay: true,
		Source: "He and others, Delving Deep into Rectifiers, 2015",
		Doc:    "x for each element x, and x·b where x is below 0. b is broadcast to the shape of in.",
		F: func(x, b float64) float64 {
			if x < 0 {
				return x * b
			}
			return x
		},
		Ulps: 1, Why: "a product is rounded", Low: -4, High: 4,
	})
}}
