package imageops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// InvertColors makes each colour 1 − v.
type InvertColors struct{}

// Spec returns the declaration.
func (InvertColors) Spec() *spec.Op { return invertColorsOp }

func (InvertColors) stage() stage { return stage{scale: -1, offset: 1} }

var invertColorsOp = newPointwise(spec.Op{
	Name:     "invert_colors",
	Aliases:  []string{"invert", "negative"},
	Doc:      "Makes each colour 1 − v, as in a photographic negative.",
	Defaults: InvertColors{},
	Cases:    cases([]spec.Call{InvertColors{}}),
}, nil, 1,
	func(_ InvertColors, d tensor.DType) spec.Tolerance {
		if d == tensor.U8 {
			return spec.Tolerance{Why: "exact"}
		}
		return spec.Tolerance{Abs: 6e-8, Why: "one rounding to f32"}
	},
	func(_ InvertColors, px []float64) {
		for i, v := range px {
			px[i] = 1 - v
		}
	})
