package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Curves maps each colour by curves through points. Red, Green and Blue are curves of one colour.
// They come before Points, the curve of all colours. At least one list must be given. An
// image of one channel only has the curve of all colours.
//
// A list has x, y pairs in 0..1, with rising x, at least 0.001 apart. The curve is the monotone cubic
// through them, PCHIP: it has no waves between points. Before the first point and behind the last
// one it is constant.
type Curves struct {
	Points []float64 `attr:"points,main,zero" doc:"the curve of all colours: 2 to 32 points x,y in 0..1, as 0,0,0.25,0.2,0.75,0.8,1,1"`
	Red    []float64 `attr:"red" doc:"the curve of red, before that of all colours"`
	Green  []float64 `attr:"green" doc:"the curve of green"`
	Blue   []float64 `attr:"blue" doc:"the curve of blue"`
}

// Spec returns the declaration.
func (Curves) Spec() *spec.Op { return curvesOp.Op() }

// straight are the points of a curve that changes nothing.
var straight = []float64{0, 0, 1, 1}

// lists returns the lists by their names, in the order in which they are applied.
func (c Curves) lists() []curveList {
	return []curveList{{"red", picture.Red, c.Red}, {"green", picture.Green, c.Green}, {"blue", picture.Blue, c.Blue}, {"points", picture.AllColours, c.Points}}
}

type curveList struct {
	name     string
	channels int
	points   []float64
}

func (l curveList) check() error {
	if n := len(l.points); n%2 != 0 || n < 4 || n > 64 {
		return planner.Invalid("%s (got %d numbers, want 2 to 32 points of two numbers)", l.name, n)
	}
	for i, v := range l.points {
		if err := within(l.name, v, 0, 1); err != nil {
			return err
		}
		if i%2 == 0 && i > 0 && !(v-l.points[i-2] >= 0.000999) {
			return planner.Invalid("%s (got x = %v after %v, want x to rise by at least 0.001)", l.name, v, l.points[i-2])
		}
	}
	return nil
}

var curvesOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePointwise(picture.Pointwise[*Curves]{
		Name:     "curves",
		Aliases:  []string{"curve"},
		Doc:      "Maps colours by smooth curves through points: one for all colours, and one for each colour before it.",
		Source:   "F. N. Fritsch and J. Butland, A method for constructing local monotone piecewise cubic interpolants, 1984",
		Defaults: &Curves{Points: straight},
		Check: func(c *Curves) error {
			any := false
			for _, l := range c.lists() {
				if l.points == nil {
					continue
				}
				any = true
				if err := l.check(); err != nil {
					return err
				}
			}
			if !any {
				return planner.Invalid("points is zero, as if left out, and so are red, green and blue (want one of them; spec.WithDefaults sets the default of points, 0,0,1,1)")
			}
			return nil
		},
		Stage: func(c *Curves) (s picture.Stage) {
			for _, l := range c.lists() {
				if l.points != nil {
					s.Curves = append(s.Curves, picture.Curve{Channels: l.channels, Spline: picture.NewSpline(l.points)})
				}
			}
			return s
		},
		Pixel: func(c *Curves, px []float64) {
			for i := range px {
				if len(px) == 3 {
					px[i] = curveReference([][]float64{c.Red, c.Green, c.Blue}[i], px[i])
				}
				px[i] = picture.Clamp01(curveReference(c.Points, px[i]))
			}
		},
		Tolerance: func(c *Curves, d tensor.DType) spec.Tolerance {
			steepest := 1.0
			for _, l := range c.lists() {
				steep := 1.0
				for i := 2; i < len(l.points); i += 2 {
					steep = max(steep, 3*math.Abs((l.points[i+1]-l.points[i-1])/(l.points[i]-l.points[i-2])))
				}
				steepest *= steep
			}
			return picture.Level(d, 1e-6*steepest, "points and a cubic rounded to f32, times the steepest part")
		},
		Flops: 30,
		Calls: []*Curves{
			{Points: []float64{0, 0, 0.25, 0.2, 0.75, 0.8, 1, 1}},
			{Points: []float64{0.1, 0.9, 0.4, 0.4, 0.5, 0.4, 0.9, 0.1}, Red: []float64{0, 0.1, 1, 0.8}, Blue: []float64{0, 0, 0.3, 0.6, 0.31, 0.2, 1, 1}},
		},
		Invalid: []*Curves{
			{}, {Points: []float64{0, 0, 1}}, {Red: []float64{0, 0}}, {Points: []float64{0, 0, 0, 1}}, {Points: []float64{0.5, 0, 0.2, 1}},
			{Blue: []float64{0, nan, 1, 1}}, {Green: []float64{0, 0, 1, 1.5}}, {Points: make([]float64, 66)},
		},
	})
}}

// curveReference is the PCHIP through points at v, by Hermite's basis.
func curveReference(points []float64, v float64) float64 {
	n := len(points)/2 - 1 // intervals
	if n < 1 {
		return v
	}
	x, y := func(i int) float64 { return points[2*i] }, func(i int) float64 { return points[2*i+1] }
	h, d := func(i int) float64 { return x(i+1) - x(i) }, func(i int) float64 { return (y(i+1) - y(i)) / (x(i+1) - x(i)) }
	edge := func(h0, h1, d0, d1 float64) float64 {
		m := ((2*h0+h1)*d0 - h0*d1) / (h0 + h1)
		if math.Signbit(m) != math.Signbit(d0) || d0 == 0 {
			return 0
		}
		if (d0 > 0) != (d1 > 0) && math.Abs(m) > math.Abs(3*d0) {
			return 3 * d0
		}
		return m
	}
	tangent := func(i int) float64 {
		switch {
		case n == 1:
			return d(0)
		case i == 0:
			return edge(h(0), h(1), d(0), d(1))
		case i == n:
			return edge(h(n-1), h(n-2), d(n-1), d(n-2))
		case d(i-1)*d(i) <= 0:
			return 0
		}
		w1, w2 := 2*h(i)+h(i-1), h(i)+2*h(i-1)
		return (w1 + w2) / (w1/d(i-1) + w2/d(i))
	}
	v = min(max(v, x(0)), x(n))
	i := 0
	for i < n-1 && v > x(i+1) {
		i++
	}
	t := (v - x(i)) / h(i)
	return (1+2*t)*(1-t)*(1-t)*y(i) + t*(1-t)*(1-t)*h(i)*tangent(i) + t*t*(3-2*t)*y(i+1) + t*t*(t-1)*h(i)*tangent(i+1)
}
