package icc

import (
	"encoding/binary"
	"math"
)

// A pipe is what a tag with tables does, step by step: it makes colours for the connection space of
// colours of the device (A2B), or the reverse (B2A). Numbers are in 0..1 between the steps. Grey is the
// first of the three.
type pipe struct {
	steps []step
	// legacy says that Lab numbers have 16 bits as version 2 had them, where 0xff00 is 100.
	legacy bool
}

type step interface {
	apply(v [3]float64) [3]float64
}

// apply runs the steps.
func (p *pipe) apply(v [3]float64) [3]float64 {
	for _, s := range p.steps {
		v = s.apply(v)
	}
	return v
}

// curves are a curve for each number.
type curves [3]Curve

func (c *curves) apply(v [3]float64) [3]float64 {
	return [3]float64{c[0].At(v[0]), c[1].At(v[1]), c[2].At(v[2])}
}

// affine is a matrix and an offset.
type affine struct {
	m  [9]float64
	by [3]float64
}

func (a *affine) apply(v [3]float64) [3]float64 {
	v = apply(a.m, v)
	return [3]float64{clamp(v[0] + a.by[0]), clamp(v[1] + a.by[1]), clamp(v[2] + a.by[2])}
}

// grid is a table of one or three dimensions, of which the last one changes fastest.
type grid struct {
	size    [3]int // 1 where there is no dimension
	out     int    // numbers of a colour, 1 or 3
	values  []byte
	width   int // bytes of a number
	strides [3]int
}

func (g *grid) apply(v [3]float64) (made [3]float64) {
	tetrahedron(g.size, v, func(i [3]int, weight float64) {
		at := i[0]*g.strides[0] + i[1]*g.strides[1] + i[2]*g.strides[2]
		for c := range g.out {
			made[c] += weight * number(g.values, at+c, g.width)
		}
	})
	return made
}

// tetrahedron visits the corners of the tetrahedron around a colour in a table of a size, and gives each its
// weight: from the lowest corner along the axis of the largest part.
func tetrahedron(size [3]int, v [3]float64, visit func(i [3]int, weight float64)) {
	var at [3]int
	var part [3]float64
	for k, n := range size {
		if n > 1 {
			p := clamp(v[k]) * float64(n-1)
			at[k] = min(int(p), n-2)
			part[k] = p - float64(at[k])
		}
	}
	for here := 1.0; ; {
		far := 0
		for k := range part {
			if part[k] > part[far] {
				far = k
			}
		}
		left := max(part[far], 0)
		visit(at, here-left)
		if left == 0 {
			return
		}
		here, part[far] = left, -1
		at[far]++
	}
}

// newGrid checks that a table is there, and returns the rest of the data.
func newGrid(where string, size []int, out int, width int, data []byte) (*grid, []byte, error) {
	g := &grid{size: [3]int{1, 1, 1}, out: out, width: width}
	total := int64(out * width)
	for k := len(size) - 1; k >= 0; k-- {
		if size[k] < 2 {
			return nil, nil, damaged("%s has a table of %d colours along an edge (want at least 2)", where, size[k])
		}
		g.size[k], g.strides[k] = size[k], int(total)/width
		if total *= int64(size[k]); total > int64(len(data)) {
			return nil, nil, damaged("%s ends before its table", where)
		}
	}
	g.values = data[:total]
	return g, data[total:], nil
}

// tables reads the tag that is there of names, for colours of a number of channels. It is nil if there is none.
func (f file) tables(channels int, lab bool, toDevice bool, names ...string) (*pipe, error) {
	for _, name := range names {
		d := f.tag(name)
		if d == nil {
			continue
		}
		where := "the tag " + name
		from, to := channels, 3
		if toDevice {
			from, to = 3, channels
		}
		kind := string(d[:4])
		if known := kind == "mft1" || kind == "mft2" || kind == "mAB " && !toDevice || kind == "mBA " && toDevice; !known {
			return nil, unsupported("%s is of the type %q", where, kind)
		}
		if len(d) < 32 {
			return nil, damaged("%s ends too early", where)
		}
		if int(d[8]) != from || int(d[9]) != to {
			return nil, damaged("%s makes %d numbers of %d (want %d of %d)", where, d[9], d[8], to, from)
		}
		if kind[1] == 'f' {
			return oldTables(where, d, from, to, lab, toDevice)
		}
		return newTables(where, d, from, to, toDevice)
	}
	return nil, nil
}

// oldTables reads the types lut8Type and lut16Type.
func oldTables(where string, d []byte, from, to int, lab, toDevice bool) (*pipe, error) {
	width, entries, results, at := 1, 256, 256, 48
	if string(d[:4]) == "mft2" {
		if width, at = 2, 52; len(d) < at {
			return nil, damaged("%s ends too early", where)
		}
		entries, results = int(binary.BigEndian.Uint16(d[48:])), int(binary.BigEndian.Uint16(d[50:]))
	}
	if entries < 2 || entries > 4096 || results < 2 || results > 4096 {
		return nil, damaged("%s has curves of %d and %d numbers (want 2 to 4096)", where, entries, results)
	}
	if len(d) < at {
		return nil, damaged("%s ends too early", where)
	}
	p := &pipe{legacy: lab && width == 2}
	if toDevice && !lab {
		m, err := matrixAt(where, d[12:48], 0)
		if err != nil {
			return nil, err
		}
		p.steps = append(p.steps, m)
	}
	rest := d[at:]
	read := func(channels, n int) error {
		if len(rest) < channels*n*width {
			return damaged("%s ends before its curves", where)
		}
		c := &curves{straight, straight, straight}
		for k := range channels {
			c[k], rest = tableCurve(rest, n, width), rest[n*width:]
		}
		p.steps = append(p.steps, c)
		return nil
	}
	if err := read(from, entries); err != nil {
		return nil, err
	}
	g, after, err := newGrid(where, repeated(int(d[10]), from), to, width, rest)
	if err != nil {
		return nil, err
	}
	p.steps, rest = append(p.steps, g), after
	return p, read(to, results)
}

