package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxSquare is the largest square of Pixelate, in pixels.
const MaxSquare = 4096

// Pixelate makes squares of an image their mean. The first one is at the top left. Those at the
// right and at the bottom may be smaller. Alpha becomes its mean too, and colours are weighted by it.
// Where alpha becomes 0, the colours become 0.
type Pixelate struct {
	Size int `attr:"size" doc:"the width and height of a square in pixels, 1 to 4096"`
	part picture.Part
}

// Spec returns the declaration.
func (Pixelate) Spec() *spec.Op { return pixelateOp.Op() }

var pixelateOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*Pixelate]{
		Name:     "pixelate",
		Doc:      "Makes squares of an image their mean. Alpha becomes its mean too, and weighs colours, which become 0 where it does.",
		Defaults: &Pixelate{Size: 8},
		Kernels:  picture.PixelateKernels(),
		Check: func(c *Pixelate) error {
			if c.Size < 1 || c.Size > MaxSquare {
				return planner.Invalid("size (got %d, want 1 to %d)", c.Size, MaxSquare)
			}
			return nil
		},
		Plan: func(c *Pixelate, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanPixelate(t, in, out, c.Size, c.part.From())
		},
		Strips: picture.PlacedStrips(func(c *Pixelate, p picture.Part) *Pixelate { own := *c; own.part = p; return &own },
			func(c *Pixelate, _, _ int, out spec.RowRange) spec.RowRange { return picture.PixelateRows(c.Size, out) }),
		ForOpaque: func(c *Pixelate) *Pixelate { return c },
		Reference: func(c *Pixelate, in, out *tensor.Host) { picture.PixelateReference(c.Size, in, out) },
		Tolerance: func(c *Pixelate, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return picture.Level(d, 1e-6+2e-7*float64(c.Size), "two sums of as many numbers as a square has rows, in f32")
		},
		Flops:   func(*Pixelate) int64 { return 9 },
		Calls:   []*Pixelate{{Size: 8}, {Size: 1}, {Size: 37}, {Size: 300}},
		Invalid: []*Pixelate{{}, {Size: -1}, {Size: 4097}},
	})
}}
