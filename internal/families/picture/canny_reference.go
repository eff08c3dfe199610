package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// CannyReference computes what PlanCanny plans. All numbers are whole, and follow lines from their
// strong pixels.
func CannyReference(c Canny, in, out *tensor.Host) {
	h, w, channels := in.Shape[0], in.Shape[1], in.Shape[2]
	grey := make([]float64, h*w)
	for i := range grey {
		alpha := 1.0
		if c.Weigh && channels == 4 {
			alpha = in.At(i/w, i%w, 3)
		} else if in.DType == tensor.U8 {
			alpha = 255
		}
		grey[i] = cannyLevel(in, i/w, i%w, alpha)
	}
	grey = cannyBlur(c.Sigma, grey, h, w, 0, 1)
	grey = cannyBlur(c.Sigma, grey, h, w, 1, 0)

	gradient := func(y, x int) (gx, gy float64) {
		if y < 0 || x < 0 || y >= h || x >= w {
			return 0, 0
		}
		for j, side := range [3]float64{1, 2, 1} {
			at := func(dy, dx int) float64 { return grey[ClampIndex(y+dy, h)*w+ClampIndex(x+dx, w)] }
			gx += side * (at(j-1, 1) - at(j-1, -1))
			gy += side * (at(1, j-1) - at(-1, j-1))
		}
		return gx, gy
	}
	square := func(y, x int) float64 {
		gx, gy := gradient(y, x)
		return gx*gx + gy*gy
	}
	limit := func(v float64) float64 { return math.Floor(v * v * 8160 * 8160) }
	weak, lit, next := make([]bool, h*w), make([]bool, h*w), []int{}
	for i := range weak {
		y, x := i/w, i%w
		gx, gy := gradient(y, x)
		here, flat := gx*gx+gy*gy, math.Abs(gx)*13573
		tall := math.Abs(gy) * 32768
		switch {
		case here <= limit(c.Low):
		case tall < flat:
			weak[i] = here > square(y, x-1) && here >= square(y, x+1)
		case tall > flat+math.Abs(gx)*65536:
			weak[i] = here > square(y-1, x) && here >= square(y+1, x)
		case gx*gy < 0:
			weak[i] = here > square(y-1, x+1) && here > square(y+1, x-1)
		default:
			weak[i] = here > square(y-1, x-1) && here > square(y+1, x+1)
		}
		if weak[i] && here > limit(c.High) {
			lit[i], next = true, append(next, i)
		}
	}
	for len(next) > 0 {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		for k := range 9 {
			y, x := i/w+k/3-1, i%w+k%3-1
			if y >= 0 && x >= 0 && y < h && x < w && weak[y*w+x] && !lit[y*w+x] {
				lit[y*w+x], next = true, append(next, y*w+x)
			}
		}
	}
	for i, line := range lit {
		v := 0.0
		if line {
			v = 1
		}
		for ch := range min(channels, 3) {
			Store(out, v, i/w, i%w, ch)
		}
		if channels == 4 {
			Store(out, 1, i/w, i%w, 3)
		}
	}
}

// cannyLevel is the luma of a pixel times alpha, in 8160 levels. Those of floats are of f32
// arithmetic.
func cannyLevel(in *tensor.Host, y, x int, alpha float64) float64 {
	if in.DType == tensor.U8 {
		v := 299*in.At(y, x, 0) + 587*in.At(y, x, 1) + 114*in.At(y, x, 2)
		return math.Floor((v*alpha*4 + 15937) / 31875)
	}
	luma := float32(in.At(y, x, 0))
	if in.Shape[2] > 1 {
		luma = float32(luma*0.299) + float32(float32(in.At(y, x, 1))*0.587)
		luma += float32(float32(in.At(y, x, 2)) * 0.114)
	}
	level := float32(float32(luma*float32(alpha))*8160) + 0.5
	return math.Floor(min(max(float64(level), 0), 8160))
}

// cannyBlur blurs along columns or rows, with weights in 65536ths.
func cannyBlur(sigma float64, in []float64, h, w, dy, dx int) []float64 {
	radius, sum := int(math.Ceil(3*sigma)), 0.0
	weight := func(k int) float64 {
		if k == 0 {
			return 1
		}
		return math.Exp(-float64(k*k) / (2 * sigma * sigma))
	}
	for k := -radius; k <= radius; k++ {
		sum += weight(k)
	}
	kernel, middle := make([]float64, radius+1), 65536.0
	for k := radius; k > 0; k-- {
		kernel[k] = math.Round(weight(k) / sum * 65536)
		middle -= 2 * kernel[k]
	}
	kernel[0] = middle
	out := make([]float64, len(in))
	for i := range out {
		for k := -radius; k <= radius; k++ {
			out[i] += kernel[max(k, -k)] * in[ClampIndex(i/w+k*dy, h)*w+ClampIndex(i%w+k*dx, w)]
		}
		out[i] = math.Floor(out[i]/65536 + 0.5)
	}
	return out
}
