package imageops

import (
	"image"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// margin is how many pixels an image that was decoded smaller has for one of the result, in each
// direction. The filter has still something to do then, and decides how sharp the result is.
const margin = 2

// shrunk says that an image was decoded at a half, a quarter or an eighth of its size. The zero value says that it
// was not.
type shrunk struct {
	full image.Point // its size in the file, upright
	// Rows and columns of the file that do not fill a pixel are at its right and bottom. In an upright image
	// they may be at the left and at the top.
	rightToLeft, bottomUp bool
}

// ratio is by how much an image of h by w pixels is smaller than in its file.
func (s shrunk) ratio(h, w int) int {
	for by := 2; by <= 8 && s.full != (image.Point{}) && s.full != image.Pt(w, h); by *= 2 {
		if (s.full.X+by-1)/by == w && (s.full.Y+by-1)/by == h {
			return by
		}
	}
	return 1
}

// inShrunk returns an axis of the full image as one of n pixels. The part of a pixel that rounding up has added is
// at the end, or at the begin.
func inShrunk(a picture.Axis, n, by int, atBegin bool) picture.Axis {
	start := a.Start / float64(by)
	if atBegin {
		start += float64(n) - float64(a.In)/float64(by)
	}
	return picture.Axis{In: n, Out: a.Out, Start: start, Length: a.Length / float64(by)}
}

// AtLeast returns the smallest size in which an image of a size may be decoded for calls, as
// imageio.DecodeOptions.AtLeast takes it. It is the size itself, unless the first call is a Resize that
// makes the image smaller, and neither picks pixels (Filter nearest) nor sums in linear light. A
// ToSRGB may be before it. ForShrunk makes the calls for an image that was decoded smaller.
func AtLeast(size image.Point, calls ...spec.Call) image.Point {
	i := firstResize(calls)
	if i < 0 {
		return size
	}
	r, err := spec.As[*Resize](calls[i])
	if err != nil || r.Filter == "nearest" || r.Linear || r.part != (picture.Part{}) || r.shrunk != (shrunk{}) {
		return size
	}
	if _, err := Size(size, r); err != nil {
		return size
	}
	down, across, err := r.axes(size.Y, size.X)
	if err != nil {
		return size
	}
	need := func(a picture.Axis) int {
		return int(math.Ceil(margin * float64(a.Out) * float64(a.In) / a.Length))
	}
	return image.Pt(min(need(across), size.X), min(need(down), size.Y))
}

// ForShrunk returns the calls for an image that was decoded smaller than it is in its file, as AtLeast
// allows: those that make of it what the calls make of the full image, which has the size full. The first Resize then makes exactly
// the size that it makes of the full image, of the same part. full is
// imageio.Info.Full, and orientation imageio.Info.Orientation. For an image that was not decoded smaller, the calls do what
// they did.
func ForShrunk(calls []spec.Call, full image.Point, orientation int) []spec.Call {
	out := slices.Clone(calls)
	i := firstResize(calls)
	if i < 0 {
		return out
	}
	if r, err := spec.As[*Resize](calls[i]); err == nil {
		r.shrunk = shrunk{
			full:        full,
			rightToLeft: slices.Contains([]int{2, 3, 6, 7}, orientation),
			bottomUp:    slices.Contains([]int{3, 4, 7, 8}, orientation),
		}
		out[i] = r
	}
	return out
}

// firstResize is the number of the first call if it is a Resize, or of the Resize behind conversions of
// colours. It is −1 if there is none.
func firstResize(calls []spec.Call) int {
	for i, c := range calls {
		if _, err := spec.As[*ToSRGB](c); err == nil {
			continue
		}
		if _, err := spec.As[*Resize](c); err == nil {
			return i
		}
		break
	}
	return -1
}
