package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Grayscale sets all three colours to the luma .299·R + .587·G + .114·B
// (ITU-R BT.601). An image of one channel stays as it is.
type Grayscale struct{}

// Spec returns the declaration.
func (Grayscale) Spec() *spec.Op { return grayscaleOp.Op() }

var grayscaleOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePointwise(picture.Pointwise[*Grayscale]{
		Name:    "grayscale",
		Aliases: []string{"gray", "grey"},
		Doc:     "Turns colours into their luma, .299·R + .587·G + .114·B.",
		Source:  "ITU-R BT.601",
		Stage:   func(*Grayscale) picture.Stage { return picture.Stage{Luma: true, Scale: 1} },
		Pixel: func(_ *Grayscale, px []float64) {
			l := picture.Luma(px)
			for i := range px {
				px[i] = l
			}
		},
		Tolerance: func(_ *Grayscale, d tensor.DType) spec.Tolerance {
			return picture.Level(d, 3e-7, "three products and two sums rounded to f32")
		},
		Flops: 5,
		Calls: []*Grayscale{{}},
	})
}}
