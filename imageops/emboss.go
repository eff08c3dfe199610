package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Emboss makes an image look like a relief that is lit from above and left. It applies the kernel
// [−2 −1 0; −1 0 1; 0 1 2] times Amount and adds the image, clamped to 0..1. Outside of the image
// the pixels of the edge are repeated. Alpha is treated as Convolve treats it.
type Emboss struct {
	Amount      float64 `attr:"amount" doc:"the height of the relief, above 0 and up to 20"`
	IgnoreAlpha bool    `attr:"ignore_alpha" doc:"add colours regardless of alpha; for data that is not colour"`
}

// Spec returns the declaration.
func (Emboss) Spec() *spec.Op { return embossOp.Op() }

var embossOp = spec.Declaration{Define: func() *spec.Op {
	return defineConvolution(convolution[*Emboss]{
		name:     "emboss",
		doc:      "Makes an image look like a relief, by the kernel [−2 −1 0; −1 0 1; 0 1 2] times an amount, added to the image and clamped to 0..1.",
		defaults: &Emboss{Amount: 1},
		check: func(c *Emboss) error {
			if !(c.Amount > 0 && c.Amount <= 20) {
				return planner.Invalid("amount (got %v, want above 0 and up to 20)", c.Amount+0)
			}
			return nil
		},
		of: func(c *Emboss) picture.Convolution {
			a := c.Amount
			return picture.Convolution{Kernel: []float64{-2 * a, -a, 0, -a, 1, a, 0, a, 2 * a}, Width: 3, Scale: 1, Weigh: !c.IgnoreAlpha}
		},
		opaque:  func(c *Emboss) *Emboss { c.IgnoreAlpha = true; return c },
		calls:   []*Emboss{{Amount: 1}},
		invalid: []*Emboss{{}, {Amount: -1}, {Amount: nan}},
	})
}}
