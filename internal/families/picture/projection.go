package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Projection is a projective map of the plane: three rows of three numbers. It maps (x,y) to
// ((m0·x + m1·y + m2)/d, (m3·x + m4·y + m5)/d), where d is m6·x + m7·y + m8.
type Projection [9]float64

// mostEntry bounds the numbers of a Projection.
const mostEntry = 1 << 40

// Inverse returns the map back, for a picture of h by w pixels. The result has a positive d at
// points that show what is on the same side of the horizon as the middle of the picture.
// Errors: ErrInvalidArgument if a number is not finite or very large, or if the map has no inverse.
func (m Projection) Inverse(h, w int) (Projection, error) {
	scale := 0.0
	for _, v := range m {
		if !(math.Abs(v) <= mostEntry) {
			return m, planner.Invalid("matrix (got %v, want numbers within ±2⁴⁰)", m)
		}
		scale = max(scale, math.Abs(v))
	}
	n := Projection{
		m[4]*m[8] - m[5]*m[7], m[2]*m[7] - m[1]*m[8], m[1]*m[5] - m[2]*m[4],
		m[5]*m[6] - m[3]*m[8], m[0]*m[8] - m[2]*m[6], m[2]*m[3] - m[0]*m[5],
		m[3]*m[7] - m[4]*m[6], m[1]*m[6] - m[0]*m[7], m[0]*m[4] - m[1]*m[3],
	}
	det := m[0]*n[0] + m[1]*n[3] + m[2]*n[6]
	most := math.Abs(m[0]*n[0]) + math.Abs(m[1]*n[3]) + math.Abs(m[2]*n[6])
	// A determinant of nothing but roundings is 0.
	if !(math.Abs(det) > 1e-12*most) || scale == 0 {
		return m, planner.Invalid("the matrix %v makes a line or a point of a picture (want one that has an inverse)", m)
	}
	if m[6]*float64(w)/2+m[7]*float64(h)/2+m[8] < 0 {
		det = -det
	}
	for i := range n {
		n[i] /= det
	}
	return n, nil
}

// Quad returns the map that takes four points to four others.
// Errors: ErrInvalidArgument if there is none.
func Quad(from, to [8]float64) (Projection, error) {
	a, err := unitTo(from)
	if err != nil {
		return a, err
	}
	b, err := unitTo(to)
	if err != nil {
		return b, err
	}
	back, err := a.Inverse(0, 0)
	if err != nil {
		return back, err
	}
	return b.after(back), nil
}

// after returns the map that applies n and then m.
func (m Projection) after(n Projection) Projection {
	var out Projection
	for i := range out {
		for k := range 3 {
			out[i] += m[i/3*3+k] * n[k*3+i%3]
		}
	}
	return out
}

// unitTo returns the map from the corners (0,0), (1,0), (1,1), (0,1) to four points in the same
// order (P. Heckbert, Fundamentals of texture mapping and image warping, 1989).
// Errors: ErrInvalidArgument if the points are not the corners of a convex area.
func unitTo(q [8]float64) (Projection, error) {
	turns := 0
	for i := range 4 {
		at := func(k int) (x, y float64) { k = (i + k) % 4; return q[2*k], q[2*k+1] }
		x0, y0 := at(0)
		x1, y1 := at(1)
		x2, y2 := at(2)
		cross, size := (x1-x0)*(y2-y1)-(y1-y0)*(x2-x1), math.Hypot(x1-x0, y1-y0)*math.Hypot(x2-x1, y2-y1)
		switch {
		case cross > 1e-9*size:
			turns++
		case cross < -1e-9*size:
			turns--
		}
	}
	if turns != 4 && turns != -4 {
		return Projection{}, planner.Invalid("the points %v (want the corners of a convex area in order, no three of them on a line)", q)
	}
	dx1, dx2, dx3 := q[2]-q[4], q[6]-q[4], q[0]-q[2]+q[4]-q[6]
	dy1, dy2, dy3 := q[3]-q[5], q[7]-q[5], q[1]-q[3]+q[5]-q[7]
	det := dx1*dy2 - dx2*dy1
	g, h := (dx3*dy2-dx2*dy3)/det, (dx1*dy3-dx3*dy1)/det
	return Projection{
		q[2] - q[0] + g*q[2], q[6] - q[0] + h*q[6], q[0],
		q[3] - q[1] + g*q[3], q[7] - q[1] + h*q[7], q[1],
		g, h, 1,
	}, nil
}

// depth is d in the middle of a pixel.
func (m Projection) depth(x, y int) float64 {
	return m[6]*(float64(x)+0.5) + m[7]*(float64(y)+0.5) + m[8]
}

// corners are the pixels in the corners of a part of a picture that is not empty.
func (r rect) corners() [4][2]int {
	return [4][2]int{{r.left, r.top}, {r.right - 1, r.top}, {r.left, r.bottom - 1}, {r.right - 1, r.bottom - 1}}
}

// depths returns the smallest and the largest d of the pixels of a part of a picture.
func (m Projection) depths(r rect) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range r.corners() {
		d := m.depth(c[0], c[1])
		low, high = min(low, d), max(high, d)
	}
	return low, high
}

// span returns the range of a coordinate in a part of a picture, where d is positive: x for axis
// 0, and y for axis 1.
func (m Projection) span(axis int, r rect) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range r.corners() {
		x, y := float64(c[0])+0.5, float64(c[1])+0.5
		v := (m[3*axis]*x + m[3*axis+1]*y + m[3*axis+2]) / m.depth(c[0], c[1])
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// size bounds the distance along an axis between the points of neighbouring pixels, for the
// pixels of a part of a picture. Where d is not positive there is no bound.
func (m Projection) size(axis int, r rect) float64 {
	depth, _ := m.depths(r)
	if !(depth > 0) {
		return math.Inf(1)
	}
	low, high := m.span(axis, r)
	byX := max(math.Abs(m[3*axis]-low*m[6]), math.Abs(m[3*axis]-high*m[6]))
	byY := max(math.Abs(m[3*axis+1]-low*m[7]), math.Abs(m[3*axis+1]-high*m[7]))
	return math.Hypot(byX, byY) / depth
}

// mostSpread is MOST in warp.comp.
const mostSpread = 32

// reach returns the rows of a source of n rows that a part of the result may read, or the
// columns for axis 0. There is always one at least. exact says that the part is a pixel that is an
// anchor itself, so that its point has no rounding errors.
func (m Warp) reach(axis, n int, r rect, exact bool) spec.RowRange {
	if n == 0 || r.left >= r.right || r.top >= r.bottom {
		return spec.RowRange{}
	}
	if _, depth := m.Back.depths(r); !(depth > 0) {
		return spec.RowRange{To: 1} // It shows nothing of the source.
	}
	size := m.Back.size(axis, r)
	if !(size < farAway) && !exact {
		return spec.RowRange{To: n}
	}
	low, high := m.Back.span(axis, r)
	around := 2*min(max(size, 1), mostSpread) + 2
	if !exact {
		around += size / 1000 // what float32 may miss in a block
	}
	clamp := func(v float64) int { return int(min(max(math.Floor(v), 0), float64(n-1))) }
	return spec.RowRange{From: clamp(low - around), To: clamp(high+around) + 1}
}
