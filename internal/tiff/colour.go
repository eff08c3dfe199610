package tiff

import (
	"fmt"
	"math"
)

// colour returns a function that makes red, green and blue of a pixel's samples.
func (h *Header) colour() (func(d []byte, p []uint32), error) {
	widen := widener(h.bits)
	switch h.photometric {
	case whiteIsZero, blackIsZero:
		var flip byte
		if h.photometric == whiteIsZero {
			flip = 255
		}
		return func(d []byte, p []uint32) {
			v := widen(p[0]) ^ flip
			d[0], d[1], d[2] = v, v, v
		}, nil
	case rgb:
		return func(d []byte, p []uint32) { d[0], d[1], d[2] = widen(p[0]), widen(p[1]), widen(p[2]) }, nil
	case paletted:
		return h.palette()
	case cmyk:
		return func(d []byte, p []uint32) {
			light := 255 - uint32(widen(p[3]))
			for c := range 3 {
				d[c] = byte(((255-uint32(widen(p[c])))*light + 127) / 255)
			}
		}, nil
	case ycbcr:
		return h.ycbcr(widen), nil
	}
	return h.lab(), nil
}

// palette reads the colour map: all reds, all greens, all blues, of 16 bits.
func (h *Header) palette() (func(d []byte, p []uint32), error) {
	n := 1 << h.bits
	v, err := h.dir.numbers(320, uint64(3*n))
	if err != nil {
		return nil, err
	}
	if len(v) < 3*n {
		return nil, fmt.Errorf("a palette of %d values, not %d", len(v), 3*n)
	}
	wide := false
	for _, c := range v {
		wide = wide || c > 255
	}
	table := make([][3]byte, n)
	for i := range table {
		for c := range 3 {
			x := v[c*n+i]
			if wide { // some old files have 8 bits
				x = (x&0xffff*255 + 32895) >> 16
			}
			table[i][c] = byte(x)
		}
	}
	return func(d []byte, p []uint32) { copy(d[:3], table[p[0]][:]) }, nil
}

// ycbcr converts by the luma coefficients and the black and white levels of the
// file; those of JPEG streams are fixed.
func (h *Header) ycbcr(widen func(uint32) byte) func(d []byte, p []uint32) {
	luma, level := []float64{0.299, 0.587, 0.114}, []float64{0, 255, 128, 255, 128, 255}
	if h.compression != jpegCoded {
		luma, level = h.dir.fractions(529, luma), h.dir.fractions(532, level)
	}
	if luma[1] == 0 {
		luma[1] = 1
	}
	var scale [3]float64
	for c, span := range [3]float64{255, 127, 127} {
		if scale[c] = 1; level[2*c+1] != level[2*c] {
			scale[c] = span / (level[2*c+1] - level[2*c])
		}
	}
	round := func(v float64) byte { return byte(min(max(v+0.5, 0), 255)) }
	return func(d []byte, p []uint32) {
		var v [3]float64
		for c := range v {
			v[c] = (float64(widen(p[c])) - level[2*c]) * scale[c]
		}
		r := v[0] + v[2]*2*(1-luma[0])
		b := v[0] + v[1]*2*(1-luma[2])
		g := (v[0] - luma[0]*r - luma[2]*b) / luma[1]
		d[0], d[1], d[2] = round(r), round(g), round(b)
	}
}

// fromD50 takes XYZ under the light of printing, D50, to linear sRGB, by
// Bradford's adaptation.
var fromD50 = [3][3]float64{
	{3.1341359, -1.6173863, -0.4906619},
	{-0.9787955, 1.9162544, 0.0334429},
	{0.0719554, -0.2289769, 1.4053860},
}

// lab converts CIE L*a*b* under D50 to sRGB.
func (h *Header) lab() func(d []byte, p []uint32) {
	one := float64(uint32(1) << (h.bits - 8)) // of a sample, in a* and b*
	full := float64(uint32(1)<<h.bits - 1)    // L* = 100
	if h.photometric == iccLab && h.bits == 16 {
		full = 0xff00
	}
	return func(d []byte, p []uint32) {
		ab := func(v uint32) float64 {
			if h.photometric == iccLab {
				return float64(v)/one - 128
			}
			return float64(int32(v<<(32-h.bits))>>(32-h.bits)) / one
		}
		fy := (float64(p[0])/full*100 + 16) / 116
		cube := func(f float64) float64 {
			if f > 6.0/29 {
				return f * f * f
			}
			return 3 * 6 * 6 / 29.0 / 29 * (f - 4.0/29)
		}
		xyz := [3]float64{0.9642 * cube(fy+ab(p[1])/500), cube(fy), 0.8249 * cube(fy-ab(p[2])/200)}
		for c, m := range fromD50 {
			v := m[0]*xyz[0] + m[1]*xyz[1] + m[2]*xyz[2]
			if v <= 0.0031308 {
				v *= 12.92
			} else {
				v = 1.055*math.Pow(v, 1/2.4) - 0.055
			}
			d[c] = byte(min(max(255*v+0.5, 0), 255))
		}
	}
}
