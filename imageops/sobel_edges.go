package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// SobelEdges finds edges of the luma. Gx and gy are the convolutions of the luma with
// [−1 0 1; −2 0 2; −1 0 1] and with its transpose. Outside of the image the pixels of the edge
// are repeated. Colours become 1 where √(gx²+gy²) > Threshold, and 0 elsewhere. Alpha becomes
// 1.
//
// The luma is multiplied by alpha first. So the edges are those of the image on black, and
// the hidden colours of transparent pixels make no edges.
type SobelEdges struct {
	Threshold float64 `attr:"threshold,zero" doc:"the gradient above which a pixel is an edge; the largest possible is about 4.5; any number within ±10⁶"`
	// Magnitude makes colours √(gx²+gy²) itself. For u8, larger values become 255.
	Magnitude   bool `attr:"magnitude" doc:"colours become the gradient itself, and the threshold is ignored"`
	IgnoreAlpha bool `attr:"ignore_alpha" doc:"use the luma regardless of alpha; for data that is not colour"`
}

// Spec returns the declaration.
func (SobelEdges) Spec() *spec.Op { return sobelEdgesOp.Op() }

type sobelParams struct {
	picture.StencilParams
	Magnitude uint32
	Threshold float32
}

var sobelEdgesOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineStencil(picture.Stencil[*SobelEdges]{
		Name:     "sobel_edges",
		Aliases:  []string{"sobel", "edges"},
		Doc:      "Finds edges, which are pixels where the gradient of luma times alpha by Sobel's kernels is above a threshold. It can return the gradient itself instead.",
		Source:   "I. Sobel and G. Feldman, A 3×3 isotropic gradient operator for image processing, 1968",
		Defaults: &SobelEdges{Threshold: 0.4},
		Check: func(a *SobelEdges) error {
			if !a.Magnitude && math.Float64bits(a.Threshold) == 0 {
				return planner.Invalid("threshold is zero, as if left out (spec.WithDefaults sets its default, 0.4; spec.Given(0) is a zero that is meant)")
			}
			return picture.Finite("threshold", a.Threshold)
		},
		Params: func(a *SobelEdges, p picture.StencilParams, full float64) any {
			s := sobelParams{StencilParams: p, Threshold: float32(a.Threshold * full)}
			if a.Magnitude {
				s.Magnitude = 1
			}
			return s
		},
		IgnoreAlpha: func(a *SobelEdges) bool { return a.IgnoreAlpha },
		ForOpaque:   func(a *SobelEdges) *SobelEdges { a.IgnoreAlpha = true; return a },
		Halves: []string{
			"image/sobel_halves.u8", "image/sobel_halves.u8.alpha",
			"image/sobel_halves.u8.length", "image/sobel_halves.u8.length.alpha",
		},
		Halved: func(a *SobelEdges, phase string) string {
			if a.Magnitude {
				phase = ".length" + phase
			}
			return "image/sobel_halves.u8" + phase
		},
		Reference: func(a *SobelEdges, src, out *tensor.Host) {
			h, w, colours := src.Shape[0], src.Shape[1], min(src.Shape[2], 3)
			px := make([]float64, colours)
			at := func(y, x int) float64 {
				for c := range px {
					px[c] = src.At(picture.ClampIndex(y, h), picture.ClampIndex(x, w), c) / picture.Full(src.DType)
				}
				luma := picture.Luma(px)
				if src.Shape[2] == 4 && !a.IgnoreAlpha {
					luma *= src.At(picture.ClampIndex(y, h), picture.ClampIndex(x, w), 3) / picture.Full(src.DType)
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
						picture.Store(out, v, y, x, c)
					}
					if src.Shape[2] == 4 {
						picture.Store(out, 1, y, x, 3)
					}
				}
			}
		},
		Tolerance: func(a *SobelEdges, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			switch {
			case !a.Magnitude:
				return spec.Tolerance{Flips: 0.002, Why: "a gradient within f32 rounding of the threshold may fall on either side"}
			case d == tensor.U8:
				return spec.Tolerance{Abs: 1, Why: picture.EitherLevel}
			}
			return spec.Tolerance{Abs: 8e-6, Why: "sums of eight lumas and a square root in f32"}
		},
		Flops:   3*5 + 18,
		Calls:   []*SobelEdges{{Threshold: 0.4}, {Magnitude: true}, {Threshold: 1.5}, {Magnitude: true, IgnoreAlpha: true}},
		Invalid: []*SobelEdges{{}, {Threshold: nan}},
	})
}}
