package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Sharpen applies the kernel [0 −1 0; −1 5 −1; 0 −1 0] and clamps the result to 0..1. Outside
// of the image the pixels of the edge are repeated.
//
// Alpha is sharpened too, and colours are weighted by it: each colour is multiplied by its
// alpha before, and divided by the sharpened alpha afterwards. So the hidden colours of
// transparent pixels have no effect. Where the sharpened alpha is 0 or less, alpha and
// colours are 0.
type Sharpen struct {
	IgnoreAlpha bool `attr:"ignore_alpha" doc:"sharpen colours regardless of alpha, which stays; for data that is not colour"`
}

// Spec returns the declaration.
func (Sharpen) Spec() *spec.Op { return sharpenOp.Op() }

var sharpenOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineStencil(picture.Stencil[*Sharpen]{
		Name:        "sharpen",
		Doc:         "Sharpens with the kernel [0 −1 0; −1 5 −1; 0 −1 0], clamped to 0..1. Alpha is sharpened too, and weighs colours, which become 0 where it does.",
		IgnoreAlpha: func(c *Sharpen) bool { return c.IgnoreAlpha },
		ForOpaque:   func(c *Sharpen) *Sharpen { c.IgnoreAlpha = true; return c },
		Halves:      []string{"image/sharpen_halves.u8"},
		Halved: func(_ *Sharpen, phase string) string {
			if phase != "" {
				return "" // The results are the same, because sums of whole numbers are exact.
			}
			return "image/sharpen_halves.u8"
		},
		Reference: func(c *Sharpen, in, out *tensor.Host) {
			sharpenReference(in, out, !c.IgnoreAlpha && in.Shape[2] == 4)
		},
		Tolerance: func(c *Sharpen, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			switch {
			case d == tensor.U8:
				return spec.Tolerance{Why: "sums of whole numbers are exact"}
			case !c.IgnoreAlpha && len(in) == 1 && in[0].Shape[2] == 4:
				return spec.Tolerance{Abs: 2e-6, ByAlpha: 4e-6, Why: "roundings to f32 of values up to 5; colours are a sum divided by alpha"}
			}
			return spec.Tolerance{Abs: 2e-6, Why: "five roundings to f32 of values up to 5"}
		},
		Flops: 3 * 6,
		Calls: []*Sharpen{{}, {IgnoreAlpha: true}},
	})
}}

// sharpenReference adds values times alpha, or times 1, in the scale of the dtype. In that
// scale sums of u8 are whole numbers, and halves of them are exact.
func sharpenReference(in, out *tensor.Host, weigh bool) {
	h, w, channels, whole := in.Shape[0], in.Shape[1], in.Shape[2], picture.Full(in.DType)
	kernel := []struct {
		dy, dx int
		k      float64
	}{{0, 0, 5}, {-1, 0, -1}, {1, 0, -1}, {0, -1, -1}, {0, 1, -1}}
	for y := range h {
		for x := range w {
			sums, alpha := make([]float64, channels), 0.0
			for _, t := range kernel {
				j, i, weight := picture.ClampIndex(y+t.dy, h), picture.ClampIndex(x+t.dx, w), 1.0
				if weigh {
					weight = in.At(j, i, 3)
				}
				alpha += t.k * weight
				for c := range sums {
					sums[c] += t.k * weight * in.At(j, i, c)
				}
			}
			for c := range sums {
				v := sums[c] / alpha / whole
				switch {
				case c == 3 && weigh:
					v = alpha / whole
				case c == 3:
					v = in.At(y, x, c) / whole
				case alpha <= 0:
					v = 0
				}
				if in.DType == tensor.U8 && c < 3 && alpha > 0 {
					out.Set(min(max(math.Floor(sums[c]/alpha+0.5), 0), 255), y, x, c)
					continue
				}
				picture.Store(out, picture.Clamp01(v), y, x, c)
			}
		}
	}
}
