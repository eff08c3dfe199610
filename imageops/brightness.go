package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// maxFactor bounds numeric attributes, far outside of what makes a picture,
// so that no intermediate value overflows.
const maxFactor = 1e6

var nan, inf = math.NaN(), math.Inf(1)

// Brightness multiplies each colour by Factor and clamps it to 0..1.
type Brightness struct {
	Factor float64 `attr:"factor" doc:"multiplies every colour; 1 changes nothing, 2 is twice as bright, 0 is black"`
}

// Spec returns the declaration.
func (Brightness) Spec() *spec.Op { return brightnessOp }

func (c Brightness) stage() stage { return stage{clamp: true, scale: c.Factor} }

var brightnessOp = newPointwise(spec.Op{
	Name:     "brightness",
	Doc:      "Multiplies each colour by a factor and clamps it to 0..1.",
	Defaults: Brightness{Factor: 1.2},
	Cases:    cases([]spec.Call{Brightness{1.2}, Brightness{0.3}, Brightness{spec.Given(0.0)}, Brightness{-1}, Brightness{100}}, Brightness{}, Brightness{nan}, Brightness{-inf}),
},
	func(c Brightness) error { return finite("brightness", "factor", c.Factor, maxFactor) }, 3,
	func(c Brightness, d tensor.DType) spec.Tolerance {
		return level(2e-7, "factor and product rounded to f32")(d)
	},
	func(c Brightness, px []float64) {
		for i, v := range px {
			px[i] = clamp01(v * c.Factor)
		}
	})
