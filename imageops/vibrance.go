package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Vibrance changes weak colours more than strong ones. The result is Y + (v − Y)·(1 + Amount·(1 −
// s)), clamped to 0..1, with the luma Y of Grayscale and with s the largest colour of the pixel
// less its smallest.
type Vibrance struct {
	Amount float64 `attr:"amount" doc:"above 0 makes weak colours stronger, below 0 makes them weaker; in −1..1"`
}

// Spec returns the declaration.
func (Vibrance) Spec() *spec.Op { return vibranceOp.Op() }

var vibranceOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePointwise(picture.Pointwise[*Vibrance]{
		Name:     "vibrance",
		Doc:      "Saturates weak colours more than strong ones: Y + (v − Y)·(1 + amount·(1 − s)), clamped to 0..1, with the luma Y, and s the largest colour less the smallest.",
		Defaults: &Vibrance{Amount: 0.5},
		Check:    func(c *Vibrance) error { return within("amount", c.Amount, -1, 1) },
		Stage:    func(c *Vibrance) picture.Stage { return picture.Stage{Vibrance: &c.Amount} },
		Pixel: func(c *Vibrance, px []float64) {
			if len(px) == 1 {
				return
			}
			y, s := picture.Luma(px), max(px[0], px[1], px[2])-min(px[0], px[1], px[2])
			for i, v := range px {
				px[i] = picture.Clamp01(y + (v-y)*(1+c.Amount*(1-s)))
			}
		},
		Tolerance: func(_ *Vibrance, d tensor.DType) spec.Tolerance {
			return picture.Level(d, 1e-6, "ten roundings to f32")
		},
		Flops:   20,
		Calls:   []*Vibrance{{0.5}, {-1}},
		Invalid: []*Vibrance{{}, {nan}, {1.1}},
	})
}}
