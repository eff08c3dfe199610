package main

import (
	"math"
	"math/rand/v2"
)

// Pictures of digits are side×side grey pixels, 0 for paper and 255 for ink.
const (
	side    = 20
	pixels  = side * side
	classes = 10
)

// dataset is digits with what they mean: digit i is the pixels from i*pixels on.
type dataset struct {
	images []uint8
	labels []int32
}

func (d dataset) len() int { return len(d.labels) }

func (d dataset) image(i int) []uint8 { return d.images[i*pixels : (i+1)*pixels] }

// write draws n digits, the ten in turn and then shuffled. The same seed gives
// the same digits; seeds that differ give digits that differ, so that a second
// seed makes a set for testing.
func write(n int, seed uint64) dataset {
	d := dataset{make([]uint8, n*pixels), make([]int32, n)}
	for i := range n {
		d.labels[i] = int32(i % classes)
	}
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	rng.Shuffle(n, func(i, j int) { d.labels[i], d.labels[j] = d.labels[j], d.labels[i] })
	for i := range n {
		draw(d.image(i), int(d.labels[i]), rng)
	}
	return d
}

// pen is how one digit comes out: a hand's slant, size, pressure and haste.
type pen struct {
	xx, xy, yx, yy, dx, dy float64 // where the unit square goes, in pixels
	width, taper           float64 // half the stroke's, in pixels, and how much of it is lost towards the end
	ink, grain             float64 // darkness, and noise of the paper
}

func newPen(rng *rand.Rand) pen {
	angle := 0.13 * normal(rng)
	slant := 0.16 * normal(rng)
	wide := side * (0.50 + 0.12*rng.Float64())
	high := side * (0.62 + 0.14*rng.Float64())
	sin, cos := math.Sincos(angle)
	p := pen{
		xx: wide * cos, yx: wide * sin,
		xy: -high * (sin + slant*cos), yy: high * (cos - slant*sin),
		width: 0.62 + 0.55*rng.Float64(), taper: 0.45 * rng.Float64(),
		ink: 0.75 + 0.25*rng.Float64(), grain: 0.03,
	}
	// The middle of the digit lies near the middle of the picture.
	p.dx = side/2 - (p.xx+p.xy)/2 + 0.8*normal(rng)
	p.dy = side/2 - (p.yx+p.yy)/2 + 0.8*normal(rng)
	return p
}

// draw writes one digit into the pixels of a picture.
func draw(img []uint8, digit int, rng *rand.Rand) {
	ways := glyphs[digit]
	strokes := ways[rng.IntN(len(ways))]
	p := newPen(rng)
	ink := make([]float64, pixels)
	for _, s := range strokes {
		shaky := make([]point, len(s))
		wobble := 0.028
		for i, q := range s {
			if i > 0 && q == s[i-1] { // a corner stays one
				shaky[i] = shaky[i-1]
				continue
			}
			shaky[i] = point{q.x + wobble*normal(rng), q.y + wobble*normal(rng)}
		}
		line := curve(shaky)
		for i, q := range line {
			line[i] = point{p.xx*q.x + p.xy*q.y + p.dx, p.yx*q.x + p.yy*q.y + p.dy}
		}
		p.stroke(ink, line)
	}
	for i, v := range ink {
		v = p.ink*v + p.grain*normal(rng)
		img[i] = uint8(255*min(max(v, 0), 1) + 0.5)
	}
}

// stroke inks a line of points: each pixel by how far its middle lies inside
// the stroke's edge, which is a pixel soft.
func (p pen) stroke(ink []float64, line []point) {
	for i := 1; i < len(line); i++ {
		r := p.width * (1 - p.taper*float64(i)/float64(len(line)))
		a, b := line[i-1], line[i]
		left, right := int(min(a.x, b.x)-r-1), int(max(a.x, b.x)+r+1)
		top, bottom := int(min(a.y, b.y)-r-1), int(max(a.y, b.y)+r+1)
		for y := max(top, 0); y <= min(bottom, side-1); y++ {
			for x := max(left, 0); x <= min(right, side-1); x++ {
				d := toSegment(point{float64(x) + 0.5, float64(y) + 0.5}, a, b)
				ink[y*side+x] = max(ink[y*side+x], min(max(r+0.5-d, 0), 1))
			}
		}
	}
}

type point struct{ x, y float64 }

// toSegment is the distance from q to the segment between a and b.
func toSegment(q, a, b point) float64 {
	ux, uy := b.x-a.x, b.y-a.y
	along := 0.0
	if n := ux*ux + uy*uy; n > 0 {
		along = min(max(((q.x-a.x)*ux+(q.y-a.y)*uy)/n, 0), 1)
	}
	return math.Hypot(q.x-a.x-along*ux, q.y-a.y-along*uy)
}

// curve is a smooth line through the points, a Catmull-Rom spline. A point that
// comes twice is a corner.
func curve(pts []point) []point {
	const steps = 6
	out := []point{pts[0]}
	at := func(i int) point { return pts[min(max(i, 0), len(pts)-1)] }
	for i := range len(pts) - 1 {
		a, b, c, d := at(i-1), at(i), at(i+1), at(i+2)
		if b == c {
			continue
		}
		for k := 1; k <= steps; k++ {
			t := float64(k) / steps
			out = append(out, point{spline(a.x, b.x, c.x, d.x, t), spline(a.y, b.y, c.y, d.y, t)})
		}
	}
	return out
}

func spline(a, b, c, d, t float64) float64 {
	return b + t/2*(c-a+t*(2*a-5*b+4*c-d+t*(3*(b-c)+d-a)))
}

// normal is a standard normal deviate cut off at 2.5, beyond which no hand goes.
func normal(rng *rand.Rand) float64 { return min(max(rng.NormFloat64(), -2.5), 2.5) }
