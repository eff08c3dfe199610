package imageops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Grayscale sets all three colours to the luma .299·R + .587·G + .114·B
// (ITU-R BT.601). An image of one channel stays as it is.
type Grayscale struct{}

// Spec returns the declaration.
func (Grayscale) Spec() *spec.Op { return grayscaleOp }

func (Grayscale) stage() stage { return stage{luma: true, scale: 1} }

var grayscaleOp = newPointwise(spec.Op{
	Name:     "grayscale",
	Aliases:  []string{"gray", "grey"},
	Doc:      "Turns colours into their luma, .299·R + .587·G + .114·B.",
	Source:   "ITU-R BT.601",
	Defaults: Grayscale{},
	Cases:    cases([]spec.Call{Grayscale{}}),
}, nil, 5,
	func(_ Grayscale, d tensor.DType) spec.Tolerance {
		return level(3e-7, "three products and two sums rounded to f32")(d)
	},
	func(_ Grayscale, px []float64) {
		l := lumaOf(px)
		for i := range px {
			px[i] = l
		}
	})
