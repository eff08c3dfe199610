package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Perspective moves four points of an image to four others, and all between them as a camera would.
// With From alone it makes a rectangle of an area that was photographed at an angle, such as a page.
// With To alone it puts the image on such an area. Points are in the order top left, top right,
// bottom right, bottom left, or any other in which they go around an area without a dent.
//
// Matrix says the same by nine numbers m1 to m9: point (x,y) goes to ((m1·x + m2·y + m3)/d, (m4·x + m5·y + m6)/d),
// where d is m7·x + m8·y + m9. What is beyond the horizon, where d has another sign than in the middle of
// the image, is not visible.
//
// Coordinates, filters, edges and alpha are those of Affine.
type Perspective struct {
	From       []float64 `attr:"from" doc:"four points of the image as x1,y1,x2,y2,x3,y3,x4,y4; none means its corners, from the top left clockwise"`
	To         []float64 `attr:"to" doc:"where these points go; none means the corners of the result"`
	Matrix     []float64 `attr:"matrix" doc:"nine numbers row by row instead of from and to: each within ±10⁹"`
	Width      int       `attr:"width" doc:"width of the result in pixels; 0 means that of the image"`
	Height     int       `attr:"height" doc:"height of the result in pixels; 0 means that of the image"`
	Filter     string    `attr:"filter" doc:"nearest, bilinear or catmull-rom (sharper)"`
	Background string    `attr:"background" doc:"the colour outside: #rgb, #rrggbb, #rrggbbaa, black, white or transparent; its first channel for images of one channel"`
	part       picture.Part
}

// Spec returns the declaration.
func (Perspective) Spec() *spec.Op { return perspectiveOp.Op() }

// cornersOf returns the points of a list, or the corners of h by w pixels if there are none.
func cornersOf(list []float64, h, w int) (q [8]float64) {
	if len(list) == 0 {
		return [8]float64{0, 0, float64(w), 0, float64(w), float64(h), 0, float64(h)}
	}
	copy(q[:], list)
	return q
}

// projection returns the map for an image of h by w pixels and a result of height by width.
// Errors: ErrInvalidArgument.
func (c *Perspective) projection(h, w, height, width int) (m picture.Projection, err error) {
	if len(c.Matrix) > 0 {
		copy(m[:], c.Matrix)
		return m, nil
	}
	return picture.Quad(cornersOf(c.From, h, w), cornersOf(c.To, height, width))
}

var perspectiveOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineWarp(picture.Warping[*Perspective]{
		Name:     "perspective",
		Doc:      "Moves four points of an image to four others, and all between them as a camera would: straightens a page, or puts an image on a wall. What becomes smaller is not aliased, up to a factor of 32. Colours are weighted by alpha.",
		Defaults: &Perspective{Filter: "bilinear", Background: "transparent"},
		Check: func(c *Perspective) error {
			for _, l := range []struct {
				name string
				list []float64
				n    int
			}{{"from", c.From, 8}, {"to", c.To, 8}, {"matrix", c.Matrix, 9}} {
				if len(l.list) == 0 {
					continue
				}
				if err := finiteAll(l.name, l.list, l.n); err != nil {
					return err
				}
			}
			if len(c.Matrix) > 0 && len(c.From)+len(c.To) > 0 {
				return planner.Invalid("a matrix together with points (want one of them)")
			}
			if err := checkSize(c.Width, c.Height); err != nil {
				return err
			}
			m, err := c.projection(1, 1, 1, 1)
			if err == nil {
				_, err = m.Inverse(1, 1)
			}
			if err != nil {
				return err
			}
			return picture.CheckLook(c.Filter, c.Background)
		},
		Warp: func(c *Perspective, h, w int) (picture.Warp, int, int, error) {
			height, width := resultSize(c.Width, c.Height, w, h)
			if h == 0 || w == 0 {
				return warpOf(h, w, height, width, picture.Projection{}, c.Filter, c.Background)
			}
			m, err := c.projection(h, w, height, width)
			if err != nil {
				return picture.Warp{}, 0, 0, err
			}
			return warpOf(h, w, height, width, m, c.Filter, c.Background)
		},
		Part:     func(c *Perspective) picture.Part { return c.part },
		WithPart: func(c *Perspective, p picture.Part) *Perspective { own := *c; own.part = p; return &own },
		Look:     func(c *Perspective) (string, [4]float64) { return look(c.Filter, c.Background) },
		Point: func(c *Perspective, h, w, height, width int, x, y float64) (float64, float64, bool) {
			m := c.Matrix
			if len(m) == 0 {
				m = solveQuad(cornersOf(c.From, h, w), cornersOf(c.To, height, width))
			}
			// Both equations of the map, times d.
			u, v, ok := solve2(m[0]-x*m[6], m[1]-x*m[7], x*m[8]-m[2], m[3]-y*m[6], m[4]-y*m[7], y*m[8]-m[5])
			d, middle := m[6]*u+m[7]*v+m[8], m[6]*float64(w)/2+m[7]*float64(h)/2+m[8]
			return u, v, ok && (d < 0) == (middle < 0)
		},
		Calls: []*Perspective{
			{Filter: "bilinear", Background: "transparent"},
			{From: []float64{3, 1, 17, 4, 15, 12, 2, 9}, Width: 40, Height: 30, Filter: "bilinear", Background: "black"},
			{To: []float64{9, 3, 30, 1, 37, 28, 2, 17}, Width: 40, Height: 30, Filter: "catmull-rom", Background: "transparent"},
			{Matrix: []float64{1.2, 0.1, 3, 0.2, 0.9, 1, 0.004, 0.011, 1}, Width: 50, Height: 30, Filter: "bilinear", Background: "#f80"},
			// The horizon is in the result.
			{Matrix: []float64{1, 0, 0, 0, 0.3, 9, 0, -0.03, 1}, Width: 50, Height: 70, Filter: "catmull-rom", Background: "white"},
			{Matrix: []float64{-2, 0.5, 9, 0, -1.5, 1, 0, 0.01, -2}, Filter: "nearest", Background: "transparent"},
		},
		Invalid: []*Perspective{
			{From: []float64{0, 0, 1, 0, 2, 0, 0, 1}, Filter: "bilinear", Background: "black"}, {To: []float64{0, 0, 1, 1, 1, 0, 0, 1}, Filter: "bilinear", Background: "black"},
			{To: []float64{0, 0, 1, 0, 0.2, 0.2, 0, 1}, Filter: "bilinear", Background: "black"}, {From: []float64{0, 0, 1, 0}, Filter: "bilinear", Background: "black"},
			{To: []float64{0, 0, 0, 0, 0, 0, 0, 0}, Filter: "bilinear", Background: "black"}, {To: []float64{nan, 0, 1, 0, 1, 1, 0, 1}, Filter: "bilinear", Background: "black"},
			{Matrix: make([]float64, 9), Filter: "bilinear", Background: "black"}, {Matrix: []float64{1, 0, 0, 0, 1, 0, 0, 0, inf}, Filter: "bilinear", Background: "black"},
			{Matrix: []float64{1, 2, 3, 2, 4, 6, 0, 0, 1}, Filter: "bilinear", Background: "black"},
			{Matrix: []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, To: []float64{0, 0, 1, 0, 1, 1, 0, 1}, Filter: "bilinear", Background: "black"},
		},
	})
}}

// solveQuad returns the matrix that takes four points to four others, for the reference. It is the
// solution of eight equations by Gaussian elimination. The last number is 1.
func solveQuad(from, to [8]float64) []float64 {
	var rows [8][9]float64
	for i := range 4 {
		x, y, u, v := from[2*i], from[2*i+1], to[2*i], to[2*i+1]
		rows[2*i] = [9]float64{x, y, 1, 0, 0, 0, -u * x, -u * y, u}
		rows[2*i+1] = [9]float64{0, 0, 0, x, y, 1, -v * x, -v * y, v}
	}
	for k := range 8 {
		best := k
		for r := k; r < 8; r++ {
			if math.Abs(rows[r][k]) > math.Abs(rows[best][k]) {
				best = r
			}
		}
		rows[k], rows[best] = rows[best], rows[k]
		for r := range 8 {
			if f := rows[r][k] / rows[k][k]; r != k {
				for c := k; c < 9; c++ {
					rows[r][c] -= f * rows[k][c]
				}
			}
		}
	}
	m := make([]float64, 9)
	for k := range 8 {
		m[k] = rows[k][8] / rows[k][k]
	}
	m[8] = 1
	return m
}
