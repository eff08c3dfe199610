// Package icc reads colour profiles for RGB and grey: ICC.1 of versions 2 and 4. They say what colours
// mean by curves and a matrix, by a curve of grey, or by tables.
package icc

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Profile says how to make light of the colours of a picture, by relative colorimetry.
type Profile struct {
	// Grey says that the profile is for grey. Its three curves are equal.
	Grey bool
	// Curves make light of red, green and blue, each in 0..1.
	Curves [3]Curve
	// Matrix makes XYZ of the light, for the white D50, row by row. It is not used for grey.
	Matrix [9]float64

	a2b  *pipe // tables, which stand in place of curves and a matrix, or nil
	lab  bool  // the connection space is Lab
	file file
}

// standard is sRGB.
var standard = &Profile{Matrix: SRGB, Curves: [3]Curve{srgbCurve, srgbCurve, srgbCurve}}

const (
	headBytes = 128
	tagBytes  = 12
	// MaxBytes is the most bytes of a profile. Profiles with large tables have a few megabytes.
	MaxBytes = 16 << 20
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: colour profile: %s", errs.ErrInvalidArgument, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: colour profile: %s", errs.ErrUnsupported, fmt.Sprintf(format, args...))
}

// Parse reads a profile. If it has tables for relative colorimetry (A2B1), or for any intent (A2B0), they are
// used, and otherwise its curves and its matrix, as the standard says.
// Errors: ErrInvalidArgument for data that are no profile or are damaged, ErrUnsupported for a
// profile of another kind.
func Parse(data []byte) (*Profile, error) {
	switch {
	case len(data) > MaxBytes:
		return nil, damaged("%d bytes (want at most %d)", len(data), MaxBytes)
	case len(data) < headBytes+4 || string(data[36:40]) != "acsp":
		return nil, damaged("no ICC profile in %d bytes", len(data))
	}
	if size := binary.BigEndian.Uint32(data); int64(size) > int64(len(data)) {
		return nil, damaged("it says that it has %d bytes, and has %d", size, len(data))
	}
	if v := data[8]; v < 2 || v > 4 {
		return nil, unsupported("version %d", v)
	}
	switch class := string(data[12:16]); class {
	case "mntr", "scnr", "prtr", "spac":
	default:
		return nil, unsupported("it is of the class %q, which does not say what colours of a picture mean", class)
	}
	f, space, pcs := file{data}, string(data[16:20]), string(data[20:24])
	p := &Profile{Grey: space == "GRAY", lab: pcs == "Lab ", file: f}
	if space != "GRAY" && space != "RGB " {
		return nil, unsupported("it is for %q colours (want RGB or grey)", space)
	}
	if pcs != "XYZ " && pcs != "Lab " {
		return nil, unsupported("it connects colours by %q (want XYZ or Lab)", pcs)
	}
	var err error
	if p.a2b, err = f.tables(p.channels(), p.lab, false, "A2B1", "A2B0"); err == nil && p.a2b == nil {
		err = p.simple()
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// channels is how many numbers a colour has.
func (p *Profile) channels() int {
	if p.Grey {
		return 1
	}
	return 3
}

// simple reads curves and a matrix, or a curve of grey.
func (p *Profile) simple() error {
	switch {
	case p.Grey:
		curve, err := p.file.curve("kTRC")
		curve.lightness = p.lab
		p.Curves = [3]Curve{curve, curve, curve}
		return err
	case p.lab || p.file.tag("rXYZ") == nil:
		return unsupported("it maps %q colours to %q without a matrix and without tables (A2B0)", p.file.data[16:20], p.file.data[20:24])
	}
	return p.file.rgb(p)
}

// file is a profile.
type file struct{ data []byte }

// tag returns the data of a tag, or nil if there is none, or none with a type.
func (f file) tag(name string) []byte {
	count := int64(binary.BigEndian.Uint32(f.data[headBytes:]))
	table := f.data[headBytes+4:]
	for i := range min(count, int64(len(table)/tagBytes)) {
		e := table[i*tagBytes:]
		if string(e[:4]) != name {
			continue
		}
		at, n := int64(binary.BigEndian.Uint32(e[4:])), int64(binary.BigEndian.Uint32(e[8:]))
		if n < 8 || at+n > int64(len(f.data)) {
			return nil
		}
		return f.data[at : at+n]
	}
	return nil
}

// rgb reads curves and a matrix.
func (f file) rgb(p *Profile) error {
	for c, name := range []string{"r", "g", "b"} {
		var err error
		if p.Curves[c], err = f.curve(name + "TRC"); err != nil {
			return err
		}
		d := f.tag(name + "XYZ")
		if len(d) < 20 || string(d[:4]) != "XYZ " {
			return damaged("the tag %sXYZ is missing or damaged", name)
		}
		for row := range 3 {
			p.Matrix[3*row+c] = fixed(d[8+4*row:])
		}
	}
	if _, ok := Inverse(p.Matrix); !ok {
		return damaged("its primary colours lie on a line")
	}
	return nil
}

// fixed reads an s15Fixed16Number.
func fixed(b []byte) float64 { return float64(int32(binary.BigEndian.Uint32(b))) / 65536 }

// SRGB is the matrix of sRGB, from light to XYZ for the white D50.
var SRGB = [9]float64{
	0.43606567, 0.38514710, 0.14306641,
	0.22248840, 0.71687317, 0.06060791,
	0.01391602, 0.09707642, 0.71409607,
}

// Linear returns the matrix that makes light of sRGB of the light that the curves make. The numbers of a
// profile are rounded. Where they miss white by less than 1%, white becomes white.
func (p *Profile) Linear() [9]float64 {
	if p.Grey {
		return identity
	}
	inverse, _ := Inverse(SRGB)
	m := times(inverse, p.Matrix)
	for row := 0; row < 9; row += 3 {
		if sum := m[row] + m[row+1] + m[row+2]; math.Abs(sum-1) < 0.01 {
			m[row], m[row+1], m[row+2] = m[row]/sum, m[row+1]/sum, m[row+2]/sum
		}
	}
	return m
}

var identity = [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}

// fromXYZ makes light of sRGB of XYZ, so that the white D50 becomes 1, 1, 1.
var fromXYZ = func() [9]float64 {
	m := SRGB
	for i := range m {
		row := i / 3 * 3
		m[i] *= white[i/3] / (SRGB[row] + SRGB[row+1] + SRGB[row+2])
	}
	inverse, _ := Inverse(m)
	return inverse
}()

// toXYZ is the inverse.
var toXYZ = func() [9]float64 {
	inverse, _ := Inverse(fromXYZ)
	return inverse
}()

// Light returns the light of sRGB of a colour, of which grey has the first number. It is below 0 or above 1
// where sRGB does not have the colour.
func (p *Profile) Light(v [3]float64) [3]float64 {
	if p.a2b != nil {
		return p.a2b.light(p.a2b.apply(v), p.lab)
	}
	if p.Grey {
		v[1], v[2] = v[0], v[0]
	}
	return apply(p.Linear(), (*curves)(&p.Curves).apply(v))
}

// Encode makes a colour of sRGB of light. Below 0 it is the negative one of the opposite.
func Encode(light float64) float64 {
	switch {
	case light < 0:
		return -Encode(-light)
	case light <= 0.0031308:
		return 12.92 * light
	}
	return 1.055*math.Pow(light, 1/2.4) - 0.055
}

// Decode is the inverse of Encode.
func Decode(v float64) float64 {
	switch {
	case v < 0:
		return -Decode(-v)
	case v <= 0.04045:
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

// IsSRGB reports whether colours are those of sRGB, up to a third of a level of 8 bits, or up to a level where
// tables are rounded.
func (p *Profile) IsSRGB() bool {
	within := 1. / (3 * 255)
	if p.a2b != nil {
		within = 1. / 255
	}
	if p.a2b == nil {
		for i, v := range p.Linear() {
			if math.Abs(v-identity[i]) > 1e-3 {
				return false
			}
		}
	} else {
		const n = 17
		for i := range n * n * n {
			v := [3]float64{float64(i%n) / (n - 1), float64(i/n%n) / (n - 1), float64(i/n/n) / (n - 1)}
			if p.Grey {
				v[1], v[2] = v[0], v[0]
			}
			for c, light := range p.Light(v) {
				if math.Abs(clamp(Encode(light))-v[c]) > within {
					return false
				}
			}
		}
	}
	for level := range 256 {
		v := float64(level) / 255
		for c, light := range p.Light([3]float64{v, v, v}) {
			if p.a2b == nil {
				light = p.Curves[c].At(v)
			}
			if math.Abs(Encode(light)-v) > within {
				return false
			}
		}
	}
	return true
}

// apply returns the product of a matrix and a column.
func apply(m [9]float64, v [3]float64) [3]float64 {
	return [3]float64{
		m[0]*v[0] + m[1]*v[1] + m[2]*v[2],
		m[3]*v[0] + m[4]*v[1] + m[5]*v[2],
		m[6]*v[0] + m[7]*v[1] + m[8]*v[2],
	}
}

// times returns the product of two matrices.
func times(a, b [9]float64) (p [9]float64) {
	for i := range p {
		for k := range 3 {
			p[i] += a[i/3*3+k] * b[3*k+i%3]
		}
	}
	return p
}

// Inverse returns the inverse of a matrix, or false if there is none of moderate numbers.
func Inverse(m [9]float64) (inverse [9]float64, ok bool) {
	minor := func(i, j int) float64 {
		a, b, c, d := (i+1)%3, (i+2)%3, (j+1)%3, (j+2)%3
		return m[3*a+c]*m[3*b+d] - m[3*a+d]*m[3*b+c]
	}
	det := m[0]*minor(0, 0) + m[1]*minor(0, 1) + m[2]*minor(0, 2)
	if !(math.Abs(det) > 1e-6) {
		return inverse, false
	}
	for i := range 3 {
		for j := range 3 {
			inverse[3*j+i] = minor(i, j) / det
		}
	}
	return inverse, true
}
