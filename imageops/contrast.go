package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Contrast changes the distance of each colour v from the middle, ½, by a factor. The result
// is (v − ½)·Factor + ½, clamped to 0..1.
type Contrast struct {
	Factor float64 `attr:"factor" doc:"the factor of the distance from the middle; 1 changes nothing, 0 makes all colours the same grey; any number within ±10⁶"`
}

// Spec returns the declaration.
func (Contrast) Spec() *spec.Op { return contrastOp.Op() }

var contrastOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePointwise(picture.Pointwise[*Contrast]{
		Name:     "contrast",
		Doc:      "Multiplies the distance of each colour from the middle by a factor: (v − ½)·factor + ½, clamped to 0..1.",
		Defaults: &Contrast{Factor: 1.2},
		Check:    func(c *Contrast) error { return picture.Finite("factor", c.Factor) },
		Stage: func(c *Contrast) picture.Stage {
			return picture.Stage{Clamp: true, Scale: c.Factor, Offset: 0.5 - 0.5*c.Factor}
		},
		Pixel: func(c *Contrast, px []float64) {
			for i, v := range px {
				px[i] = picture.Clamp01((v-0.5)*c.Factor + 0.5)
			}
		},
		Tolerance: func(c *Contrast, d tensor.DType) spec.Tolerance {
			return picture.Level(d, 2e-7*max(1, math.Abs(c.Factor)), "factor, offset and result rounded to f32")
		},
		Flops:   4,
		Calls:   []*Contrast{{1.2}, {0.5}, {spec.Given(0.0)}, {-1}, {30}},
		Invalid: []*Contrast{{}, {nan}, {inf}},
	})
}}
