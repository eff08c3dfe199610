package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Crop keeps a rectangle of an image. With a Gravity, the rectangle lies at that edge or corner
// or in the middle, and X and Y move it from there towards the middle of the image.
//
// SmartCrop chooses the place by what is in the image.
//
// With an Aspect, the rectangle is the largest of that shape, and Width and Height must be 0.
type Crop struct {
	X      int    `attr:"x" doc:"columns to leave out, from the left or from the edge that gravity names"`
	Y      int    `attr:"y" doc:"rows to leave out, from the top or from the edge that gravity names"`
	Width  int    `attr:"width" doc:"width in pixels; 0 means up to the far edge"`
	Height int    `attr:"height" doc:"height in pixels; 0 means up to the far edge"`
	Aspect string `attr:"aspect" doc:"width to height, such as 16:9, instead of width and height"`
	// Gravity is one of Gravities.
	Gravity string `attr:"gravity" doc:"where the rectangle lies: top-left, top, top-right, left, center, right, bottom-left, bottom or bottom-right"`
	part    picture.Part
}

// Spec returns the declaration.
func (Crop) Spec() *spec.Op { return cropOp.Op() }

// rectangle returns the columns and rows that a crop of an image of h by w pixels keeps.
// Errors: ErrInvalidArgument if they are not all in the image.
func (c Crop) rectangle(h, w int) (x, y, width, height int, err error) {
	width, height = c.Width, c.Height
	if c.Aspect != "" {
		wide, high, err := picture.Aspect(c.Aspect)
		if err != nil {
			return 0, 0, 0, 0, err
		}
		if width, height = w, int(float64(w)*high/wide+0.5); height > h {
			width, height = min(int(float64(h)*wide/high+0.5), w), h
		}
		width, height = max(width, min(w, 1)), max(height, min(h, 1))
	}
	gx, gy, err := picture.Gravity(c.Gravity)
	if err != nil {
		return 0, 0, 0, 0, err
	}
	if width == 0 {
		width = max(w-c.X, 0)
	}
	if height == 0 {
		height = max(h-c.Y, 0)
	}
	x, y = picture.Align(gx, c.X, width, w), picture.Align(gy, c.Y, height, h)
	if x < 0 || y < 0 || x+width > w || y+height > h {
		return 0, 0, 0, 0, planner.Invalid("a rectangle of %d×%d pixels at x %d, y %d is not inside an image of %d×%d", width, height, x, y, w, h)
	}
	return x, y, width, height, nil
}

var cropOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineGeometry(picture.Geometry[*Crop]{
		Name:     "crop",
		Forms:    []string{"{width}x{height}", "{width}x{height}+{x}+{y}"},
		Doc:      "Keeps a rectangle of an image. The rectangle must be inside the image.",
		Defaults: &Crop{Gravity: "top-left"},
		Check: func(c *Crop) error {
			if min(c.X, c.Y, c.Width, c.Height) < 0 || max(c.X, c.Y, c.Width, c.Height) > picture.MaxSide {
				return planner.Invalid("rectangle (got x %d, y %d, width %d, height %d, want 0 to %d)", c.X, c.Y, c.Width, c.Height, picture.MaxSide)
			}
			if c.Aspect != "" && (c.Width != 0 || c.Height != 0) {
				return planner.Invalid("an aspect together with a width or a height (want one of them)")
			}
			_, _, _, _, err := Crop{Aspect: c.Aspect, Gravity: c.Gravity}.rectangle(1, 1)
			return err
		},
		Remap: func(c *Crop, h, w int) (picture.Remap, int, int, error) {
			x, y, width, height, err := c.rectangle(h, w)
			return picture.Remap{XX: 1, X0: x, YY: 1, Y0: y}, height, width, err
		},
		Part: func(c *Crop) picture.Part { return c.part },
		WithPart: func(c *Crop, part picture.Part) *Crop {
			d := *c
			d.part = part
			return &d
		},
		Reference: func(c *Crop, in, out *tensor.Host) {
			// The cases have an explicit rectangle, or the middle.
			y0, x0 := c.Y, c.X
			if c.Gravity == "center" {
				y0, x0 = (in.Shape[0]-out.Shape[0])/2+c.Y, (in.Shape[1]-out.Shape[1])/2+c.X
			}
			picture.EachFrom(in, out, func(y, x int) (int, int, bool) { return y + y0, x + x0, true })
		},
		Calls: []*Crop{
			{Gravity: "top-left"}, {X: 1, Y: 2, Gravity: "top-left"}, {Width: 5, Height: 3, Gravity: "center"},
			{Aspect: "1:1", Gravity: "center"},
		},
		Bench: &Crop{X: 37, Y: 21, Gravity: "top-left"},
		Invalid: []*Crop{
			{X: -1, Gravity: "top-left"}, {Gravity: "up"}, {Gravity: "center", Aspect: "16x9"}, {Gravity: "center", Aspect: "0:1"},
			{Gravity: "center", Aspect: "1:1", Width: 3},
		},
	})
}}
