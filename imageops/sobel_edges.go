package imageops

import (
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// SobelEdges makes the edges of the luma: gx and gy are its convolutions with
// [−1 0 1; −2 0 2; −1 0 1] and the transpose, the edge repeated outside of the
// image, and colours become 1 where √(gx²+gy²) > Threshold and 0 elsewhere;
// alpha becomes 1. The luma is multiplied by alpha before: the edges are those of
// the image on black, and the hidden colours of transparent pixels make none.
type SobelEdges struct {
	Threshold float64 `attr:"threshold,zero" doc:"gradient above which a pixel is an edge; the steepest possible is about 4.5"`
	// Magnitude makes colours √(gx²+gy²) itself; u8 saturates.
	Magnitude   bool `attr:"magnitude" doc:"give the gradient itself and ignore the threshold"`
	IgnoreAlpha bool `attr:"ignore_alpha" doc:"take the luma of all pixels alike, transparent ones too: for data that is not colour"`
}

// Spec returns the declaration.
func (SobelEdges) Spec() *spec.Op { return sobelEdgesOp }

func (SobelEdges) halo() int { return 1 }

type sobelParams struct {
	stencilParams
	Magnitude uint32
	Threshold float32
}

var sobelEdgesOp = spec.Register(&spec.Op{
	Name:     "sobel_edges",
	Aliases:  []string{"sobel", "edges"},
	Group:    "image",
	Doc:      "Finds edges: the gradient of the luma times alpha by Sobel's kernels, above a threshold or itself.",
	Source:   "I. Sobel and G. Feldman, A 3×3 isotropic gradient operator for image processing, 1968",
	In:       imageIn,
	Out:      imageOut,
	Defaults: SobelEdges{Threshold: 0.4},
	Kernels:  stencilKernels("sobel_edges", sobelParams{}),
	Shape: sameImage("sobel_edges", func(c spec.Call) error {
		a := c.(SobelEdges)
		if !a.Magnitude && math.Float64bits(a.Threshold) == 0 {
			return fmt.Errorf("imageops: sobel_edges: %w: threshold is zero, as if left out (spec.WithDefaults sets its default, 0.4; spec.Given(0) is a zero that is meant)", errs.ErrInvalidArgument)
		}
		return finite("sobel_edges", "threshold", a.Threshold, maxFactor)
	}),
	Plan: func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		a := c.(SobelEdges)
		scale := full(in[0].DType)
		return planStencil(t, "sobel_edges", in[0], out[0], a.IgnoreAlpha, func(p stencilParams) any {
			s := sobelParams{stencilParams: p, Threshold: float32(a.Threshold * scale)}
			if a.Magnitude {
				s.Magnitude = 1
			}
			return s
		})
	},
	Reference: func(call spec.Call, in, out []*tensor.Host) {
		a, src := call.(SobelEdges), in[0]
		h, w, colours := src.Shape[0], src.Shape[1], min(src.Shape[2], 3)
		px := make([]float64, colours)
		at := func(y, x int) float64 {
			for c := range px {
				px[c] = src.At(clampInt(y, h), clampInt(x, w), c) / full(src.DType)
			}
			luma := lumaOf(px)
			if src.Shape[2] == 4 && !a.IgnoreAlpha {
				luma *= src.At(clampInt(y, h), clampInt(x, w), 3) / full(src.DType)
			}
			return luma
		}
		kernel := [3][3]float64{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}}
		for y := range h {
			for x := range w {
				var gx, gy float64
				for j := range 3 {
					for i := range 3 {
						v := at(y+j-1, x+i-1)
						gx += kernel[j][i] * v
						gy += kernel[i][j] * v
					}
				}
				v := math.Hypot(gx, gy)
				if !a.Magnitude {
					if v > a.Threshold {
						v = 1
					} else {
						v = 0
					}
				} else if src.DType == tensor.U8 {
					v = min(v, 1)
				}
				for c := range colours {
					store(out[0], v, y, x, c)
				}
				if src.Shape[2] == 4 {
					store(out[0], 1, y, x, 3)
				}
			}
		}
	},
	Tolerance: func(c spec.Call, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
		switch {
		case !c.(SobelEdges).Magnitude:
			return spec.Tolerance{Flips: 0.002, Why: "a gradient within f32 rounding of the threshold may fall on either side"}
		case d == tensor.U8:
			return spec.Tolerance{Abs: 1, Why: "a result within rounding of a half may become either level"}
		}
		return spec.Tolerance{Abs: 8e-6, Why: "sums of eight lumas and a square root in f32"}
	},
	Cost:  cost(3*5 + 18),
	Cases: cases([]spec.Call{SobelEdges{Threshold: 0.4}, SobelEdges{Magnitude: true}, SobelEdges{Threshold: 1.5}, SobelEdges{Magnitude: true, IgnoreAlpha: true}}, SobelEdges{}, SobelEdges{Threshold: nan}),
})
