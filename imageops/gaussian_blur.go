package imageops

import (
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxSigma is the largest standard deviation GaussianBlur takes, in pixels.
const MaxSigma = 256

// GaussianBlur blurs an image with a Gaussian of standard deviation Sigma, cut at
// radius ⌈3σ⌉ and normalised, repeating the edge outside of the image. Alpha is
// blurred too, and colours weigh by it: each is multiplied by its alpha before and
// divided by the blurred alpha after, so that the hidden colours of transparent
// pixels show nowhere. Where the blurred alpha is 0, so are the colours.
//
// It works along columns and along rows in turn, so that its cost grows with
// σ and not with σ².
type GaussianBlur struct {
	Sigma       float64 `attr:"sigma" doc:"standard deviation in pixels, above 0 and up to 256"`
	IgnoreAlpha bool    `attr:"ignore_alpha" doc:"blur the colours of all pixels alike and leave alpha as it is: for data that is not colour"`
}

// Spec returns the declaration.
func (GaussianBlur) Spec() *spec.Op { return gaussianBlurOp }

func (c GaussianBlur) halo() int { return c.radius() }

func (c GaussianBlur) radius() int { return int(math.Ceil(3 * c.Sigma)) }

var gaussianBlurOp = spec.Register(&spec.Op{
	Name:     "gaussian_blur",
	Aliases:  []string{"blur"},
	Group:    "image",
	Doc:      "Blurs with a Gaussian of a given standard deviation. Alpha is blurred too and colours weigh by it; where it becomes 0, so do they.",
	In:       imageIn,
	Out:      imageOut,
	Defaults: GaussianBlur{Sigma: 2},
	Kernels: []spec.Kernel{
		{Name: "image/gaussian_weights.f32", Params: gaussianWeightsParams{}},
		{Name: "image/gaussian_blur.u8.first", Params: gaussianBlurParams{}},
		{Name: "image/gaussian_blur.u8.second", Params: gaussianBlurParams{}},
		{Name: "image/gaussian_blur.u8.first.texel", Params: gaussianBlurParams{}},
		{Name: "image/gaussian_blur.u8.second.texel", Params: gaussianBlurParams{}},
		{Name: "image/gaussian_blur.u8.first.short.texel", Params: gaussianBlurParams{}},
		{Name: "image/gaussian_blur.u8.second.short.texel", Params: gaussianBlurParams{}},
		{Name: "image/gaussian_blur.f32.first", Params: gaussianBlurParams{}},
		{Name: "image/gaussian_blur.f32.second", Params: gaussianBlurParams{}},
		{Name: "image/gaussian_blur.f32.first.texel", Params: gaussianBlurParams{}},
		{Name: "image/gaussian_blur.f32.second.texel", Params: gaussianBlurParams{}},
		{Name: "image/gaussian_blur_alpha.u8.first", Params: gaussianBlurAlphaParams{}},
		{Name: "image/gaussian_blur_alpha.u8.second", Params: gaussianBlurAlphaParams{}},
		{Name: "image/gaussian_blur_alpha.u8.first.texel", Params: gaussianBlurAlphaParams{}},
		{Name: "image/gaussian_blur_alpha.u8.second.texel", Params: gaussianBlurAlphaParams{}},
		{Name: "image/gaussian_blur_alpha.f32.first", Params: gaussianBlurAlphaParams{}},
		{Name: "image/gaussian_blur_alpha.f32.second", Params: gaussianBlurAlphaParams{}},
		{Name: "image/gaussian_blur_alpha.f32.first.texel", Params: gaussianBlurAlphaParams{}},
		{Name: "image/gaussian_blur_alpha.f32.second.texel", Params: gaussianBlurAlphaParams{}},
	},
	Shape: sameImage("gaussian_blur", func(c spec.Call) error {
		if s := c.(GaussianBlur).Sigma; !(s > 0 && s <= MaxSigma) {
			return fmt.Errorf("imageops: gaussian_blur: %w: sigma (got %v, want above 0 and up to %d)", errs.ErrInvalidArgument, s+0, MaxSigma) // + 0: a zero that is Given has a sign
		}
		return nil
	}),
	Plan: func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		return planBlur(t, in[0], out[0], c.(GaussianBlur))
	},
	Strategies: func(c spec.Call, t *spec.Target, in, out []tensor.Desc) []string {
		return blurWays(t, in[0], out[0], c.(GaussianBlur))
	},
	SizeClass: func(c spec.Call, in []tensor.Desc) []int {
		return []int{in[0].Shape[0], in[0].Shape[1], c.(GaussianBlur).radius()}
	},
	Reference: func(c spec.Call, in, out []*tensor.Host) {
		a := c.(GaussianBlur)
		blurReference(in[0], out[0], a.Sigma, !a.IgnoreAlpha && in[0].Shape[2] == 4)
	},
	Tolerance: func(_ spec.Call, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
		if d == tensor.U8 {
			return spec.Tolerance{Abs: 1, Why: "10 and 11 bits a component between the passes, then rounding"}
		}
		return spec.Tolerance{Abs: 4e-6, Why: "weights and sums of up to 1537 terms in f32"}
	},
	Cost: func(c spec.Call, in []tensor.Desc) spec.Cost {
		return cost(int64(2*3*2*(2*c.(GaussianBlur).radius()+1)))(c, in)
	},
	Cases: func() spec.Cases {
		c := cases([]spec.Call{GaussianBlur{Sigma: 2}, GaussianBlur{Sigma: 2, IgnoreAlpha: true}, GaussianBlur{Sigma: 0.2},
			GaussianBlur{Sigma: 3}, GaussianBlur{Sigma: 17.5}, GaussianBlur{Sigma: 256}},
			GaussianBlur{}, GaussianBlur{Sigma: spec.Given(0.0)}, GaussianBlur{Sigma: -1}, GaussianBlur{Sigma: nan}, GaussianBlur{Sigma: inf}, GaussianBlur{Sigma: 256.5})
		c.Bench = benchCases(GaussianBlur{Sigma: 3}) // what others are compared at
		return c
	}(),
})

