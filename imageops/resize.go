package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Resize makes an image larger or smaller. Where it makes it smaller, the filter becomes wider
// by the same factor, so that there is no aliasing. The filter ends at the edges of the image.
//
// Width and Height are those of the result, as Fit says. If one of them is 0, the shape stays
// as it is. Percent may be given instead of both.
//
// Alpha is resized too, and colours are weighted by it. With Linear they are converted from
// sRGB to linear light before they are summed, and back. That is right for photographs, and
// takes longer.
type Resize struct {
	Width   int     `attr:"width" doc:"width in pixels; 0 means what keeps the shape"`
	Height  int     `attr:"height" doc:"height in pixels; 0 means what keeps the shape"`
	Percent float64 `attr:"percent" doc:"size in percent of the image, instead of width and height; above 0 and up to 10000"`
	// Fit is one of Fits.
	Fit        string `attr:"fit" doc:"inside (not larger than width and height), outside (not smaller), cover (fill both, cut off the rest) or stretch"`
	OnlyShrink bool   `attr:"only_shrink" doc:"leave images as they are that the call would make larger"`
	Gravity    string `attr:"gravity" doc:"which part fit=cover keeps: center, top-left, top, top-right, left, right, bottom-left, bottom or bottom-right"`
	Filter     string `attr:"filter" doc:"nearest, box (the mean of the area of a pixel), bilinear, catmull-rom, mitchell, lanczos2 or lanczos3"`
	Linear     bool   `attr:"linear" doc:"sum colours in linear light"`
	part       picture.Part
	opaque     bool   // No pixel is transparent.
	shrunk     shrunk // how the image was decoded
}

// Spec returns the declaration.
func (Resize) Spec() *spec.Op { return resizeOp.Op() }

// axes returns what of an image of h by w pixels becomes the result.
// Errors: ErrInvalidArgument.
func (r Resize) axes(h, w int) (down, across picture.Axis, err error) {
	by := r.shrunk.ratio(h, w)
	if by == 1 {
		return r.axesOf(h, w)
	}
	if down, across, err = r.axesOf(r.shrunk.full.Y, r.shrunk.full.X); err == nil {
		down, across = inShrunk(down, h, by, r.shrunk.bottomUp), inShrunk(across, w, by, r.shrunk.rightToLeft)
	}
	return down, across, err
}

func (r Resize) axesOf(h, w int) (down, across picture.Axis, err error) {
	if h == 0 || w == 0 {
		return down, across, planner.Invalid("an image without pixels (%d×%d) cannot be resized", w, h)
	}
	byX, byY := float64(r.Width)/float64(w), float64(r.Height)/float64(h)
	switch {
	case r.Percent > 0:
		byX, byY = r.Percent/100, r.Percent/100
	case r.Width == 0 && r.Height == 0:
		byX, byY = 1, 1
	case r.Width == 0:
		byX = byY
	case r.Height == 0:
		byY = byX
	case r.Fit == "inside":
		byX = min(byX, byY)
		byY = byX
	case r.Fit == "outside" || r.Fit == "cover":
		byX = max(byX, byY)
		byY = byX
	}
	width, height := side(w, byX), side(h, byY)
	stays := r.OnlyShrink && (width > w || height > h)
	if stays {
		width, height, byX, byY = w, h, 1, 1
	}
	if width > picture.MaxSide || height > picture.MaxSide || w > picture.MaxSide || h > picture.MaxSide {
		return down, across, planner.Invalid("size (%d×%d from %d×%d, want at most %d)", width, height, w, h, picture.MaxSide)
	}
	down = picture.Axis{In: h, Out: height, Length: float64(h)}
	across = picture.Axis{In: w, Out: width, Length: float64(w)}
	if r.Fit == "cover" && r.Width > 0 && r.Height > 0 && !stays {
		gx, gy, err := picture.Gravity(r.Gravity)
		if err != nil {
			return down, across, err
		}
		across.Out, down.Out = min(r.Width, width), min(r.Height, height)
		across.Length, down.Length = min(float64(across.Out)/byX, float64(w)), min(float64(down.Out)/byY, float64(h))
		across.Start = (float64(w) - across.Length) * float64(gx+1) / 2
		down.Start = (float64(h) - down.Length) * float64(gy+1) / 2
	}
	return down, across, nil
}

// side is the length of a side of n pixels after it was multiplied by a factor.
func side(n int, by float64) int {
	return int(max(1, min(math.Round(float64(n)*by), picture.MaxSide+1)))
}

func (r Resize) resample(h, w int) (picture.Resample, error) {
	down, across, err := r.axes(h, w)
	if err != nil {
		return picture.Resample{}, err
	}
	filter, err := picture.ResamplerOf(r.Filter)
	return picture.Resample{Filter: filter, Down: down, Across: across, Linear: r.Linear, Opaque: r.opaque}, err
}

var resizeOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*Resize]{
		Name: "resize", Aliases: []string{"thumbnail"},
		Forms: []string{
			"{width}x{height}", "{width}", "{width}x", "x{height}", "{percent}%", "{width}x{height}! fit=stretch",
			"{width}x{height}^ fit=outside", "{width}x{height}> only_shrink=true", "{width}> only_shrink=true", "x{height}> only_shrink=true",
		},
		Doc:      "Makes an image larger or smaller, without aliasing. Alpha is resized too, and weighs colours, which become 0 where it does.",
		Source:   "K. Turkowski, Filters for common resampling tasks, 1990; D. Mitchell and A. Netravali, Reconstruction filters in computer graphics, 1988",
		Defaults: &Resize{Fit: "inside", Gravity: "center", Filter: "lanczos3"},
		Kernels:  picture.ResampleKernels(),
		Check: func(r *Resize) error {
			switch {
			case min(r.Width, r.Height) < 0 || max(r.Width, r.Height) > picture.MaxSide:
				return planner.Invalid("size (got width %d, height %d, want 0 to %d)", r.Width, r.Height, picture.MaxSide)
			case !(r.Percent >= 0 && r.Percent <= 1e4):
				return planner.Invalid("percent (got %v, want above 0 and up to 10000)", r.Percent)
			case r.Percent > 0 && (r.Width > 0 || r.Height > 0):
				return planner.Invalid("percent together with a width or a height (want one of them)")
			case r.Fit != "inside" && r.Fit != "outside" && r.Fit != "cover" && r.Fit != "stretch":
				return planner.Invalid("fit %q (want inside, outside, cover or stretch)", r.Fit)
			}
			if _, _, err := picture.Gravity(r.Gravity); err != nil {
				return err
			}
			_, err := picture.ResamplerOf(r.Filter)
			return err
		},
		Size: picture.PartSize(func(r *Resize) picture.Part { return r.part }, func(r *Resize, h, w int) (int, int, error) {
			down, across, err := r.axes(h, w)
			return down.Out, across.Out, err
		}),
		Plan: func(r *Resize, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			m, err := r.resample(r.part.Height(in.Shape[0]), in.Shape[1])
			if err != nil {
				return nil, err
			}
			return picture.PlanResample(t, in, out, m, r.part.From(), r.part.Rows(m.Down.Out))
		},
		Strips: picture.PartStrips(func(r *Resize, p picture.Part) *Resize { own := *r; own.part = p; return &own },
			func(r *Resize, h, w int, out spec.RowRange) spec.RowRange {
				m, err := r.resample(h, w)
				if err != nil {
					return spec.RowRange{To: h}
				}
				return m.Rows(out)
			}),
		ForOpaque: func(r *Resize) *Resize { c := *r; c.opaque = true; return &c },
		Reference: func(r *Resize, in, out *tensor.Host) {
			down, across, err := r.axes(in.Shape[0], in.Shape[1])
			if err == nil {
				picture.ResampleReference(r.Filter, r.Linear, down, across, in, out)
			}
		},
		Tolerance: func(r *Resize, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			tol := spec.Tolerance{Abs: 2e-5, Why: "weights and two sums in f32"}
			if d == tensor.U8 {
				tol = spec.Tolerance{Abs: 1, Why: picture.EitherLevel}
			}
			if len(in) == 1 && in[0].Shape[2] == 4 {
				tol.ByAlpha, tol.Why = 2e-5, tol.Why+"; colours are a sum divided by alpha"
			}
			return tol
		},
		Flops: func(r *Resize) int64 { return 2 * 4 * 12 },
		Calls: []*Resize{
			{Percent: 50, Fit: "inside", Gravity: "center", Filter: "lanczos3"},
			// The terms of fewer columns of a picture 16384 wide exceed the smallest binding that the suite forces.
			{Width: 67, Height: 23, Fit: "stretch", Gravity: "center", Filter: "catmull-rom"},
			{Width: 64, Height: 64, Fit: "cover", Gravity: "top", Filter: "mitchell"},
			{Width: 40, Height: 90, Fit: "inside", OnlyShrink: true, Gravity: "center", Filter: "bilinear", Linear: true},
			{Percent: 170, Fit: "inside", Gravity: "center", Filter: "lanczos2"},
			{Height: 5, Fit: "inside", Gravity: "center", Filter: "box"},
			{Width: 29, Height: 41, Fit: "outside", Gravity: "center", Filter: "nearest"},
			{Fit: "inside", Gravity: "center", Filter: "lanczos3"},
		},
		Invalid: []*Resize{
			{Width: -1, Fit: "inside", Gravity: "center", Filter: "box"}, {Fit: "fill", Gravity: "center", Filter: "box"},
			{Percent: nan, Fit: "inside", Gravity: "center", Filter: "box"}, {Percent: 5, Width: 5, Fit: "inside", Gravity: "center", Filter: "box"},
			{Fit: "inside", Gravity: "middle", Filter: "box"}, {Fit: "inside", Gravity: "center", Filter: "sinc"},
		},
	})
}}
