package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Contrast moves each colour away from the middle, to (v − ½)·Factor + ½
// clamped to 0..1.
type Contrast struct {
	Factor float64 `attr:"factor" doc:"stretches colours about the middle; 1 changes nothing, 0 is plain grey"`
}

// Spec returns the declaration.
func (Contrast) Spec() *spec.Op { return contrastOp }

func (c Contrast) stage() stage {
	return stage{clamp: true, scale: c.Factor, offset: 0.5 - 0.5*c.Factor}
}

var contrastOp = newPointwise(spec.Op{
	Name:     "contrast",
	Doc:      "Stretches each colour about the middle, to (v − ½)·factor + ½ clamped to 0..1.",
	Defaults: Contrast{Factor: 1.2},
	Cases:    cases([]spec.Call{Contrast{1.2}, Contrast{0.5}, Contrast{spec.Given(0.0)}, Contrast{-1}, Contrast{30}}, Contrast{}, Contrast{nan}, Contrast{inf}),
},
	func(c Contrast) error { return finite("contrast", "factor", c.Factor, maxFactor) }, 4,
	func(c Contrast, d tensor.DType) spec.Tolerance {
		return level(2e-7*max(1, math.Abs(c.Factor)), "factor, offset and result rounded to f32")(d)
	},
	func(c Contrast, px []float64) {
		for i, v := range px {
			px[i] = clamp01((v-0.5)*c.Factor + 0.5)
		}
	})
