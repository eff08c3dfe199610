package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Rotate turns an image clockwise around its middle.
//
// Multiples of 90° copy pixels: they do not change, and Filter and Background do not matter. At
// other angles a pixel of the result is the weighted mean of pixels of the image, as in Affine.
type Rotate struct {
	Degrees float64 `attr:"degrees,required,main" doc:"the angle clockwise in degrees, from -360000 to 360000"`
	// Canvas is expand, keep or crop.
	Canvas     string `attr:"canvas" doc:"the size of the result: expand (the whole turned image is in it), keep (that of the image) or crop (the largest rectangle without background)"`
	Filter     string `attr:"filter" doc:"nearest, bilinear or catmull-rom (sharper)"`
	Background string `attr:"background" doc:"the colour outside: #rgb, #rrggbb, #rrggbbaa, black, white or transparent; its first channel for images of one channel"`
	part       picture.Part
}

// Spec returns the declaration.
func (Rotate) Spec() *spec.Op { return rotateOp.Op() }

// turns returns the number of quarter turns clockwise, 0 to 3, if the angle is one.
func (r *Rotate) turns() (int, bool) {
	n := r.Degrees / 90
	return (int(n)%4 + 4) % 4, n == math.Trunc(n)
}

// copies reports whether each pixel of the result is one of an image of h by w pixels.
func (r *Rotate) copies(h, w int) bool {
	n, right := r.turns()
	return right && (r.Canvas != "keep" || n%2 == 0 || h == w)
}

// size returns the size of the result at an angle that is no quarter turn.
func (r *Rotate) size(h, w int) (height, width int) {
	sin, cos := math.Sincos(r.Degrees / 180 * math.Pi)
	sin, cos = math.Abs(sin), math.Abs(cos)
	wide, high := float64(w), float64(h)
	switch r.Canvas {
	case "expand":
		wide, high = wide*cos+high*sin, wide*sin+high*cos
		// Less than a thousandth of a pixel is nothing that anyone sees.
		return max(int(math.Ceil(high-1e-3)), 1), max(int(math.Ceil(wide-1e-3)), 1)
	case "crop":
		long, short := max(wide, high), min(wide, high)
		if short <= 2*sin*cos*long || math.Abs(sin-cos) < 1e-10 {
			// Two corners are on a long side, and the rectangle is as long as half the short one allows.
			a, b := short/2/sin, short/2/cos
			if wide < high {
				a, b = b, a
			}
			wide, high = a, b
		} else {
			wide, high = (wide*cos-high*sin)/(cos*cos-sin*sin), (high*cos-wide*sin)/(cos*cos-sin*sin)
		}
		return max(int(high+1e-9), 1), max(int(wide+1e-9), 1)
	}
	return h, w
}

var rotateOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineWarp(picture.Warping[*Rotate]{
		Name:     "rotate",
		Doc:      "Turns an image clockwise by any angle. Multiples of 90 degrees copy pixels. A quarter turn exchanges height and width.",
		Defaults: &Rotate{Degrees: 90, Canvas: "expand", Filter: "bilinear", Background: "transparent"},
		Check: func(r *Rotate) error {
			if !(math.Abs(r.Degrees) <= 360000) {
				return planner.Invalid("degrees (got %v, want -360000 to 360000)", r.Degrees)
			}
			if r.Canvas != "expand" && r.Canvas != "keep" && r.Canvas != "crop" {
				return planner.Invalid("canvas %q (want expand, keep or crop)", r.Canvas)
			}
			return picture.CheckLook(r.Filter, r.Background)
		},
		Warp: func(r *Rotate, h, w int) (picture.Warp, int, int, error) {
			n, right := r.turns()
			if r.copies(h, w) {
				return rightAngle(n, h, w), [2]int{h, w}[n%2], [2]int{w, h}[n%2], nil
			}
			height, width := r.size(h, w)
			sin, cos := math.Sincos(r.Degrees / 180 * math.Pi)
			if right {
				sin, cos = math.Round(sin), math.Round(cos)
			}
			return warpOf(h, w, height, width, picture.Projection{
				cos, -sin, (float64(width) - cos*float64(w) + sin*float64(h)) / 2,
				sin, cos, (float64(height) - sin*float64(w) - cos*float64(h)) / 2,
				0, 0, 1,
			}, r.Filter, r.Background)
		},
		Copies:   (*Rotate).copies,
		Part:     func(r *Rotate) picture.Part { return r.part },
		WithPart: func(r *Rotate, p picture.Part) *Rotate { c := *r; c.part = p; return &c },
		Look:     func(r *Rotate) (string, [4]float64) { return look(r.Filter, r.Background) },
		Point: func(r *Rotate, h, w, height, width int, x, y float64) (float64, float64, bool) {
			// The distance from the middle, turned back as a complex number.
			d := complex(x-float64(width)/2, y-float64(height)/2)
			sin, cos := math.Sincos(-math.Mod(r.Degrees, 360) * math.Pi / 180)
			if math.Mod(r.Degrees, 90) == 0 {
				sin, cos = math.Round(sin), math.Round(cos)
			}
			d *= complex(cos, sin)
			return real(d) + float64(w)/2, imag(d) + float64(h)/2, true
		},
		// A whole turn or a half one copies pixels at any size. A quarter turn does if the canvas follows.
		ForOpaque: func(r *Rotate) *Rotate {
			if n, right := r.turns(); right && (n%2 == 0 || r.Canvas != "keep") {
				return r
			}
			return nil
		},
		Calls: []*Rotate{
			{Degrees: 90, Canvas: "expand", Filter: "bilinear", Background: "transparent"},
			{Degrees: 180, Canvas: "keep", Filter: "nearest", Background: "transparent"},
			{Degrees: -90, Canvas: "expand", Filter: "catmull-rom", Background: "black"},
			{Degrees: 30, Canvas: "expand", Filter: "bilinear", Background: "transparent"},
			{Degrees: -7.3, Canvas: "crop", Filter: "catmull-rom", Background: "black"},
			{Degrees: 211, Canvas: "keep", Filter: "nearest", Background: "#f80"},
		},
		Invalid: []*Rotate{
			{Degrees: nan, Canvas: "expand", Filter: "bilinear", Background: "black"}, {Degrees: inf, Canvas: "expand", Filter: "bilinear", Background: "black"},
			{Degrees: 1e6, Canvas: "expand", Filter: "bilinear", Background: "black"}, {Degrees: 5, Canvas: "fit", Filter: "bilinear", Background: "black"},
			{Degrees: 5, Canvas: "keep", Filter: "lanczos3", Background: "black"}, {Degrees: 5, Canvas: "keep", Filter: "bilinear", Background: "red"},
		},
	})
}}

// rightAngle returns the map of n quarter turns clockwise.
func rightAngle(n, h, w int) picture.Warp {
	m := picture.Remap{XX: 1, YY: 1}
	switch n {
	case 1:
		m = picture.Remap{XY: 1, YX: -1, Y0: h - 1}
	case 2:
		m = picture.Remap{XX: -1, X0: w - 1, YY: -1, Y0: h - 1}
	case 3:
		m = picture.Remap{XY: -1, X0: w - 1, YX: 1}
	}
	return picture.Warp{Copy: &m}
}
