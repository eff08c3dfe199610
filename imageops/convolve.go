package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// MaxKernel is the largest width and height of a kernel that Convolve accepts.
const MaxKernel = 31

// Convolve makes each colour the sum of the colours around it, each times a number of Kernel. The
// result is the sum times Scale, plus Bias, clamped to 0..1. The kernel is not turned round: its
// first number belongs to the pixel above and to the left. Outside of the image the pixels of the
// edge are repeated.
//
// Alpha stays as it is. A pixel counts as much as it is opaque, and the pixel in the middle stands
// for the rest of it. So the hidden colours of transparent pixels have no effect, and the edge of
// a cut-out is no edge. Where alpha is 0, the colours become 0.
type Convolve struct {
	Kernel      []float64 `attr:"kernel,required,main" doc:"the numbers of the kernel row by row, separated by commas; an odd number of rows and columns, up to 31 of each; each within ±10⁶"`
	Width       int       `attr:"width" doc:"the number of columns of the kernel; 0 means that it is a square"`
	Scale       float64   `attr:"scale" doc:"the factor of the sum, for example one ninth for nine ones; any number within ±10⁶"`
	Bias        float64   `attr:"bias" doc:"what is added to the result, where 1 is full; any number within ±10⁶"`
	IgnoreAlpha bool      `attr:"ignore_alpha" doc:"add colours regardless of alpha; for data that is not colour"`
}

// Spec returns the declaration.
func (Convolve) Spec() *spec.Op { return convolveOp.Op() }

func (c Convolve) convolution() picture.Convolution {
	width := c.Width
	if width == 0 {
		width = int(math.Round(math.Sqrt(float64(len(c.Kernel)))))
	}
	return picture.Convolution{Kernel: c.Kernel, Width: width, Scale: c.Scale, Bias: c.Bias, Weigh: !c.IgnoreAlpha}
}

func (c Convolve) check() error {
	k := c.convolution()
	odd := func(n int) bool { return n%2 == 1 && n > 0 && n <= MaxKernel }
	if k.Width < 0 || !odd(k.Width) || k.Width*k.Height() != len(k.Kernel) || !odd(k.Height()) {
		return planner.Invalid("kernel (got %d numbers in rows of %d, want an odd number of rows and columns, up to %d of each)", len(k.Kernel), k.Width, MaxKernel)
	}
	for _, v := range append([]float64{c.Scale, c.Bias}, c.Kernel...) {
		if err := picture.Finite("kernel, scale and bias", v); err != nil {
			return err
		}
	}
	return nil
}

var convolveOp = spec.Declaration{Define: func() *spec.Op {
	return defineConvolution(convolution[*Convolve]{
		name:     "convolve",
		doc:      "Makes each colour the sum of the colours around it, each times a number of a kernel, times a scale and plus a bias, clamped to 0..1.",
		defaults: &Convolve{Kernel: []float64{0, 1, 0, 1, -4, 1, 0, 1, 0}, Scale: 1},
		check:    (*Convolve).check,
		of:       (*Convolve).convolution,
		opaque:   func(c *Convolve) *Convolve { c.IgnoreAlpha = true; return c },
		calls: []*Convolve{
			{Kernel: []float64{0, 1, 0, 1, -4, 1, 0, 1, 0}, Scale: 1, Bias: 0.5},
			{Kernel: []float64{1, 2, 3, 4, 5}, Width: 5, Scale: 1. / 15, IgnoreAlpha: true},
			{Kernel: []float64{-1, 0.5, 0, 1, 0, -2, 3}, Width: 1, Scale: 0.5},
		},
		invalid: []*Convolve{
			{}, {Kernel: []float64{1, 2}, Scale: 1}, {Kernel: []float64{1, 2, 3}, Width: 2, Scale: 1}, {Kernel: []float64{1}, Width: -1, Scale: 1},
			{Kernel: []float64{nan}, Scale: 1}, {Kernel: make([]float64, 33), Width: 33, Scale: 1}, {Kernel: []float64{1}, Scale: inf},
		},
	})
}}
