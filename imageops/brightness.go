package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Brightness multiplies each colour by Factor and clamps it to 0..1.
type Brightness struct {
	Factor float64 `attr:"factor" doc:"the factor of every colour; 1 changes nothing, 2 makes it twice as bright, 0 makes it black; any number within ±10⁶"`
}

// Spec returns the declaration.
func (Brightness) Spec() *spec.Op { return brightnessOp }

var brightnessOp = picture.DefinePointwise(picture.Pointwise[Brightness]{
	Name:     "brightness",
	Doc:      "Multiplies each colour by a factor and clamps it to 0..1.",
	Defaults: Brightness{Factor: 1.2},
	Check:    func(c Brightness) error { return picture.Finite("factor", c.Factor) },
	Stage:    func(c Brightness) picture.Stage { return picture.Stage{Clamp: true, Scale: c.Factor} },
	Pixel: func(c Brightness, px []float64) {
		for i, v := range px {
			px[i] = picture.Clamp01(v * c.Factor)
		}
	},
	Tolerance: func(_ Brightness, d tensor.DType) spec.Tolerance {
		return picture.Level(d, 2e-7, "factor and product rounded to f32")
	},
	Flops:   3,
	Calls:   []Brightness{{1.2}, {0.3}, {spec.Given(0.0)}, {-1}, {100}, {16000}, {-1e6}, {1e6}},
	Invalid: []Brightness{{}, {nan}, {-inf}},
})
