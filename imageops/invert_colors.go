package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// InvertColors makes each colour v into 1 − v.
type InvertColors struct{}

// Spec returns the declaration.
func (InvertColors) Spec() *spec.Op { return invertColorsOp.Op() }

var invertColorsOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePointwise(picture.Pointwise[*InvertColors]{
		Name:    "invert_colors",
		Aliases: []string{"invert", "negative"},
		Doc:     "Makes each colour v into 1 − v, as in a photographic negative.",
		Stage:   func(*InvertColors) picture.Stage { return picture.Stage{Scale: -1, Offset: 1} },
		Pixel: func(_ *InvertColors, px []float64) {
			for i, v := range px {
				px[i] = 1 - v
			}
		},
		Tolerance: func(_ *InvertColors, d tensor.DType) spec.Tolerance {
			if d == tensor.U8 {
				return spec.Tolerance{Why: "exact"}
			}
			return spec.Tolerance{Abs: 6e-8, Why: "one rounding to f32"}
		},
		Flops: 1,
		Calls: []*InvertColors{{}},
	})
}}
