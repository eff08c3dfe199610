package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// Sepia makes the brown tones of old photographs. The colours of the result, clamped to 0..1, are
// .393·R + .769·G + .189·B, .349·R + .686·G + .168·B and .272·R + .534·G + .131·B. Amount mixes
// them with the image.
type Sepia struct {
	Amount float64 `attr:"amount" doc:"the part of sepia, in 0..1; 1 is all sepia, 0 changes nothing"`
}

// Spec returns the declaration.
func (Sepia) Spec() *spec.Op { return sepiaOp.Op() }

var sepiaOp = spec.Declaration{Define: func() *spec.Op {
	return matrixOp(picture.Pointwise[*Sepia]{
		Name:     "sepia",
		Doc:      "Makes the brown tones of old photographs: the sepia of CSS.",
		Source:   "W3C, Filter Effects Module Level 1",
		Defaults: &Sepia{Amount: 1},
		Check:    func(c *Sepia) error { return within("amount", c.Amount, 0, 1) },
		Calls:    []*Sepia{{1}, {0.35}},
		Invalid:  []*Sepia{{}, {nan}, {-0.1}, {1.5}},
	}, func(c *Sepia) (m [12]float64) {
		a := c.Amount
		return [12]float64{
			1 - float64(0.607*a), 0.769 * a, 0.189 * a, 0,
			0.349 * a, 1 - float64(0.314*a), 0.168 * a, 0,
			0.272 * a, 0.534 * a, 1 - float64(0.869*a), 0,
		}
	}, func(c *Sepia, px [3]float64) (out [3]float64) {
		for i, tone := range [][3]float64{{0.393, 0.769, 0.189}, {0.349, 0.686, 0.168}, {0.272, 0.534, 0.131}} {
			out[i] = (1-c.Amount)*px[i] + c.Amount*(tone[0]*px[0]+tone[1]*px[1]+tone[2]*px[2])
		}
		return out
	})
}}