// blurReference blurs along rows, then along columns, in float64. Colours are
// weighed by alpha, or by 1 each.
func blurReference(in, out *tensor.Host, sigma float64, weigh bool) {
	h, w, channels := in.Shape[0], in.Shape[1], in.Shape[2]
	r := int(math.Ceil(3 * sigma))
	weights := make([]float64, 2*r+1)
	sum := 0.0
	for i := range weights {
		weights[i] = math.Exp(-float64((i-r)*(i-r)) / (2 * sigma * sigma))
		sum += weights[i]
	}
	blurred := func(value func(y, x int) float64) []float64 {
		row, plane := make([]float64, h*w), make([]float64, h*w)
		for y := range h {
			for x := range w {
				for i, k := range weights {
					row[y*w+x] += k / sum * value(y, clampInt(x+i-r, w))
				}
			}
		}
		for y := range h {
			for x := range w {
				for i, k := range weights {
					plane[y*w+x] += k / sum * row[clampInt(y+i-r, h)*w+x]
				}
			}
		}
		return plane
	}
	alpha := func(y, x int) float64 { return 1 }
	if weigh {
		alpha = func(y, x int) float64 { return in.At(y, x, 3) / full(in.DType) }
	}
	under := blurred(alpha)
	for c := range channels {
		var plane []float64
		if c < 3 {
			plane = blurred(func(y, x int) float64 { return alpha(y, x) * in.At(y, x, c) / full(in.DType) })
		}
		for y := range h {
			for x := range w {
				switch a := under[y*w+x]; {
				case c == 3 && weigh:
					store(out, a, y, x, c)
				case c == 3:
					out.Set(in.At(y, x, c), y, x, c)
				case hidden(in.DType, a):
					out.Set(0, y, x, c)
				default:
					store(out, plane[y*w+x]/a, y, x, c)
				}
			}
		}
	}
}
