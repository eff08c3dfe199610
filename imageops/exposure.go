package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// Exposure does what more or less light does to a photograph. Colours are taken for sRGB, made
// linear, multiplied by 2^Stops, clamped to 0..1, and made sRGB again.
type Exposure struct {
	Stops float64 `attr:"stops" doc:"each stop above 0 doubles the light, each below 0 halves it; in −20..20"`
}

// Spec returns the declaration.
func (Exposure) Spec() *spec.Op { return exposureOp.Op() }

var exposureOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePointwise(picture.Pointwise[*Exposure]{
		Name:     "exposure",
		Doc:      "Multiplies the light by 2^stops. Colours are sRGB, and the product is that of linear light.",
		Source:   "IEC 61966-2-1",
		Defaults: &Exposure{Stops: 1},
		Check:    func(c *Exposure) error { return within("stops", c.Stops, -20, 20) },
		Stage: func(c *Exposure) picture.Stage {
			return picture.CurveStage(picture.Decode(picture.Exp2(c.Stops)), picture.Encode())
		},
		Pixel: func(c *Exposure, px []float64) {
			for i, v := range px {
				v = picture.Clamp01(v)
				light := v / 12.92
				if v > 0.04045 {
					light = math.Pow((v+0.055)/1.055, 2.4)
				}
				light = min(light*math.Exp2(c.Stops), 1)
				px[i] = 12.92 * light
				if light > 0.0031308 {
					px[i] = 1.055*math.Pow(light, 1/2.4) - 0.055
				}
			}
		},
		Tolerance: curveTolerance[*Exposure],
		Flops:     180,
		Calls:     []*Exposure{{1}, {-0.7}},
		Invalid:   []*Exposure{{}, {nan}, {21}},
	})
}}
