package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Motion is a blur along a line.
type Motion struct {
	// Degrees is the direction, clockwise from the right. Length is in pixels.
	Degrees, Length float64
	// Weigh says that colours are weighted by alpha.
	Weigh bool
}

// Radius is how many pixels in each direction a result depends on.
func (m Motion) Radius() int { return int(math.Ceil(m.Length/2)) + 1 }

// points calls f with points on the line, as distances from its middle.
func (m Motion) points(f func(x, y float64)) (n int) {
	n = 4 * int(math.Ceil(m.Length))
	sin, cos := math.Sincos(m.Degrees * math.Pi / 180)
	for k := range n {
		distance := m.Length * ((float64(k)+0.5)/float64(n) - 0.5)
		f(distance*cos, distance*sin)
	}
	return n
}

// MotionKernels lists the kernels that PlanMotion launches.
func MotionKernels() []spec.Kernel {
	list := []spec.Kernel{{Name: "image/taps.f32", Params: tapsParams{}}}
	return append(list, aroundKernels([]string{"convolve"}, []string{".blur"}, convolveParams{})...)
}

// PlanMotion plans launches that write the weights of pixels to a table, and then the means.
// Errors: ErrStrides, *LimitError.
func PlanMotion(t *spec.Target, in, out tensor.Desc, m Motion) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	if src.w == 0 || src.h == 0 {
		return &spec.Plan{}, nil
	}
	radius := m.Radius()
	wide := 2*radius + 1
	weights := make([]float64, wide*wide)
	n := m.points(func(x, y float64) {
		column, row := math.Floor(x), math.Floor(y)
		at := (int(row)+radius)*wide + int(column) + radius
		x, y = x-column, y-row
		weights[at] += (1 - x) * (1 - y)
		weights[at+1] += x * (1 - y)
		weights[at+wide] += (1 - x) * y
		weights[at+wide+1] += x * y
	})
	var table []float32
	for i, w := range weights {
		if w > 1e-9 {
			table = append(table, float32(i%wide-radius), float32(i/wide-radius), float32(w/float64(n)))
		}
	}
	a := newAroundPlan(t)
	ref := a.taps(table)
	return a.plan, a.add(pass{
		kernel: kernel("convolve", src.dtype, ".blur", false), height: src.h, width: src.w,
		above: radius, beside: radius, rows: aroundRows, columns: 1,
		most: aroundMost / int64(len(table)), binds: []spec.Bind{{Buf: ref}},
		finish: func(p StencilParams, _ uint32) any {
			return convolveParams{StencilParams: p, Radius: uint32(radius), Taps: uint32(len(table) / 3), Weigh: one(m.Weigh && src.c == 4)}
		},
	}, plane{ref: spec.In(0), layout: src}, plane{ref: spec.Out(0), layout: dst}, region{0, src.h, 0, src.w})
}

// LineReference makes each pixel the mean of points, which are distances from its middle. A point
// is the mean of the four pixels around it.
func LineReference(weigh bool, in, out *tensor.Host, points func(y, x int, f func(dx, dy float64)) int) {
	h, w, channels, full := in.Shape[0], in.Shape[1], in.Shape[2], Full(in.DType)
	weigh = weigh && channels == 4
	terms := make([][4]float64, h*w) // colours times alpha, and alpha
	for i, v := range in.Floats() {
		terms[i/channels][i%channels] = v / full
	}
	for i := range terms {
		t := &terms[i]
		a := 1.0
		if weigh {
			a = Clamp01(t[3])
		}
		*t = [4]float64{a * t[0], a * t[1], a * t[2], a}
	}
	for y := range h {
		for x := range w {
			var sum [4]float64
			n := points(y, x, func(dx, dy float64) {
				u, v := math.Floor(dx), math.Floor(dy)
				right, below := dx-u, dy-v
				for i, k := range [4]float64{(1 - right) * (1 - below), right * (1 - below), (1 - right) * below, right * below} {
					t := &terms[ClampIndex(y+int(v)+i/2, h)*w+ClampIndex(x+int(u)+i%2, w)]
					for c, v := range t {
						sum[c] += k * v
					}
				}
			})
			alpha := sum[3] / float64(n)
			for c := range channels {
				switch {
				case c == 3 && weigh:
					Store(out, Clamp01(alpha), y, x, c)
				case c == 3:
					out.Set(in.At(y, x, c), y, x, c)
				case Hidden(in.DType, alpha) || alpha <= 1e-6:
					Store(out, 0, y, x, c)
				default:
					Store(out, Clamp01(sum[c]/sum[3]), y, x, c)
				}
			}
		}
	}
}

// LineTolerance is that of means of points on lines.
func LineTolerance(d tensor.DType, points float64) spec.Tolerance {
	if d == tensor.U8 {
		return spec.Tolerance{Abs: 1, ByAlpha: 2e-5, Why: EitherLevel + "; colours are a sum divided by alpha"}
	}
	return spec.Tolerance{Abs: 2e-5 + 1e-7*points, ByAlpha: 2e-5, Why: "as many sums in f32 as there are points, at places that are f32; colours are a sum divided by alpha"}
}