func repeated(v, n int) []int { return []int{v, v, v}[:n] }

// newTables reads the types lutAToBType and lutBToAType.
func newTables(where string, d []byte, from, to int, toDevice bool) (*pipe, error) {
	p := &pipe{}
	// part returns the data of a part of the tag, nil if it has none.
	part := func(at int) ([]byte, error) {
		switch o := binary.BigEndian.Uint32(d[at:]); {
		case o == 0:
			return nil, nil
		case o < 32 || int64(o) >= int64(len(d)):
			return nil, damaged("%s has a part at %d in %d bytes", where, o, len(d))
		default:
			return d[o:], nil
		}
	}
	read := func(at, channels int) error {
		rest, err := part(at)
		if rest == nil || err != nil {
			return err
		}
		c := &curves{straight, straight, straight}
		for k := range channels {
			var used int
			if c[k], used, err = curveAt(where, rest); err != nil {
				return err
			}
			rest = rest[min((used+3)&^3, len(rest)):]
		}
		p.steps = append(p.steps, c)
		return nil
	}
	matrix := func() error {
		m, err := part(16)
		if m == nil || err != nil {
			return err
		}
		a, err := matrixAt(where, m, 3)
		if err == nil {
			p.steps = append(p.steps, a)
		}
		return err
	}
	table := func() error {
		t, err := part(24)
		switch {
		case err != nil:
			return err
		case t == nil && from != to:
			return damaged("%s has no table", where)
		case t == nil:
			return nil
		case len(t) < 20 || t[16] != 1 && t[16] != 2:
			return damaged("%s has a damaged table", where)
		}
		var size []int
		for _, n := range t[:from] {
			size = append(size, int(n))
		}
		g, _, err := newGrid(where, size, to, int(t[16]), t[20:])
		if err == nil {
			p.steps = append(p.steps, g)
		}
		return err
	}
	const atB, atM, atA = 12, 20, 28
	order := []func() error{
		func() error { return read(atA, from) }, table, func() error { return read(atM, to) }, matrix, func() error { return read(atB, to) },
	}
	if toDevice {
		order = []func() error{
			func() error { return read(atB, from) }, matrix, func() error { return read(atM, from) }, table, func() error { return read(atA, to) },
		}
	}
	for _, f := range order {
		if err := f(); err != nil {
			return nil, err
		}
	}
	if len(p.steps) == 0 {
		return nil, damaged("%s has no curves", where)
	}
	return p, nil
}

// matrixAt reads a matrix, and offsets after it.
func matrixAt(where string, d []byte, offsets int) (*affine, error) {
	if len(d) < 4*(9+offsets) {
		return nil, damaged("%s ends before its matrix", where)
	}
	var a affine
	for i := range a.m {
		a.m[i] = fixed(d[4*i:])
	}
	for i := range offsets {
		a.by[i] = fixed(d[36+4*i:])
	}
	return &a, nil
}

// white is the white D50 of the connection space.
var white = [3]float64{0.9642, 1, 0.8249}

// most is the largest number of XYZ in the connection space.
const most = 65535. / 32768

// xyz makes XYZ of numbers of the connection space.
func (p *pipe) xyz(v [3]float64, lab bool) [3]float64 {
	if !lab {
		return [3]float64{v[0] * most, v[1] * most, v[2] * most}
	}
	l, a, b := v[0]*100, v[1]*255-128, v[2]*255-128
	if p.legacy {
		l, a, b = v[0]*100*65535/65280, v[1]*65535/256-128, v[2]*65535/256-128
	}
	y := (l + 16) / 116
	return [3]float64{white[0] * fromLightness(y+a/500), fromLightness(y), white[2] * fromLightness(y-b/200)}
}

// connected makes numbers of the connection space of XYZ.
func (p *pipe) connected(xyz [3]float64, lab bool) [3]float64 {
	if !lab {
		return [3]float64{clamp(xyz[0] / most), clamp(xyz[1] / most), clamp(xyz[2] / most)}
	}
	x, y, z := lightness(xyz[0]/white[0]), lightness(xyz[1]), lightness(xyz[2]/white[2])
	l, a, b := min(116*y-16, 100), 500*(x-y), 200*(y-z)
	if p.legacy {
		return [3]float64{clamp(l / 100 * 65280 / 65535), clamp((a + 128) * 256 / 65535), clamp((b + 128) * 256 / 65535)}
	}
	return [3]float64{clamp(l / 100), clamp((a + 128) / 255), clamp((b + 128) / 255)}
}

// fromLightness is the inverse of lightness.
func fromLightness(f float64) float64 {
	if f > 24./116 {
		return f * f * f
	}
	return (f - 16./116) * 108 / 841
}

// lightness is the function of CIELAB.
func lightness(v float64) float64 {
	if v > 24.*24*24/116/116/116 {
		return math.Cbrt(v)
	}
	return v*841/108 + 16./116
}
