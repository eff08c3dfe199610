package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Canny finds edges as thin lines, white on black, by the method of Canny: the luma is blurred, and a
// pixel is an edge where the gradient by Sobel's kernels is a maximum along its direction and above
// Low, and where a line of such pixels joins it with one above High. Pixels that touch at a corner
// are joined. The whole picture decides about a line, however long and wound it is.
//
// The gradient is √(gx²+gy²), as that of SobelEdges: of a step from black to white it is 4 if nothing
// is blurred, and about 3.2/Sigma of a blurred one from Sigma 1.5 on. Thresholds of OpenCV's Canny with
// L2gradient are 255 times these. Outside of the image the pixels of the edge are repeated.
//
// The luma is multiplied by alpha first, so that hidden colours make no edges, and alpha becomes 1.
// Luma has 8160 levels, and all is computed in whole numbers: each device finds the same edges.
//
// A strip needs the whole picture. If the 4 bytes for each block of two by two pixels do not fit one
// binding, that is a *LimitError: with 128 MiB, pictures of up to 134 megapixels work.
type Canny struct {
	Sigma       float64 `attr:"sigma,zero" doc:"the blur before: a standard deviation in pixels, 0 to 10"`
	Low         float64 `attr:"low,zero" doc:"the gradient above which a pixel continues an edge; 0 to high"`
	High        float64 `attr:"high" doc:"the gradient above which a pixel is an edge; above 0 and up to 5; the largest possible is about 4.5"`
	IgnoreAlpha bool    `attr:"ignore_alpha" doc:"use the luma regardless of alpha; for data that is not colour"`
}

// Spec returns the declaration.
func (Canny) Spec() *spec.Op { return cannyOp.Op() }

func (c Canny) canny() picture.Canny {
	return picture.Canny{Sigma: c.Sigma, Low: c.Low, High: c.High, Weigh: !c.IgnoreAlpha}
}

var cannyOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*Canny]{
		Name: "canny", Aliases: []string{"canny_edges"},
		Doc:      "Finds edges as thin lines, white on black, by Canny's method: a blur, gradients at maxima, and two thresholds. Lines are followed through the whole picture.",
		Source:   "J. Canny, A computational approach to edge detection, 1986",
		Defaults: &Canny{Sigma: 1.4, Low: 0.1, High: 0.3},
		Kernels:  picture.CannyKernels(),
		Check: func(c *Canny) error {
			if err := within("sigma", c.Sigma, 0, 10); err != nil {
				return err
			}
			if !(c.High > 0 && c.High <= 5) {
				return planner.Invalid("high (got %v, want above 0 and up to 5)", c.High+0)
			}
			return within("low", c.Low, 0, c.High)
		},
		Plan: func(c *Canny, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanCanny(t, in, out, c.canny())
		},
		Strips:     wholeStrips[*Canny](),
		MostPixels: func(*Canny) int { return 43_000 }, // three rows of edges, of four bytes a pixel
		ForOpaque:  func(c *Canny) *Canny { own := *c; own.IgnoreAlpha = true; return &own },
		Reference:  func(c *Canny, in, out *tensor.Host) { picture.CannyReference(c.canny(), in, out) },
		Tolerance: func(*Canny, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "all numbers are whole"}
		},
		Flops:   func(c *Canny) int64 { return int64(12*c.Sigma) + 100 },
		Calls:   []*Canny{{Sigma: 1.4, Low: 0.1, High: 0.3}, {High: 1.5}, {Low: 1.2, High: 2.5, IgnoreAlpha: true}},
		Invalid: []*Canny{{}, {Sigma: -1, High: 1}, {Sigma: nan, High: 1}, {High: 6}, {Low: 1, High: 0.5}, {Low: nan, High: 1}, {High: nan}},
	})
}}
