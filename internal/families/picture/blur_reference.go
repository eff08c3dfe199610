package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// BlurReference blurs along rows and then along columns, in float64. Colours are weighted
// by alpha if b.Weigh is set.
func BlurReference(b Blur, in, out *tensor.Host) {
	h, w, channels := in.Shape[0], in.Shape[1], in.Shape[2]
	r, sigma, weigh := int(math.Ceil(3*b.Sigma)), b.Sigma, b.Weigh && in.Shape[2] == 4
	weights := make([]float64, 2*r+1)
	sum := 0.0
	for i := range weights {
		weights[i] = math.Exp(-math.Pow(float64(i-r)/sigma, 2) / 2)
		sum += weights[i]
	}
	blurred := func(value func(y, x int) float64) []float64 {
		row, plane := make([]float64, h*w), make([]float64, h*w)
		for y := range h {
			for x := range w {
				for i, k := range weights {
					row[y*w+x] += k / sum * value(y, ClampIndex(x+i-r, w))
				}
			}
		}
		for y := range h {
			for x := range w {
				for i, k := range weights {
					plane[y*w+x] += k / sum * row[ClampIndex(y+i-r, h)*w+x]
				}
			}
		}
		return plane
	}
	alpha := func(y, x int) float64 { return 1 }
	if weigh {
		alpha = func(y, x int) float64 { return in.At(y, x, 3) / Full(in.DType) }
	}
	under := blurred(alpha)
	for c := range channels {
		var plane []float64
		if c < 3 {
			plane = blurred(func(y, x int) float64 { return alpha(y, x) * in.At(y, x, c) / Full(in.DType) })
		}
		for y := range h {
			for x := range w {
				switch a := under[y*w+x]; {
				case c == 3 && weigh:
					Store(out, a, y, x, c)
				case c == 3:
					out.Set(in.At(y, x, c), y, x, c)
				case Hidden(in.DType, a):
					out.Set(0, y, x, c)
				default:
					Store(out, plane[y*w+x]/a, y, x, c)
				}
			}
		}
	}
}
