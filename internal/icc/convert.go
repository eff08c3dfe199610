package icc

import (
	"math"
	"math/rand/v2"
)

// Conversion says how a device converts colours: by a curve, a cube, a matrix and another curve, of which
// some may be missing.
type Conversion struct {
	// Curve is the number of colours of the first curve, for colours from 0 to 1. It makes light if there is no
	// cube.
	Curve int
	// Cube is the number of colours along an edge of the cube, in which red changes fastest, or 0. With a
	// matrix its colours are light that is encoded as Encode does it.
	Cube int
	// Matrix makes light of the target of light, row by row. It is clamped to 0..1, and encoded as
	// Encode does it. If it is nil, the cube has made colours of the target.
	Matrix *[9]float64
	// Last is the number of colours of a curve after that, or 0.
	Last int
	// Colours are those of the curve, of the cube and of the last curve, four numbers each, of which the fourth is 1.
	Colours []float32
}

const (
	// curveSteps is the number of colours of a curve: each level of 8 bits is there.
	curveSteps = 16*255 + 1
	// cubeSteps is the number of colours along an edge of a cube.
	cubeSteps = 65
	// lastSteps is the number of colours of the last curve. A curve may be steep near black, where the first step
	// is a third of a level of 8 bits.
	lastSteps = 64*255 + 1
)

// ToSRGB returns the conversion to sRGB.
func (p *Profile) ToSRGB() Conversion {
	c := Conversion{Curve: curveSteps}
	c.source(p, identity)
	return c
}

// Target makes colours of a profile of light of sRGB.
type Target struct {
	profile *Profile
	b2a     *pipe // tables, or nil
	matrix  [9]float64
	last    []float32 // colours of the last curve, or nil for that of sRGB
}

// Target returns what makes colours of p of light. It has tables for relative colorimetry (B2A1), or for any intent
// (B2A0), or otherwise a matrix and curves that can be inverted.
// Errors: ErrUnsupported if it has neither, ErrInvalidArgument if its tables are damaged.
func (p *Profile) Target() (*Target, error) {
	t := &Target{profile: p}
	var err error
	if t.b2a, err = p.file.tables(p.channels(), p.lab, true, "B2A1", "B2A0"); err != nil || t.b2a != nil {
		return t, err
	}
	simple := *p
	if p.a2b != nil {
		simple.a2b = nil
		if simple.simple() != nil {
			return nil, unsupported("it says what colours mean (A2B0), and not which colours to choose (B2A0)")
		}
	}
	if p.Grey {
		for i := range t.matrix { // Light of grey is that of Y.
			t.matrix[i] = luminance[i%3]
		}
	} else if inverse, ok := Inverse(simple.Linear()); ok {
		t.matrix = inverse
	} else {
		return nil, damaged("its primary colours lie on a line")
	}
	var encode [3]func(light float64) float64
	for k, curve := range simple.Curves[:p.channels()] {
		if encode[k], err = curve.inverse(); err != nil {
			return nil, err
		}
	}
	same := p.Grey || simple.Curves[0].equal(simple.Curves[1]) && simple.Curves[0].equal(simple.Curves[2])
	far := 0.0
	for i := range lastSteps {
		at := float64(i) / (lastSteps - 1)
		var v [3]float64
		for k := range v {
			if v[k] = v[0]; k == 0 || !same {
				v[k] = encode[k](Decode(at))
			}
			far = max(far, math.Abs(v[k]-at))
		}
		t.last = append(t.last, float32(v[0]), float32(v[1]), float32(v[2]), 1)
	}
	if far < 2e-5 { // It is the curve of sRGB.
		t.last = nil
	}
	return t, nil
}

// luminance is Y of light of sRGB.
var luminance = [3]float64(toXYZ[3:6])

// To returns the conversion from p, or from sRGB if p is nil, to the colours of a target.
func (p *Profile) To(t *Target) Conversion {
	if p == nil {
		p = standard
	}
	c := Conversion{Curve: curveSteps}
	if t.b2a == nil {
		c.source(p, t.matrix)
		c.Last = len(t.last) / 4
		c.Colours = append(c.Colours, t.last...)
		return c
	}
	if p.Grey {
		c.add(curveSteps, func(v [3]float64) [3]float64 { return t.colour(p.Light(v)) })
		return c
	}
	from, after := p.a2b, func(v [3]float64) [3]float64 { return t.colour(p.a2b.light(v, p.lab)) }
	if from == nil {
		m := p.Linear()
		from, after = &pipe{steps: []step{(*curves)(&p.Curves)}}, func(v [3]float64) [3]float64 { return t.colour(apply(m, v)) }
	}
	best, _ := bestDomain(from, after, func(v [3]float64) [3]float64 { return v })
	c.cube(best)
	return c
}

// colour returns the colour for light of sRGB. Grey has three equal numbers.
func (t *Target) colour(light [3]float64) (v [3]float64) {
	if t.b2a == nil {
		v = apply(t.matrix, light)
		for k := range v {
			if v[k] = clamp(v[k]); t.last == nil {
				v[k] = Encode(v[k])
				continue
			}
			at := Encode(v[k]) * (lastSteps - 1)
			i := min(int(at), lastSteps-2)
			low, high := float64(t.last[4*i+k]), float64(t.last[4*i+4+k])
			v[k] = low + (at-float64(i))*(high-low)
		}
		return v
	}
	if v = t.b2a.apply(t.b2a.connected(apply(toXYZ, light), t.profile.lab)); t.profile.Grey {
		v[1], v[2] = v[0], v[0]
	}
	return v
}

