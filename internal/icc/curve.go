package icc

import (
	"encoding/binary"
	"math"
	"slices"
)

// Curve makes light of a colour, or is one of the curves around a table.
type Curve struct {
	table []float64 // for colours from 0 to 1, or nil
	// The light of v is (a·v + b)^gamma + high from `from` on, and slope·v + low before.
	gamma, a, b, slope, from, high, low float64
	lightness                           bool // it makes L*/100, of which light is made
}

// straight is the curve that changes nothing.
var straight = Curve{gamma: 1, a: 1}

// srgbCurve is that of sRGB.
var srgbCurve = Curve{gamma: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, slope: 1 / 12.92, from: 0.04045}

// maxEntries is the most numbers of a curve. All values of 16 bits are there.
const maxEntries = 1 << 16

// curve reads the curve of a tag.
func (f file) curve(name string) (Curve, error) {
	c, _, err := curveAt("the tag "+name, f.tag(name))
	return c, err
}

// curveAt reads the curve at the beginning of data. It returns the number of its bytes.
func curveAt(where string, d []byte) (c Curve, used int, err error) {
	switch {
	case len(d) >= 12 && string(d[:4]) == "curv":
		n := int64(binary.BigEndian.Uint32(d[8:]))
		values := d[12:]
		switch {
		case 2*n > int64(len(values)):
			return c, 0, damaged("%s has %d numbers in %d bytes", where, n, len(d))
		case n > maxEntries:
			return c, 0, damaged("%s has a curve of %d numbers (want at most %d)", where, n, maxEntries)
		}
		used = 12 + 2*int(n)
		switch n {
		case 0:
			return straight, used, nil
		case 1:
			c, err = newCurve(where, float64(binary.BigEndian.Uint16(values))/256, 1, 0, 0, 0, 0, 0)
			return c, used, err
		}
		return tableCurve(values, int(n), 2), used, nil
	case len(d) >= 12 && string(d[:4]) == "para":
		kind := int(binary.BigEndian.Uint16(d[8:]))
		if kind > 4 {
			return c, 0, damaged("%s has a curve of the kind %d (want 0 to 4)", where, kind)
		}
		var v [7]float64
		n := []int{1, 3, 4, 5, 7}[kind]
		if used = 12 + 4*n; len(d) < used {
			return c, 0, damaged("%s ends too early", where)
		}
		for i := range n {
			v[i] = fixed(d[12+4*i:])
		}
		g, a, b, slope, at, e, low := v[0], v[1], v[2], v[3], v[4], v[5], v[6]
		switch kind {
		case 0:
			a, b, slope, at, e, low = 1, 0, 0, 0, 0, 0
		case 1, 2: // Below −b/a it is constant.
			if a == 0 {
				return c, 0, damaged("%s has a curve that divides by 0", where)
			}
			if e, slope = slope, 0; kind == 1 {
				e = 0
			}
			at, low = -b/a, e
		}
		c, err = newCurve(where, g, a, b, slope, at, e, low)
		return c, used, err
	}
	return c, 0, damaged("%s is missing, damaged or of an unknown type", where)
}

// tableCurve returns the curve of n numbers of so many bytes each.
func tableCurve(values []byte, n, width int) Curve {
	table := make([]float64, n)
	for i := range table {
		table[i] = number(values, i, width)
	}
	return Curve{table: table}
}

// number returns number i of those of 1 or 2 bytes, in 0..1.
func number(values []byte, i, width int) float64 {
	if width == 1 {
		return float64(values[i]) / 255
	}
	return float64(binary.BigEndian.Uint16(values[2*i:])) / 65535
}

func newCurve(where string, gamma, a, b, slope, from, high, low float64) (Curve, error) {
	if !(gamma > 0) || gamma > 100 {
		return Curve{}, damaged("%s has a gamma of %v (want above 0)", where, gamma)
	}
	return Curve{gamma: gamma, a: a, b: b, slope: slope, from: from, high: high, low: low}, nil
}

// At returns the light of a colour in 0..1. It is in 0..1 too.
func (c Curve) At(v float64) float64 {
	v = clamp(v)
	var light float64
	switch n := len(c.table); {
	case n > 0:
		at := v * float64(n-1)
		i := min(int(at), n-2)
		light = c.table[i] + (at-float64(i))*(c.table[i+1]-c.table[i])
	case v >= c.from:
		light = math.Pow(max(c.a*v+c.b, 0), c.gamma) + c.high
	default:
		light = c.slope*v + c.low
	}
	if c.lightness {
		light = fromLightness((100*clamp(light) + 16) / 116)
	}
	return clamp(light)
}

// clamp returns v in 0..1, and 0 for a NaN.
func clamp(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}

// inverse returns the function that makes colours of light. A light that the curve does not make becomes the nearest
// colour.
// Errors: ErrUnsupported if the curve is constant, or rises and falls.
func (c Curve) inverse() (func(light float64) float64, error) {
	const n = 4096
	first, last := c.At(0), c.At(1)
	sign := 1.0
	if last < first {
		sign = -1
	}
	before := sign * first
	for i := 1; i <= n; i++ {
		v := sign * c.At(float64(i)/n)
		if v < before-1e-3 { // The numbers of a profile are rounded.
			return nil, unsupported("a curve rises and falls, so that colours cannot be made of light")
		}
		before = max(before, v)
	}
	if first == last {
		return nil, unsupported("a curve is constant, so that colours cannot be made of light")
	}
	return func(light float64) float64 {
		low, high := 0.0, 1.0
		switch {
		case sign*light <= sign*first:
			return 0
		case sign*light >= sign*last:
			return 1
		}
		for range 40 {
			middle := (low + high) / 2
			if sign*c.At(middle) < sign*light {
				low = middle
			} else {
				high = middle
			}
		}
		return (low + high) / 2
	}, nil
}

// equal reports whether two curves are the same.
func (c Curve) equal(d Curve) bool {
	same := slices.Equal(c.table, d.table)
	return same && c.gamma == d.gamma && c.a == d.a && c.b == d.b && c.slope == d.slope && c.from == d.from && c.high == d.high && c.low == d.low && c.lightness == d.lightness
}
