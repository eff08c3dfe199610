package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Bilateral holds the attributes of a blur that keeps edges.
type Bilateral struct {
	// Space is the standard deviation of distances in pixels, and Colour that of distances of
	// colours, where 1 is full.
	Space, Colour float64
	// Radius is that of the disc of pixels that count.
	Radius int
	// Weigh says that colours are weighted by alpha.
	Weigh bool
}

// bilateralParams is the push-constant block of bilateral.comp.
type bilateralParams struct {
	StencilParams
	Radius   uint32
	Weigh    uint32
	Steps    uint32
	BySpace  float32
	ByColour float32
}

// BilateralKernels lists the kernels that PlanBilateral launches.
func BilateralKernels() []spec.Kernel {
	return aroundKernels([]string{"bilateral"}, []string{""}, bilateralParams{})
}

// PlanBilateral plans a blur that keeps edges.
// Errors: ErrStrides, *LimitError.
func PlanBilateral(t *spec.Target, in, out tensor.Desc, c Bilateral) (*spec.Plan, error) {
	perLog := func(sigma float64) float32 { return float32(-math.Log2E / (2 * sigma * sigma)) }
	side := 2*c.Radius + 1
	return planAround(t, in, out, around{
		name: "bilateral", radius: c.Radius, most: aroundMost / int64(side*side),
		finish: func(p StencilParams) any {
			sigma := c.Colour * Full(in.DType)
			if p.Channels == 1 {
				sigma *= 3 // The kernel adds the distance of three equal colours.
			}
			return bilateralParams{p, uint32(c.Radius), one(c.Weigh && p.Channels == 4), groups(side, aroundTaps), perLog(c.Space), perLog(sigma)}
		},
	})
}

// BilateralReference computes a Bilateral in float64.
func BilateralReference(c Bilateral, in, out *tensor.Host) {
	likenessReference(c.Weigh, in, out, c.Radius, func(at func(y, x int) []float64, y, x, dy, dx int) float64 {
		if dy*dy+dx*dx > c.Radius*c.Radius {
			return 0
		}
		far := 0.0
		for i, v := range at(y, x) {
			far += math.Abs(v - at(y+dy, x+dx)[i])
		}
		return math.Exp(-float64(dy*dy+dx*dx)/(2*c.Space*c.Space) - far*far/(2*c.Colour*c.Colour))
	})
}

// likenessReference makes each pixel the mean of the square around it with weights. at returns the
// components of a pixel in 0..1: if alpha weighs, colours times alpha, and alpha.
func likenessReference(weigh bool, in, out *tensor.Host, radius int, weight func(at func(y, x int) []float64, y, x, dy, dx int) float64) {
	h, w, channels := in.Shape[0], in.Shape[1], in.Shape[2]
	weigh = weigh && channels == 4
	colours := min(channels, 3)
	pixels := make([][]float64, h*w)
	for i := range pixels {
		alpha := 1.0
		if weigh {
			alpha = Clamp01(in.At(i/w, i%w, 3) / Full(in.DType))
		}
		for c := range colours {
			pixels[i] = append(pixels[i], alpha*in.At(i/w, i%w, c)/Full(in.DType))
		}
		if weigh {
			pixels[i] = append(pixels[i], alpha)
		}
	}
	at := func(y, x int) []float64 { return pixels[ClampIndex(y, h)*w+ClampIndex(x, w)] }
	for y := range h {
		for x := range w {
			sum, all := make([]float64, 4), 0.0
			for dy := -radius; dy <= radius; dy++ {
				for dx := -radius; dx <= radius; dx++ {
					if k := weight(at, y, x, dy, dx); k > 0 {
						for c, v := range at(y+dy, x+dx) {
							sum[c] += k * v
						}
						all += k
					}
				}
			}
			alpha := 1.0
			if weigh {
				if alpha = sum[3] / all; alpha <= 1e-6 {
					alpha = 0
				}
				Store(out, Clamp01(alpha), y, x, 3)
			} else if channels == 4 {
				out.Set(in.At(y, x, 3), y, x, 3)
			}
			for c := range colours {
				if Hidden(in.DType, alpha) {
					Store(out, 0, y, x, c)
				} else {
					Store(out, Clamp01(sum[c]/all/alpha), y, x, c)
				}
			}
		}
	}
}

// LikenessTolerance is that of means whose weights are exponentials.
func LikenessTolerance(d tensor.DType) spec.Tolerance {
	if d == tensor.U8 {
		return spec.Tolerance{Abs: 1, ByAlpha: 2e-5, Why: EitherLevel + "; colours are a sum divided by alpha"}
	}
	return spec.Tolerance{Abs: 2e-5, ByAlpha: 2e-5, Why: "sums in f32, with weights that are exponentials; colours are divided by alpha"}
}
