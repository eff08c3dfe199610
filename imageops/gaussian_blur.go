package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxSigma is the largest standard deviation that GaussianBlur accepts, in pixels.
const MaxSigma = 1024

// GaussianBlur blurs an image with a Gaussian of standard deviation Sigma. The Gaussian ends
// at radius ⌈3σ⌉ and is normalised. Outside of the image the pixels of the edge are repeated.
//
// Alpha is blurred too, and colours are weighted by it: each colour is multiplied by its
// alpha before the blur, and divided by the blurred alpha after it. So the hidden colours of
// transparent pixels have no effect. Where the blurred alpha is 0, the colours are 0 too.
//
// One pass works along columns and one along rows. In pictures of bytes from σ = 8.4 on these
// passes work on a smaller picture, so that the cost does not grow with σ. On processors they make
// every second row and column from σ = 3.34 on.
type GaussianBlur struct {
	Sigma       float64 `attr:"sigma" doc:"the standard deviation in pixels, above 0 and up to 1024"`
	IgnoreAlpha bool    `attr:"ignore_alpha" doc:"blur colours regardless of alpha, which stays; for data that is not colour"`
	part        picture.Part
}

// Spec returns the declaration.
func (GaussianBlur) Spec() *spec.Op { return gaussianBlurOp.Op() }

func (c GaussianBlur) blur() picture.Blur {
	return picture.Blur{Sigma: c.Sigma, Weigh: !c.IgnoreAlpha, Grid: true, First: c.part.From()}
}

var gaussianBlurOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*GaussianBlur]{
		Name:     "gaussian_blur",
		Aliases:  []string{"blur"},
		Doc:      "Blurs with a Gaussian of a given standard deviation. Alpha is blurred too, and weighs colours, which become 0 where it does.",
		Defaults: &GaussianBlur{Sigma: 2},
		Kernels:  picture.GridKernels(),
		Check: func(c *GaussianBlur) error {
			if s := c.Sigma; !(s > 0 && s <= MaxSigma) {
				return planner.Invalid("sigma (got %v, want above 0 and up to %d)", s+0, MaxSigma) // + 0: a zero that is Given has a sign
			}
			return nil
		},
		Plan: func(c *GaussianBlur, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanBlur(t, in, out, c.blur())
		},
		Strategies: func(c *GaussianBlur, t *spec.Target, in, out tensor.Desc) []string {
			return picture.BlurStrategies(t, in, out, c.blur())
		},
		SizeClass: func(c *GaussianBlur, in tensor.Desc) []int {
			return []int{in.Shape[0], in.Shape[1], c.blur().Radius()}
		},
		Halo: func(c *GaussianBlur) int { return c.blur().Reach() },
		Strips: picture.PlacedStrips(func(c *GaussianBlur, p picture.Part) *GaussianBlur { own := *c; own.part = p; return &own },
			func(c *GaussianBlur, _, _ int, out spec.RowRange) spec.RowRange {
				reach := c.blur().Reach()
				return spec.RowRange{From: out.From - reach, To: out.To + reach}
			}),
		ForOpaque: func(c *GaussianBlur) *GaussianBlur { c.IgnoreAlpha = true; return c },
		Reference: func(c *GaussianBlur, in, out *tensor.Host) { picture.BlurReference(c.blur(), in, out) },
		Tolerance: func(c *GaussianBlur, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			switch {
			case d == tensor.U8 && c.blur().OnGrid():
				tol := spec.Tolerance{Abs: 1, Why: "a blur on a grid errs by 0.95 of a level at most, then rounding"}
				if !c.IgnoreAlpha {
					tol.ByAlpha, tol.Why = 0.95/255, tol.Why+"; colours are a sum divided by alpha"
				}
				return tol
			case d == tensor.U8 && c.blur().OnHalf():
				return spec.Tolerance{Abs: 1, Why: "cells of 2 by 2 pixels err by 0.66 of a level at most, 10 bits or more between the passes, then rounding"}
			case d == tensor.U8:
				return spec.Tolerance{Abs: 1, Why: "10 bits a component or more between the passes, and weights of 15 bits or more, then rounding"}
			}
			return spec.Tolerance{Abs: 4e-6 * max(1, c.Sigma/256), Why: "weights and sums of up to 6145 terms in f32"}
		},
		Flops: func(c *GaussianBlur) int64 { return int64(2 * 3 * 2 * (2*c.blur().Radius() + 1)) },
		Calls: []*GaussianBlur{{Sigma: 2}, {Sigma: 2, IgnoreAlpha: true}, {Sigma: 0.2}, {Sigma: 1e-200}, {Sigma: 3}, {Sigma: 5}, {Sigma: 5, IgnoreAlpha: true}, {Sigma: 17.5}, {Sigma: 256}, {Sigma: 1024}},
		Invalid: []*GaussianBlur{
			{}, {Sigma: spec.Given(0.0)}, {Sigma: -1}, {Sigma: nan}, {Sigma: inf}, {Sigma: 1024.5},
		},
		Bench: &GaussianBlur{Sigma: 3}, // the sigma of comparisons with other libraries
	})
}}