// source makes the part of a conversion that makes light of the colours of p. The matrix makes light of a target of light
// of sRGB.
func (c *Conversion) source(p *Profile, target [9]float64) {
	m := target
	switch {
	case p.a2b == nil:
		m = times(target, p.Linear())
		c.add(curveSteps, (*curves)(&p.Curves).apply)
	case p.Grey: // One number needs no cube.
		c.add(curveSteps, p.Light)
	default:
		best, primaries := domain{}, [9]float64{}
		least := math.Inf(1)
		for _, light := range p.primaries() {
			inverse, _ := Inverse(light)
			after := func(v [3]float64) [3]float64 { return encode(apply(inverse, p.a2b.light(v, p.lab))) }
			// The error counts as it is seen in sRGB.
			seen := func(v [3]float64) [3]float64 { return encode(apply(light, decode(v))) }
			if d, off := bestDomain(p.a2b, after, seen); off < least {
				best, primaries, least = d, light, off
			}
		}
		m = times(target, primaries)
		c.cube(best)
	}
	c.Matrix = &m
}

// light makes light of sRGB of numbers of the connection space.
func (p *pipe) light(v [3]float64, lab bool) [3]float64 { return apply(fromXYZ, p.xyz(v, lab)) }

// primaries returns matrices that make light of sRGB of some light in which a cube may be exact: that of red, green and
// blue of the profile, of which tables often mix all others, and that of sRGB.
func (p *Profile) primaries() [][9]float64 {
	list := [][9]float64{identity}
	var own [9]float64
	for k := range 3 {
		var v [3]float64
		v[k] = 1
		for row, light := range p.Light(v) {
			own[3*row+k] = light
		}
	}
	if inverse, ok := Inverse(own); ok {
		for _, v := range inverse {
			ok = ok && math.Abs(v) < 20
		}
		if ok {
			list = append(list, own)
		}
	}
	return list
}

func encode(light [3]float64) [3]float64 {
	return [3]float64{Encode(light[0]), Encode(light[1]), Encode(light[2])}
}

func decode(v [3]float64) [3]float64 { return [3]float64{Decode(v[0]), Decode(v[1]), Decode(v[2])} }

// add appends colours of n grey ones.
func (c *Conversion) add(n int, at func(v [3]float64) [3]float64) {
	for i := range n {
		v := float64(i) / float64(n-1)
		c.append(at([3]float64{v, v, v}))
	}
}

func (c *Conversion) append(v [3]float64) {
	c.Colours = append(c.Colours, float32(v[0]), float32(v[1]), float32(v[2]), 1)
}

// cube makes the curve and the cube.
func (c *Conversion) cube(d domain) {
	c.Cube = cubeSteps
	c.Colours = make([]float32, 0, 4*(curveSteps+cubeSteps*cubeSteps*cubeSteps))
	c.add(curveSteps, d.before)
	for b := range cubeSteps {
		for g := range cubeSteps {
			for r := range cubeSteps {
				c.append(d.corner([3]int{r, g, b}))
			}
		}
	}
}

// domain is the space that a cube divides evenly.
type domain struct {
	first *curves                       // curves of the tables that come before it, or nil
	rest  *pipe                         // the tables without these
	power float64                       // its numbers to this power are those of the rest
	after func(v [3]float64) [3]float64 // makes what the cube has of what the tables make
}

// before makes colours of the domain of colours of the device.
func (d domain) before(v [3]float64) [3]float64 {
	if d.first != nil {
		v = d.first.apply(v)
	}
	if d.power != 1 {
		for k := range v {
			v[k] = math.Pow(clamp(v[k]), 1/d.power)
		}
	}
	return v
}

// corner is a colour of the cube.
func (d domain) corner(i [3]int) (v [3]float64) {
	for k := range v {
		if v[k] = float64(i[k]) / (cubeSteps - 1); d.power != 1 {
			v[k] = math.Pow(v[k], d.power)
		}
	}
	return d.after(d.rest.apply(v))
}

// at is what the cube makes of a colour of the device.
func (d domain) at(v [3]float64) (made [3]float64) {
	tetrahedron([3]int{cubeSteps, cubeSteps, cubeSteps}, d.before(v), func(i [3]int, weight float64) {
		for k, x := range d.corner(i) {
			made[k] += weight * x
		}
	})
	return made
}

// bestDomain returns the domain in which a cube is the most exact, and what it is off: with the first
// curves of the tables before the cube or in it, and with even steps of the numbers or of how bright light
// looks. It measures each at the same few colours, as they are seen.
func bestDomain(tables *pipe, after, seen func(v [3]float64) [3]float64) (best domain, least float64) {
	list := []domain{{nil, tables, 1, after}, {nil, tables, 2.4, after}}
	if first, ok := tables.steps[0].(*curves); ok {
		rest := &pipe{tables.steps[1:], tables.legacy}
		list = append(list, domain{first, rest, 1, after}, domain{first, rest, 2.4, after})
	}
	random := rand.New(rand.NewPCG(1, 2))
	var probes [500][3]float64
	for i := range probes {
		if probes[i] = [3]float64{random.Float64(), random.Float64(), random.Float64()}; i%3 == 0 {
			probes[i][1], probes[i][2] = probes[i][0], probes[i][0]
		}
	}
	least = math.Inf(1)
	for _, d := range list {
		sum := 0.0
		for _, v := range probes {
			made := seen(d.at(v))
			for k, x := range seen(after(tables.apply(v))) {
				off := clamp(x) - clamp(made[k])
				sum += off * off
			}
		}
		if sum < least {
			best, least = d, sum
		}
	}
	return best, least
}
