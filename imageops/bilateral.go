package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxBilateralRadius is the largest radius of Bilateral, in pixels.
const MaxBilateralRadius = 32

// Bilateral blurs an image and keeps its edges. Each pixel becomes the mean of a disc of pixels. A
// pixel counts the less, the farther away it is and the more its colour differs, both by a Gaussian.
// The distance of two colours is the sum of the distances of their channels, as in OpenCV's
// bilateralFilter, whose sigmaColor is 255 times SigmaColor. Outside of the image the pixels of the
// edge are repeated. The cost grows with the square of the radius.
//
// Alpha is blurred too, and colours are weighted by it. Distances are then those of colours times
// alpha, and of alpha, so that the edge of a cut-out is an edge. Where alpha becomes 0, the colours
// become 0.
type Bilateral struct {
	SigmaSpace float64 `attr:"sigma_space,main" doc:"the standard deviation of distances, in pixels; 0.1 to 1000"`
	SigmaColor float64 `attr:"sigma_color" doc:"that of distances of colours, where 1 is full; 0.001 to 100"`
	// Radius 0 is 1.5·SigmaSpace, rounded, and at least 1.
	Radius      int  `attr:"radius,zero" doc:"the disc's radius, 1 to 32; 0 takes 1.5·sigma_space, which must be below 21.6"`
	IgnoreAlpha bool `attr:"ignore_alpha" doc:"blur colours regardless of alpha, which stays; for data that is not colour"`
}

// Spec returns the declaration.
func (Bilateral) Spec() *spec.Op { return bilateralOp.Op() }

func (c Bilateral) bilateral() picture.Bilateral {
	if c.Radius == 0 {
		c.Radius = max(1, int(math.RoundToEven(1.5*c.SigmaSpace)))
	}
	return picture.Bilateral{Space: c.SigmaSpace, Colour: c.SigmaColor, Radius: c.Radius, Weigh: !c.IgnoreAlpha}
}

var bilateralOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*Bilateral]{
		Name:     "bilateral",
		Aliases:  []string{"bilateral_blur"},
		Doc:      "Blurs an image and keeps its edges: pixels count by their distance and by how alike their colours are. Alpha is blurred too, and weighs colours, which become 0 where it does.",
		Source:   "C. Tomasi and R. Manduchi, Bilateral filtering for gray and color images, 1998",
		Defaults: &Bilateral{SigmaSpace: 3, SigmaColor: 0.1},
		Kernels:  picture.BilateralKernels(),
		Check: func(c *Bilateral) error {
			if err := within("sigma_space", c.SigmaSpace, 0.1, 1000); err != nil {
				return err
			}
			if err := within("sigma_color", c.SigmaColor, 0.001, 100); err != nil {
				return err
			}
			if c.Radius < 0 || c.Radius > MaxBilateralRadius {
				return planner.Invalid("radius (got %d, want 1 to %d, or 0 for 1.5 times sigma_space)", c.Radius, MaxBilateralRadius)
			}
			if r := c.bilateral().Radius; r > MaxBilateralRadius {
				return planner.Invalid("sigma_space (got %v, which takes a radius of %d; want a radius of at most %d)", c.SigmaSpace, r, MaxBilateralRadius)
			}
			return nil
		},
		Plan: func(c *Bilateral, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanBilateral(t, in, out, c.bilateral())
		},
		Halo:      func(c *Bilateral) int { return c.bilateral().Radius },
		ForOpaque: func(c *Bilateral) *Bilateral { c.IgnoreAlpha = true; return c },
		Reference: func(c *Bilateral, in, out *tensor.Host) { picture.BilateralReference(c.bilateral(), in, out) },
		Tolerance: func(_ *Bilateral, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return picture.LikenessTolerance(d)
		},
		Flops: func(c *Bilateral) int64 {
			r := int64(c.bilateral().Radius)
			return 20 * 3 * r * r
		},
		Calls:   []*Bilateral{{SigmaSpace: 2, SigmaColor: 0.8}, {SigmaSpace: 5, SigmaColor: 0.3, Radius: 2, IgnoreAlpha: true}},
		Invalid: []*Bilateral{{}, {SigmaSpace: -1, SigmaColor: 1}, {SigmaSpace: 2, SigmaColor: nan}, {SigmaSpace: 22, SigmaColor: 1}, {SigmaSpace: 2, SigmaColor: 1, Radius: 33}},
	})
}}
