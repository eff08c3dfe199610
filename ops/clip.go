package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Clip is x for each element x, but at least Min and at most Max. Infinite ones are no bounds, as in
// Clip{Min: math.Inf(-1), Max: 6}, and so are the defaults, the largest numbers of F64. If Min is above Max, all elements become Max. NaN stays NaN. Unless the
// elements are F64, the bounds are rounded to F32.
type Clip struct {
	Min float64 `attr:"min" onnx:"min" doc:"the least result"`
	Max float64 `attr:"max" onnx:"max" doc:"the largest result"`
}

// Spec returns the declaration.
func (Clip) Spec() *spec.Op { return clipOp.Op() }

// Gradient declares the gradient, by ClipGrad.
func (c Clip) Gradient(t *spec.Tape) {
	derivative(t, ClipGrad(c))
}

var clipOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineUnaryWith(elementwise.Unary{
		Name: "clip", Shader: "math/clip", ONNX: []string{"Clip"},
		Doc: "x for each element x, but at least min and at most max. If min is above max, all become max. NaN stays NaN.",
		Why: "it rounds nothing", Low: -8, High: 8, Flops: 2,
	}, elementwise.Numbers[*Clip]{
		Of: func(c *Clip) [2]float64 { return openEnds(c.Min, c.Max) },
		F: func(x float64, n [2]float64) float64 {
			if x < n[0] {
				x = n[0]
			}
			if x > n[1] {
				x = n[1]
			}
			return x
		},
		Check: func(c *Clip) error {
			if math.IsNaN(c.Min) || math.IsNaN(c.Max) {
				return planner.Invalid("min and max (got %v and %v, want numbers)", c.Min, c.Max)
			}
			return nil
		},
		Defaults: &Clip{Min: -math.MaxFloat64, Max: math.MaxFloat64},
		Calls:    []*Clip{{Min: spec.Given(0.0), Max: 6}, {Min: -0.1, Max: math.MaxFloat64}, {Min: 3, Max: 1}},
		Invalid:  []*Clip{{Min: math.NaN(), Max: 1}, {Min: 1, Max: math.NaN()}},
	})
}}

// openEnds returns two bounds. The largest finite number stands for infinity.
func openEnds(low, high float64) [2]float64 {
	n := [2]float64{low, high}
	for i, x := range n {
		if math.Abs(x) == math.MaxFloat64 {
			n[i] = math.Inf(int(math.Copysign(1, x)))
		}
	}
	return n
}
