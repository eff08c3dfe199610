package picture

import (
	"math"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/tensor"
)

// CompositeReference computes the result by the formulas of W3C Compositing and Blending Level 1,
// for each pixel on its own. A source that is scaled is not rounded to levels.
func CompositeReference(c Composite, in, over, out *tensor.Host) {
	h, w, channels := in.Shape[0], in.Shape[1], in.Shape[2]
	if c.Scale > 0 {
		wide := max(1, int(math.Floor(float64(w)*c.Scale/100+0.5)))
		high := max(1, int(math.Floor(float64(w)*c.Scale/100*float64(over.Shape[0])/float64(over.Shape[1])+0.5)))
		// A scaled picture of bytes has bytes.
		scaled := tensor.NewHost(tensor.Contiguous(over.DType, high, wide, over.Shape[2]))
		ResampleReference("lanczos3", false, Axis{In: over.Shape[0], Out: high, Length: float64(over.Shape[0])},
			Axis{In: over.Shape[1], Out: wide, Length: float64(over.Shape[1])}, over, scaled)
		over = scaled
	}
	exact := tensor.NewHost(tensor.Contiguous(tensor.F32, over.Shape...))
	values := over.Floats()
	for i := range values {
		values[i] /= Full(over.DType)
	}
	exact.SetFloats(values)
	sh, sw := exact.Shape[0], exact.Shape[1]
	left, top := (w-sw)/2+c.X, (h-sh)/2+c.Y
	if strings.Contains(c.Gravity, "left") {
		left = c.X
	} else if strings.Contains(c.Gravity, "right") {
		left = w - sw - c.X
	}
	if strings.Contains(c.Gravity, "top") {
		top = c.Y
	} else if strings.Contains(c.Gravity, "bottom") {
		top = h - sh - c.Y
	}
	for y := range h {
		for x := range w {
			sy, sx := y-top, x-left
			for c.Tile && sy < 0 {
				sy += sh
			}
			for c.Tile && sx < 0 {
				sx += sw
			}
			if c.Tile {
				sy, sx = sy%sh, sx%sw
			}
			source := []float64{0, 0, 0, 0}
			if sy >= 0 && sx >= 0 && sy < sh && sx < sw {
				source = referencePixel(exact, sy, sx)
			}
			backdrop := referencePixel(in, y, x)
			if channels == 1 {
				grey := Luma(source[:3])
				source[0], source[1], source[2] = grey, grey, grey
			}
			source[3] *= c.Opacity
			result, same := compositePixel(c.Mode, backdrop, source)
			for i := range channels {
				switch {
				case same:
					out.Set(in.At(y, x, i), y, x, i)
				case channels < 4:
					out.Set(result[i]*result[3], y, x, i) // it lies on black
				default:
					Store(out, result[i], y, x, i)
				}
			}
		}
	}
}

// referencePixel returns red, green, blue and alpha in 0..1.
func referencePixel(m *tensor.Host, y, x int) []float64 {
	px := []float64{0, 0, 0, 1}
	for i := range px {
		switch {
		case m.Shape[2] == 1 && i < 3:
			px[i] = m.At(y, x, 0) / Full(m.DType)
		case i < m.Shape[2]:
			px[i] = m.At(y, x, i) / Full(m.DType)
		}
	}
	return px
}

// exclusive is the mode of Porter and Duff where only one of both is. It has nothing to do with the
// operation of that name.
const exclusive = "xor"

