package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Affine moves the points of an image by a matrix: point (x,y) goes to (a·x + b·y + c, d·x + e·y + f),
// where Matrix is a, b, c, d, e, f. The corner at the top left of an image is (0,0), and the
// middle of its first pixel is (0.5,0.5). Parts of the result where nothing of the image goes have
// the colour Background, and the edge between both is smooth.
//
// A pixel of the result is the weighted mean of the pixels of the image around its point. Where
// the map makes the image smaller, the weights are spread over as many more pixels, so that there
// is no aliasing, up to a factor of 32. Filter nearest takes the pixel at the point and does none
// of that. Colours are weighted by alpha. Where alpha becomes 0, the colours become 0.
type Affine struct {
	Matrix     []float64 `attr:"matrix,required,main" doc:"six numbers a,b,c,d,e,f: point (x,y) of the image goes to (a·x + b·y + c, d·x + e·y + f); pixels count from the corner at the top left; each within ±10⁹"`
	Width      int       `attr:"width" doc:"width of the result in pixels; 0 means that of the image"`
	Height     int       `attr:"height" doc:"height of the result in pixels; 0 means that of the image"`
	Filter     string    `attr:"filter" doc:"nearest, bilinear or catmull-rom (sharper)"`
	Background string    `attr:"background" doc:"the colour outside: #rgb, #rrggbb, #rrggbbaa, black, white or transparent; its first channel for images of one channel"`
	part       picture.Part
}

// Spec returns the declaration.
func (Affine) Spec() *spec.Op { return affineOp.Op() }

// finiteAll checks that a list has n numbers within ±10⁹.
// Errors: ErrInvalidArgument.
func finiteAll(name string, list []float64, n int) error {
	if len(list) != n {
		return planner.Invalid("%s (got %d numbers, want %d)", name, len(list), n)
	}
	for _, v := range list {
		if !(math.Abs(v) <= 1e9) { // The comparison is also false for NaN.
			return planner.Invalid("%s (got %v, want numbers within ±10⁹)", name, v)
		}
	}
	return nil
}

// resultSize returns the size of a result, where 0 means that of the image.
func resultSize(width, height, w, h int) (int, int) {
	if width == 0 {
		width = w
	}
	if height == 0 {
		height = h
	}
	return height, width
}

// checkSize checks the size of a result.
// Errors: ErrInvalidArgument.
func checkSize(width, height int) error {
	if min(width, height) < 0 || max(width, height) > picture.MaxSide {
		return planner.Invalid("size (got width %d, height %d, want 0 to %d)", width, height, picture.MaxSide)
	}
	return nil
}

// look returns what is sampled how.
func look(filter, background string) (string, [4]float64) {
	colour, _ := picture.Colour(background) // Check refuses others.
	return filter, colour
}

// warpOf returns a map, for an image of h by w pixels and a result of height by width.
// Errors: ErrInvalidArgument.
func warpOf(h, w, height, width int, to picture.Projection, filter, background string) (picture.Warp, int, int, error) {
	if h == 0 || w == 0 {
		return picture.Warp{}, 0, 0, planner.Invalid("an image without pixels (%d×%d) cannot be warped", w, h)
	}
	if max(h, w, height, width) > picture.MaxSide {
		return picture.Warp{}, 0, 0, planner.Invalid("size (%d×%d from %d×%d, want at most %d)", width, height, w, h, picture.MaxSide)
	}
	back, err := to.Inverse(h, w)
	_, colour := look(filter, background)
	return picture.Warp{Back: back, Filter: filter, Colour: colour}, height, width, err
}

func (c *Affine) projection() (m picture.Projection) {
	copy(m[:], c.Matrix)
	m[8] = 1
	return m
}

var affineOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineWarp(picture.Warping[*Affine]{
		Name:     "affine",
		Doc:      "Moves the points of an image by a matrix of two rows and three columns: any mixture of scaling, rotation, shear and shift. What becomes smaller is not aliased, up to a factor of 32. Colours are weighted by alpha.",
		Defaults: &Affine{Matrix: []float64{1, 0.2, 0, 0, 1, 0}, Filter: "bilinear", Background: "transparent"},
		Check: func(c *Affine) error {
			if err := finiteAll("matrix", c.Matrix, 6); err != nil {
				return err
			}
			if err := checkSize(c.Width, c.Height); err != nil {
				return err
			}
			if _, err := c.projection().Inverse(1, 1); err != nil {
				return err
			}
			return picture.CheckLook(c.Filter, c.Background)
		},
		Warp: func(c *Affine, h, w int) (picture.Warp, int, int, error) {
			height, width := resultSize(c.Width, c.Height, w, h)
			return warpOf(h, w, height, width, c.projection(), c.Filter, c.Background)
		},
		Part:     func(c *Affine) picture.Part { return c.part },
		WithPart: func(c *Affine, p picture.Part) *Affine { own := *c; own.part = p; return &own },
		Look:     func(c *Affine) (string, [4]float64) { return look(c.Filter, c.Background) },
		Point: func(c *Affine, _, _, _, _ int, x, y float64) (float64, float64, bool) {
			m := c.Matrix
			return solve2(m[0], m[1], x-m[2], m[3], m[4], y-m[5])
		},
		Calls: []*Affine{
			{Matrix: []float64{1, 0.2, 0, 0, 1, 0}, Filter: "bilinear", Background: "transparent"},
			{Matrix: []float64{1, 0, 0, 0, 1, 0}, Width: 33, Filter: "catmull-rom", Background: "black"},
			{Matrix: []float64{0.3, -0.1, 4.5, 0.05, 0.21, -3}, Width: 31, Height: 17, Filter: "bilinear", Background: "#f80"},
			{Matrix: []float64{0.4, 0.1, 0, -0.2, -0.5, 40}, Filter: "catmull-rom", Background: "transparent"},
			{Matrix: []float64{3.1, 1.2, -7.7, -0.7, 2.6, 5}, Width: 80, Height: 60, Filter: "catmull-rom", Background: "white"},
			{Matrix: []float64{-1, 0, 20.5, 0.1, 0.9, 0}, Height: 9, Filter: "nearest", Background: "transparent"},
		},
		Invalid: []*Affine{
			{Filter: "bilinear", Background: "black"}, {Matrix: []float64{1, 0, 0, 0, 0, 0}, Filter: "bilinear", Background: "black"},
			{Matrix: []float64{1, 2, 0, 2, 4, 0}, Filter: "bilinear", Background: "black"}, {Matrix: []float64{nan, 0, 0, 0, 1, 0}, Filter: "bilinear", Background: "black"},
			{Matrix: []float64{1, 0, inf, 0, 1, 0}, Filter: "bilinear", Background: "black"}, {Matrix: []float64{1, 0, 0, 0, 1}, Filter: "bilinear", Background: "black"},
			{Matrix: []float64{1, 0, 0, 0, 1, 0}, Width: -1, Filter: "bilinear", Background: "black"}, {Matrix: []float64{1, 0, 0, 0, 1, 0}, Filter: "box", Background: "black"},
		},
	})
}}

// solve2 solves a·x + b·y = c, d·x + e·y = f for the references.
func solve2(a, b, c, d, e, f float64) (x, y float64, ok bool) {
	det := a*e - b*d
	return (c*e - b*f) / det, (a*f - c*d) / det, det != 0
}
