package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// Saturation changes the distance of each colour from the luma of the pixel by a factor. The
// result is Y + (v − Y)·Factor, clamped to 0..1, with the luma Y of Grayscale.
type Saturation struct {
	Factor float64 `attr:"factor" doc:"the factor of the distance from grey: 1 changes nothing, 0 makes greys, below 0 are opposite colours; any number within ±1000"`
}

// Spec returns the declaration.
func (Saturation) Spec() *spec.Op { return saturationOp.Op() }

var saturationOp = spec.Declaration{Define: func() *spec.Op {
	return matrixOp(picture.Pointwise[*Saturation]{
		Name:     "saturation",
		Aliases:  []string{"saturate"},
		Doc:      "Multiplies the distance of each colour from the luma Y of the pixel by a factor: Y + (v − Y)·factor, clamped to 0..1.",
		Source:   "ITU-R BT.601",
		Defaults: &Saturation{Factor: 1.3},
		Check:    func(c *Saturation) error { return within("factor", c.Factor, -1000, 1000) },
		Calls:    []*Saturation{{1.3}, {-2}},
		Invalid:  []*Saturation{{}, {nan}, {1001}},
	}, func(c *Saturation) (m [12]float64) {
		for row := range 3 {
			m[4*row], m[4*row+1], m[4*row+2] = 0.299*(1-c.Factor), 0.587*(1-c.Factor), 0.114*(1-c.Factor)
			m[5*row] += c.Factor
		}
		return m
	}, func(c *Saturation, px [3]float64) [3]float64 {
		y := picture.Luma(px[:])
		for i, v := range px {
			px[i] = y + (v-y)*c.Factor
		}
		return px
	})
}}
