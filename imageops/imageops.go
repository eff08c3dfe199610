// Package imageops declares the image operations: filters such as GaussianBlur and
// Median, pointwise operations on colours such as Levels and Saturation, and operations that move
// pixels such as Resize and Crop.
//
// An image is a tensor [H,W,C] of f32 in 0..1 with C = 1, 3 or 4, or of u8 with C = 4.
// Colours are red, green and blue. They are not premultiplied by alpha. Pointwise operations
// work on each pixel alone and do not change alpha. Filters compute each pixel from its
// neighbours too. They weight colours by alpha, so that the hidden colours of transparent
// pixels have no effect. With IgnoreAlpha they filter the colours without regard to alpha, for
// data that is not colour. There may be gaps between rows, but not between pixels.
//
// The struct of an operation's attributes, such as GaussianBlur{Sigma: 3}, is a spec.Call. A
// u8 result is the exact result, rounded to the nearest of 256 levels.
package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

var nan, inf = math.NaN(), math.Inf(1)

// ForOpaque returns calls that are faster than the given ones and have the same result, bit
// for bit, for an opaque 8-bit picture. They do not weight colours by alpha. Calls are
// replaced only up to the first operation that does not keep pictures opaque
// (spec.Op.ForOpaque). That call and all after it stay as they are.
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

// ForGrey returns the calls for a picture without colours: those that would make colours of it,
// such as Noise, are replaced by calls that do not. A call that is not valid stays as it is.
func ForGrey(calls []spec.Call) []spec.Call {
	out := make([]spec.Call, len(calls))
	copy(out, calls)
	for i, c := range out {
		if good, err := spec.Resolve(c); err == nil && good.Spec().ForGrey != nil {
			if grey, ok := good.Spec().ForGrey(good); ok {
				out[i] = grey
			}
		}
	}
	return out
}

// Fuse replaces each sequence of two or more pointwise operations by one Pointwise, which
// needs only one pass over the image. The result is the same. A call that is not valid stays
// as it is.
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

// within checks that an attribute is a number from low to high. NaN is not.
// Errors: ErrInvalidArgument.
func within(name string, v, low, high float64) error {
	if !(v >= low && v <= high) { // The comparisons are also false for NaN.
		return planner.Invalid("%s (got %v, want %v to %v)", name, v+0, low, high) // + 0: a zero that is Given has a sign
	}
	return nil
}
