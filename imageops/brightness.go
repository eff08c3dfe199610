package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Brightness multiplies each colour by Factor, adds Offset and clamps the sum to 0..1.
type Brightness struct {
	Factor float64 `attr:"factor,main" doc:"the factor of every colour; 1 changes nothing, 2 makes it twice as bright, 0 makes it black; any number within ±10⁶"`
	Offset float64 `attr:"offset" doc:"what is added to every colour after that; 1 makes black white; any number within ±10⁶"`
}

// Spec returns the declaration.
func (Brightness) Spec() *spec.Op { return brightnessOp.Op() }

var brightnessOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePointwise(picture.Pointwise[*Brightness]{
		Name:     "brightness",
		Doc:      "Multiplies each colour by a factor, adds an offset, and clamps the sum to 0..1.",
		Defaults: &Brightness{Factor: 1.2},
		Check: func(c *Brightness) error {
			if err := picture.Finite("factor", c.Factor); err != nil {
				return err
			}
			return picture.Finite("offset", c.Offset)
		},
		Stage: func(c *Brightness) picture.Stage {
			return picture.Stage{Clamp: true, Scale: c.Factor, Offset: c.Offset}
		},
		Pixel: func(c *Brightness, px []float64) {
			for i, v := range px {
				px[i] = picture.Clamp01(v*c.Factor + c.Offset)
			}
		},
		Tolerance: func(c *Brightness, d tensor.DType) spec.Tolerance {
			return picture.Level(d, 2e-7*max(1, math.Abs(c.Offset)), "factor, offset and result rounded to f32")
		},
		Flops:   3,
		Calls:   []*Brightness{{Factor: 1.2}, {Factor: 0.3}, {Factor: spec.Given(0.0)}, {Factor: -1}, {Factor: 100}, {Factor: 16000}, {Factor: -1e6}, {Factor: 1e6}, {Factor: 1, Offset: 0.1}, {Factor: -1.5, Offset: 1.25}},
		Invalid: []*Brightness{{}, {Factor: nan}, {Factor: -inf}, {Factor: 1, Offset: nan}, {Factor: 1, Offset: 1e7}},
	})
}}
