package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// BoxBlur makes each colour the mean of the square of 2·Radius+1 by 2·Radius+1 pixels around it.
// Outside of the image the pixels of the edge are repeated. The cost hardly depends on the radius.
//
// Alpha is blurred too, and colours are weighted by it, as GaussianBlur does.
type BoxBlur struct {
	Radius      int  `attr:"radius" doc:"pixels on each side of a pixel, 1 to 128; 1 is three by three pixels"`
	IgnoreAlpha bool `attr:"ignore_alpha" doc:"blur colours regardless of alpha, which stays; for data that is not colour"`
}

// Spec returns the declaration.
func (BoxBlur) Spec() *spec.Op { return boxBlurOp.Op() }

func (c BoxBlur) window() picture.Window {
	return picture.Window{Fold: picture.Mean, Radius: c.Radius, Weigh: !c.IgnoreAlpha}
}

var boxBlurOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*BoxBlur]{
		Name:     "box_blur",
		Doc:      "Makes each colour the mean of the square of pixels around it. Alpha is blurred too, and weighs colours, which become 0 where it does.",
		Defaults: &BoxBlur{Radius: 3},
		Kernels:  picture.WindowKernels(false, picture.Mean),
		Check:    func(c *BoxBlur) error { return checkRadius(c.Radius) },
		Plan: func(c *BoxBlur, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanWindows(t, in, out, c.window())
		},
		Halo:      func(c *BoxBlur) int { return c.Radius },
		ForOpaque: func(c *BoxBlur) *BoxBlur { c.IgnoreAlpha = true; return c },
		Reference: func(c *BoxBlur, in, out *tensor.Host) { picture.WindowsReference(in, out, c.window()) },
		Tolerance: func(c *BoxBlur, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			if d == tensor.U8 {
				return spec.Tolerance{Why: "sums of whole numbers are exact"}
			}
			// Two sums of 2·radius+1 terms, of colours and of alpha, and some roundings more.
			return spec.Tolerance{Abs: float64(4*(2*c.Radius+1)+8) * 0x1p-24, Why: "sums in f32 of (2·radius+1)² terms, in two passes, and their quotient"}
		},
		Flops:   func(*BoxBlur) int64 { return 4 * 2 * 3 },
		Calls:   []*BoxBlur{{Radius: 3}, {Radius: 1, IgnoreAlpha: true}, {Radius: 10}, {Radius: 128}},
		Invalid: []*BoxBlur{{}, {Radius: -3}, {Radius: 129}},
	})
}}
