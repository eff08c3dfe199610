package imageops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Sharpen applies the kernel [0 −1 0; −1 5 −1; 0 −1 0] to each colour, repeating
// the edge outside of the image, and clamps the result to 0..1.
type Sharpen struct{}

// Spec returns the declaration.
func (Sharpen) Spec() *spec.Op { return sharpenOp }

func (Sharpen) halo() int { return 1 }

var sharpenOp = spec.Register(&spec.Op{
	Name:     "sharpen",
	Group:    "image",
	Doc:      "Sharpens each colour with the kernel [0 −1 0; −1 5 −1; 0 −1 0], clamped to 0..1.",
	In:       imageIn,
	Out:      imageOut,
	Defaults: Sharpen{},
	Kernels: []spec.Kernel{
		{Name: "image/sharpen.u8", Params: stencilParams{}},
		{Name: "image/sharpen.u8.texel", Params: stencilParams{}},
		{Name: "image/sharpen.f32", Params: stencilParams{}},
		{Name: "image/sharpen.f32.texel", Params: stencilParams{}},
	},
	Shape: sameImage("sharpen", nil),
	Plan: func(_ spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		return planStencil(t, "sharpen", in[0], out[0], func(p stencilParams) any { return p })
	},
	Reference: func(_ spec.Call, in, out []*tensor.Host) {
		src := in[0]
		h, w, colours := src.Shape[0], src.Shape[1], min(src.Shape[2], 3)
		for y := range h {
			for x := range w {
				for c := range src.Shape[2] {
					v := src.At(y, x, c) / full(src.DType)
					if c < colours {
						v *= 5
						for _, d := range [][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
							v -= src.At(clampInt(y+d[0], h), clampInt(x+d[1], w), c) / full(src.DType)
						}
						v = clamp01(v)
					}
					store(out[0], v, y, x, c)
				}
			}
		}
	},
	Tolerance: func(_ spec.Call, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
		if d == tensor.U8 {
			return spec.Tolerance{Why: "sums of whole numbers are exact"}
		}
		return spec.Tolerance{Abs: 2e-6, Why: "five roundings to f32 of values up to 5"}
	},
	Cost:  cost(3 * 6),
	Cases: cases([]spec.Call{Sharpen{}}),
})
