package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Threshold makes each colour 1 if it is at least Value, and 0 otherwise.
type Threshold struct {
	Value float64 `attr:"value" doc:"the level in 0..1 from which on a colour becomes 1; any number within ±10⁶"`
}

// Spec returns the declaration.
func (Threshold) Spec() *spec.Op { return thresholdOp.Op() }

var thresholdOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePointwise(picture.Pointwise[*Threshold]{
		Name:     "threshold",
		Doc:      "Makes each colour 1 if it is at least a value, and 0 otherwise.",
		Defaults: &Threshold{Value: 0.5},
		Check:    func(c *Threshold) error { return picture.Finite("value", c.Value) },
		Stage:    func(c *Threshold) picture.Stage { return picture.Stage{Step: true, Threshold: c.Value} },
		Pixel: func(c *Threshold, px []float64) {
			for i, v := range px {
				px[i] = 0
				if v >= c.Value {
					px[i] = 1
				}
			}
		},
		Tolerance: func(_ *Threshold, d tensor.DType) spec.Tolerance {
			if d == tensor.U8 {
				return spec.Tolerance{Why: "a comparison of exact numbers"}
			}
			return spec.Tolerance{Flips: 1e-6, Why: "the threshold is rounded to f32"}
		},
		Flops:   3,
		Calls:   []*Threshold{{0.5}, {spec.Given(0.0)}, {0.2}, {0.9}, {2}, {-1}},
		Invalid: []*Threshold{{}, {nan}, {inf}},
	})
}}
