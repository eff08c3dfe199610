package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Vignette makes an image darker towards its corners. The distance from the middle is that in an
// ellipse of the shape of the image: it is 1 in the corners, and 0.71 in the middle of each side. From
// distance Radius on, colours fall smoothly, and from Radius + Softness on they have
// 1 − Amount of what they had. Alpha stays as it is.
type Vignette struct {
	Amount   float64 `attr:"amount" doc:"how much darker the corners become, from 0 to 1, where they are black"`
	Radius   float64 `attr:"radius,zero" doc:"the distance from the middle, where that of a corner is 1, at which it begins; 0 to 2"`
	Softness float64 `attr:"softness" doc:"the distance in which it grows to the full amount; above 0 and up to 2"`
	part     picture.Part
}

// Spec returns the declaration.
func (Vignette) Spec() *spec.Op { return vignetteOp.Op() }

type vignetteParams struct {
	picture.PlacedParams
	ByX      float32
	ByY      float32
	MiddleX  float32
	MiddleY  float32
	Amount   float32
	Radius   float32
	PerWidth float32
}

var vignetteOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePlaced(picture.Placed[*Vignette]{
		Name:     "vignette",
		Doc:      "Makes an image darker towards its corners, in ellipses of the shape of the image. Alpha stays.",
		Defaults: &Vignette{Amount: 0.5, Radius: 0.4, Softness: 0.6},
		Check: func(c *Vignette) error {
			if err := within("amount", c.Amount, 0, 1); err != nil {
				return err
			}
			if err := within("radius", c.Radius, 0, 2); err != nil {
				return err
			}
			return within("softness", c.Softness, 1e-6, 2)
		},
		Params: func(c *Vignette, p picture.PlacedParams, h, w int, _ float64) any {
			return vignetteParams{
				p, float32(math.Sqrt2 / float64(w)), float32(math.Sqrt2 / float64(h)), float32(w) / 2, float32(h) / 2,
				float32(c.Amount), float32(c.Radius), float32(1 / c.Softness),
			}
		},
		Part:     func(c *Vignette) picture.Part { return c.part },
		WithPart: func(c *Vignette, p picture.Part) *Vignette { own := *c; own.part = p; return &own },
		Pixel: func(c *Vignette, px []float64, h, w, y, x int) {
			u, v := 2*(float64(x)+0.5)/float64(w)-1, 2*(float64(y)+0.5)/float64(h)-1
			t := picture.Clamp01((math.Hypot(u, v)/math.Sqrt2 - c.Radius) / c.Softness)
			for i := range px {
				px[i] = picture.Clamp01(px[i] * (1 - c.Amount*t*t*(3-2*t)))
			}
		},
		Tolerance: func(c *Vignette, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return picture.Level(d, 2e-6+2e-6*min(1/c.Softness, 1e6), "a distance and a polynomial in f32")
		},
		Flops:   24,
		Calls:   []*Vignette{{Amount: 0.5, Radius: 0.4, Softness: 0.6}, {Amount: 1, Softness: 1.5}, {Amount: 0.8, Radius: 0.7, Softness: 0.05}},
		Invalid: []*Vignette{{}, {Amount: 2, Radius: 0.5, Softness: 0.5}, {Amount: nan, Radius: 0.5, Softness: 0.5}, {Amount: 0.5, Radius: 3, Softness: 0.5}, {Amount: 0.5, Radius: 0.5}},
	})
}}
