package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxLength is the longest line of MotionBlur, in pixels.
const MaxLength = 512

// MotionBlur makes each pixel the mean of a line through it, as when a camera moves. Outside of the
// image the pixels of the edge are repeated. Alpha is blurred too, and colours are weighted by it.
// Where alpha becomes 0, the colours become 0.
type MotionBlur struct {
	Length      float64 `attr:"length,main" doc:"the length of the line in pixels, 1 to 512; the pixel is in its middle"`
	Angle       float64 `attr:"angle" doc:"the direction of the line in degrees, clockwise from the right; -360 to 360"`
	IgnoreAlpha bool    `attr:"ignore_alpha" doc:"blur colours regardless of alpha, which stays; for data that is not colour"`
}

// Spec returns the declaration.
func (MotionBlur) Spec() *spec.Op { return motionBlurOp.Op() }

func (c *MotionBlur) motion() picture.Motion {
	return picture.Motion{Degrees: c.Angle, Length: c.Length, Weigh: !c.IgnoreAlpha}
}

var motionBlurOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*MotionBlur]{
		Name:     "motion_blur",
		Doc:      "Makes each pixel the mean of a line through it, as when a camera moves. Alpha is blurred too, and weighs colours, which become 0 where it does.",
		Defaults: &MotionBlur{Length: 15},
		Kernels:  picture.MotionKernels(),
		Check: func(c *MotionBlur) error {
			if !(c.Length >= 1 && c.Length <= MaxLength) {
				return planner.Invalid("length (got %v, want 1 to %d)", c.Length+0, MaxLength)
			}
			return within("angle", c.Angle, -360, 360)
		},
		Plan: func(c *MotionBlur, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanMotion(t, in, out, c.motion())
		},
		Halo:      func(c *MotionBlur) int { return c.motion().Radius() },
		ForOpaque: func(c *MotionBlur) *MotionBlur { own := *c; own.IgnoreAlpha = true; return &own },
		Reference: func(c *MotionBlur, in, out *tensor.Host) {
			sin, cos := math.Sincos(c.Angle / 180 * math.Pi)
			picture.LineReference(!c.IgnoreAlpha, in, out, func(_, _ int, f func(dx, dy float64)) int {
				// Four points for a pixel of the line.
				n := 4 * int(math.Ceil(c.Length))
				for k := range n {
					distance := c.Length * (float64(2*k+1-n) / float64(2*n))
					f(distance*cos, distance*sin)
				}
				return n
			})
		},
		Tolerance: func(c *MotionBlur, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return picture.LineTolerance(d, 3*c.Length)
		},
		Flops:   func(c *MotionBlur) int64 { return int64(2 * 4 * 3 * c.Length) },
		Calls:   []*MotionBlur{{Length: 15}, {Length: 8.5, Angle: 30}, {Length: 1, Angle: 90}, {Length: 40, Angle: -135, IgnoreAlpha: true}},
		Invalid: []*MotionBlur{{}, {Length: 0.5}, {Length: nan}, {Length: 600}, {Length: 5, Angle: inf}},
	})
}}
