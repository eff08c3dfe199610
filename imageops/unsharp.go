package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxUnsharpSigma is the largest standard deviation that Unsharp accepts, in pixels.
const MaxUnsharpSigma = 256

// Unsharp sharpens by an unsharp mask: v becomes v + Amount·(v − b), clamped to 0..1, where b is
// the image blurred by a Gaussian of standard deviation Sigma. Where |v − b| is below Threshold,
// v stays.
//
// Alpha stays as it is. The blur weighs colours by alpha, as GaussianBlur does. So the hidden
// colours of transparent pixels have no effect. Where alpha is 0, the colours become 0.
type Unsharp struct {
	Sigma       float64 `attr:"sigma" doc:"the standard deviation of the blur in pixels, above 0 and up to 256"`
	Amount      float64 `attr:"amount" doc:"how much of the distance from the blurred image is added; 1 is 100 %; above 0 and up to 20"`
	Threshold   float64 `attr:"threshold" doc:"the distance from the blurred image, in 0..1, below which a colour stays; a level of 8 bits is 1/255"`
	IgnoreAlpha bool    `attr:"ignore_alpha" doc:"blur colours regardless of alpha; for data that is not colour"`
}

// Spec returns the declaration.
func (Unsharp) Spec() *spec.Op { return unsharpOp.Op() }

func (c Unsharp) unsharp() picture.Unsharp {
	return picture.Unsharp{Blur: picture.Blur{Sigma: c.Sigma, Weigh: !c.IgnoreAlpha}, Amount: c.Amount, Threshold: c.Threshold}
}

var unsharpOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*Unsharp]{
		Name:     "unsharp",
		Aliases:  []string{"unsharp_mask"},
		Doc:      "Sharpens by an unsharp mask: adds the distance from a blurred image, times an amount, where it is not below a threshold. Alpha stays, and weighs colours in the blur. Where alpha is 0, the colours become 0.",
		Defaults: &Unsharp{Sigma: 1, Amount: 1},
		Kernels:  picture.UnsharpKernels(),
		Check: func(c *Unsharp) error {
			switch {
			case !(c.Sigma > 0 && c.Sigma <= MaxUnsharpSigma):
				return planner.Invalid("sigma (got %v, want above 0 and up to %d)", c.Sigma+0, MaxUnsharpSigma)
			case !(c.Amount > 0 && c.Amount <= 20):
				return planner.Invalid("amount (got %v, want above 0 and up to 20)", c.Amount+0)
			case !(c.Threshold >= 0 && c.Threshold <= 1):
				return planner.Invalid("threshold (got %v, want 0 to 1)", c.Threshold)
			}
			return nil
		},
		Plan: func(c *Unsharp, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanUnsharp(t, in, out, c.unsharp())
		},
		Halo:      func(c *Unsharp) int { return c.unsharp().Blur.Radius() },
		ForOpaque: func(c *Unsharp) *Unsharp { c.IgnoreAlpha = true; return c },
		Reference: func(c *Unsharp, in, out *tensor.Host) { picture.UnsharpReference(c.unsharp(), in, out) },
		Tolerance: func(c *Unsharp, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			near := 0.002
			if c.Threshold > 0 {
				near = 0.02
			}
			if d == tensor.U8 {
				return spec.Tolerance{Abs: 1 + 1.5*c.Amount, Flips: near, Why: "the blurred image has whole levels, one off at most; a distance near the threshold, or a blurred alpha near half a level, may be on either side"}
			}
			return spec.Tolerance{Abs: 1e-6 + 5e-6*c.Amount, Flips: 0.002, Why: "the error of the blur times the amount; a distance near the threshold may be on either side"}
		},
		Flops:   func(c *Unsharp) int64 { return int64(2*3*2*(2*c.unsharp().Blur.Radius()+1)) + 3*4 },
		Calls:   []*Unsharp{{Sigma: 1, Amount: 1}, {Sigma: 4, Amount: 2, Threshold: 0.05}, {Sigma: 2, Amount: 0.5, IgnoreAlpha: true}},
		Invalid: []*Unsharp{{}, {Sigma: 1, Amount: -1}, {Sigma: nan, Amount: 1}, {Sigma: 1, Amount: 1, Threshold: 2}, {Sigma: 300, Amount: 1}},
	})
}}
