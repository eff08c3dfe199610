// Package imageops declares the image operations: gaussian blur, sobel edges,
// grayscale, threshold, brightness, contrast, invert and sharpen.
//
// An image is a tensor [H,W,C] of f32 in 0..1 with C = 1, 3 or 4, or of u8 with
// C = 4. Colours are red, green, blue, not premultiplied by alpha; those operations
// that work on each pixel alone leave alpha as it is. Filters, which mix neighbours,
// weigh colours by alpha, so that the hidden colours of transparent pixels show
// nowhere; IgnoreAlpha makes them filter colours alone, for data that is not colour.
// Rows may lie apart (a row stride larger than the row); pixels may not.
//
// An operation is called by the struct of its attributes, such as
// GaussianBlur{Sigma: 3}, which is a spec.Call. A u8 result is the exact result
// rounded to the nearest of 256 levels.
package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

var nan, inf = math.NaN(), math.Inf(1)

// Halo returns how many pixels around a pixel its result depends on: 0 for a
// pointwise operation, and for what is no call. It is how far strips of an image
// must overlap.
func Halo(c spec.Call) int {
	c, err := spec.Resolve(c)
	if err != nil || c.Spec().Halo == nil {
		return 0
	}
	return max(c.Spec().Halo(c), 0)
}

// ForOpaque returns calls that compute of an opaque 8-bit picture what the given
// ones compute of it, to the bit, with fewer kernels: nothing is weighed by alpha.
// From the first call on whose operation does not say that it keeps pictures opaque
// (spec.Op.ForOpaque), they stay as they are.
func ForOpaque(calls []spec.Call) []spec.Call {
	out := make([]spec.Call, len(calls))
	copy(out, calls)
	for i, c := range out {
		c, err := spec.Resolve(c)
		if err != nil || c.Spec().ForOpaque == nil {
			return out
		}
		good, ok := c.Spec().ForOpaque(c)
		if !ok {
			return out
		}
		out[i] = good
	}
	return out
}

// Fuse returns calls with every run of two or more pointwise operations made
// one Pointwise, so that it costs one pass. The result of the calls is the same.
// What is no call stays as it is.
func Fuse(calls []spec.Call) []spec.Call {
	var out, run []spec.Call
	flush := func() {
		if len(run) == 1 {
			out = append(out, run[0])
		} else if len(run) > 1 {
			out = append(out, Pointwise{Calls: run})
		}
		run = nil
	}
	for _, c := range calls {
		if good, err := spec.Resolve(c); err == nil {
			if _, ok := picture.StageOf(good); ok {
				run = append(run, good)
				continue
			}
		}
		flush()
		out = append(out, c)
	}
	flush()
	return out
}