// compositePixel returns the colour and alpha of a result. same says that the backdrop stays as it
// is, with its hidden colour if it is transparent.
func compositePixel(mode string, backdrop, source []float64) (result []float64, same bool) {
	ab, as := backdrop[3], source[3]
	var fa, fb float64
	colour := source[:3]
	switch mode {
	case "clear":
	case "src":
		fa = 1
	case "dst":
		fb = 1
	case "dst-over":
		fa, fb = 1-ab, 1
	case "in":
		fa = ab
	case "dst-in":
		fb = as
	case "mask":
		fb = as * Luma(source[:3])
	case "out":
		fa = 1 - ab
	case "dst-out":
		fb = 1 - as
	case "atop":
		fa, fb = ab, 1-as
	case "dst-atop":
		fa, fb = 1-ab, as
	case exclusive:
		fa, fb = 1-ab, 1-as
	case "plus":
		fa, fb = 1, 1
	default: // over, and the blend modes
		fa, fb = 1, 1-as
		mixed := blendReference(mode, backdrop[:3], source[:3])
		colour = make([]float64, 3)
		for i := range colour {
			colour[i] = (1-ab)*source[i] + ab*mixed[i]
		}
	}
	if as*fa == 0 && (fb == 1 || ab == 0 && fb > 0) {
		return backdrop, true
	}
	result = make([]float64, 4)
	result[3] = math.Min(1, as*fa+ab*fb)
	for i := range colour {
		if result[3] > 0 {
			result[i] = math.Min(1, as*fa*colour[i]+ab*fb*backdrop[i]) / result[3]
		}
	}
	return result, false
}

// blendReference is B(cb, cs).
func blendReference(mode string, cb, cs []float64) []float64 {
	if f := mixReference[mode]; f != nil {
		return f(cb, cs)
	}
	out := make([]float64, 3)
	for i := range out {
		out[i] = blendChannel(mode, cb[i], cs[i])
	}
	return out
}

// mixReference has the modes that mix colours.
var mixReference = map[string]func(cb, cs []float64) []float64{
	"hue":        func(cb, cs []float64) []float64 { return setLum(setSat(cs, sat(cb)), lum(cb)) },
	"saturation": func(cb, cs []float64) []float64 { return setLum(setSat(cb, sat(cs)), lum(cb)) },
	"color":      func(cb, cs []float64) []float64 { return setLum(cs, lum(cb)) },
	"luminosity": func(cb, cs []float64) []float64 { return setLum(cb, lum(cs)) },
}

func blendChannel(mode string, b, s float64) float64 {
	switch mode {
	case "multiply":
		return b * s
	case "screen":
		return 1 - (1-b)*(1-s)
	case "overlay":
		return blendChannel("hard-light", s, b)
	case "darken":
		return math.Min(b, s)
	case "lighten":
		return math.Max(b, s)
	case "color-dodge":
		switch {
		case b == 0:
			return 0
		case s == 1:
			return 1
		}
		return math.Min(1, b/(1-s))
	case "color-burn":
		switch {
		case b == 1:
			return 1
		case s == 0:
			return 0
		}
		return 1 - math.Min(1, (1-b)/s)
	case "hard-light":
		if s <= 0.5 {
			return blendChannel("multiply", b, 2*s)
		}
		return blendChannel("screen", b, 2*s-1)
	case "soft-light":
		if s <= 0.5 {
			return b - (1-2*s)*b*(1-b)
		}
		d := math.Sqrt(b)
		if b <= 0.25 {
			d = ((16*b-12)*b + 4) * b
		}
		return b + (2*s-1)*(d-b)
	case "difference":
		return math.Abs(b - s)
	case "exclusion":
		return b + s - 2*b*s
	}
	return s
}

func sat(c []float64) float64 { return slices.Max(c) - slices.Min(c) }

func lum(c []float64) float64 { return 0.3*c[0] + 0.59*c[1] + 0.11*c[2] }

func setLum(c []float64, l float64) []float64 {
	out := make([]float64, 3)
	for i := range out {
		out[i] = c[i] + l - lum(c)
	}
	low, high, middle := slices.Min(out), slices.Max(out), lum(out)
	for i := range out {
		if low < 0 {
			out[i] = middle + (out[i]-middle)*middle/(middle-low)
		}
	}
	for i := range out {
		if high > 1 {
			out[i] = middle + (out[i]-middle)*(1-middle)/(high-middle)
		}
	}
	return out
}

func setSat(c []float64, s float64) []float64 {
	out := make([]float64, 3)
	low, high := slices.Min(c), slices.Max(c)
	if high > low {
		for i := range out {
			out[i] = (c[i] - low) * s / (high - low)
		}
	}
	return out
}
