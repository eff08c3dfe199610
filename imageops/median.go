package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxMedianRadius is the largest radius that Median accepts, in pixels.
const MaxMedianRadius = 128

// Median makes each colour the median of the square of 2·Radius+1 by 2·Radius+1 pixels around
// it. It takes single wrong pixels away and keeps edges. Outside of the image the pixels of the
// edge are repeated. The colours of a pixel are chosen each on its own.
//
// The median of alpha is computed too, and colours are weighted by alpha: the medians are those
// of colours multiplied by alpha, and are divided by the median of alpha. So the hidden colours
// of transparent pixels have no effect. Where alpha becomes 0, the colours are 0.
//
// Radius 1 costs little. On processors, the cost of larger ones grows with the radius for opaque
// pictures of bytes. Elsewhere it grows with its square.
type Median struct {
	Radius      int  `attr:"radius" doc:"pixels on each side of a pixel, 1 to 128; 1 is three by three pixels"`
	IgnoreAlpha bool `attr:"ignore_alpha" doc:"choose colours regardless of alpha, which stays; for data that is not colour"`
}

// Spec returns the declaration.
func (Median) Spec() *spec.Op { return medianOp.Op() }

func (c Median) median() picture.Median {
	return picture.Median{Radius: c.Radius, Weigh: !c.IgnoreAlpha}
}

var medianOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*Median]{
		Name:     "median",
		Doc:      "Makes each colour the median of the square of pixels around it, which takes single wrong pixels away and keeps edges. Each colour is chosen on its own. Alpha gets its median too, and weighs colours, which become 0 where it does.",
		Source:   "J. W. Tukey, Exploratory data analysis, 1977",
		Defaults: &Median{Radius: 1},
		Kernels:  picture.MedianKernels(),
		Check: func(c *Median) error {
			if c.Radius < 1 || c.Radius > MaxMedianRadius {
				return planner.Invalid("radius (got %d, want 1 to %d)", c.Radius, MaxMedianRadius)
			}
			return nil
		},
		Plan: func(c *Median, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanMedian(t, in, out, c.median())
		},
		Halo:      func(c *Median) int { return c.Radius },
		ForOpaque: func(c *Median) *Median { c.IgnoreAlpha = true; return c },
		Reference: func(c *Median, in, out *tensor.Host) { picture.MedianReference(c.median(), in, out) },
		Tolerance: func(c *Median, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			return rankTolerance(!c.IgnoreAlpha, d, in)
		},
		MostPixels: func(c *Median) int { // The reference sorts the pixels of each square.
			if c.Radius > 8 {
				return 2_000
			}
			return 0
		},
		Flops:   func(c *Median) int64 { return int64(3 * 20 * c.Radius * c.Radius) },
		Calls:   []*Median{{Radius: 1}, {Radius: 2}, {Radius: 1, IgnoreAlpha: true}, {Radius: 5, IgnoreAlpha: true}, {Radius: 40}},
		Invalid: []*Median{{}, {Radius: -1}, {Radius: 129}},
	})
}}

// rankTolerance is the tolerance of operations that choose among the values around a pixel.
func rankTolerance(weigh bool, d tensor.DType, in []tensor.Desc) spec.Tolerance {
	if d == tensor.F32 && weigh && len(in) == 1 && in[0].Shape[2] == 4 {
		return spec.Tolerance{Abs: 3e-7, Why: "colours times alpha, and divided by it, in f32"}
	}
	return spec.Tolerance{Why: "a choice among exact numbers"}
}
