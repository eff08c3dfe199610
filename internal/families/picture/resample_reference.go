package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// ResampleReference computes the result of a Resample by the definition of the filters: each
// pixel of the result is the weighted mean of all pixels of the source.
func ResampleReference(filter string, linear bool, down, across Axis, in, out *tensor.Host) {
	full := Full(in.DType)
	w, channels := in.Shape[1], in.Shape[2]
	weigh := channels == 4
	// rows sums along columns.
	rows := make([][]float64, out.Shape[0])
	downWeights := axisWeights(filter, down)
	for y := range rows {
		rows[y] = make([]float64, w*channels)
		for sy, k := range downWeights[y] {
			if k == 0 {
				continue
			}
			for x := range w {
				alpha := 1.0
				if weigh {
					alpha = in.At(sy, x, 3) / full
					rows[y][x*channels+3] += k * alpha
				}
				for c := range min(channels, 3) {
					v := in.At(sy, x, c) / full
					if linear {
						v = sRGBToLinear(v)
					}
					rows[y][x*channels+c] += k * alpha * v
				}
			}
		}
	}

	for x, weights := range axisWeights(filter, across) {
		for y := range rows {
			sums := make([]float64, channels)
			for sx, k := range weights {
				if k == 0 {
					continue
				}
				for c := range sums {
					sums[c] += k * rows[y][sx*channels+c]
				}
			}
			for c, v := range sums {
				if weigh && c < 3 {
					if v /= sums[3]; Hidden(out.DType, sums[3]-1e-9) { // some weights are 0 but for rounding
						v = 0
					}
				}
				if v = Clamp01(v); linear && c < 3 {
					v = linearToSRGB(v)
				}
				Store(out, v, y, x, c)
			}
		}
	}
}

// axisWeights returns the source pixels with a weight for each pixel of the result.
func axisWeights(filter string, a Axis) []map[int]float64 {
	scale := a.Length / float64(a.Out)
	list := make([]map[int]float64, a.Out)
	for i := range list {
		centre, sum := a.Start+(float64(i)+0.5)*scale, 0.0
		weights := map[int]float64{}
		far := 3*math.Max(scale, 1) + 2 // no filter is wider
		for j := max(0, int(centre-far)); j < min(a.In, int(centre+far)); j++ {
			d := float64(j) + 0.5 - centre
			switch x := math.Abs(d) / math.Max(scale, 1); filter {
			case "nearest":
				hit := int(centre)
				if a.Length == float64(a.In) {
					hit = (2*i + 1) * a.In / (2 * a.Out) // exact, where the middle falls between two pixels
				}
				if j == min(hit, a.In-1) {
					weights[j] = 1
				}
			case "box":
				weights[j] = math.Max(0, math.Min(float64(j)+1, centre+scale/2)-math.Max(float64(j), centre-scale/2))
			case "bilinear":
				weights[j] = math.Max(0, 1-x)
			case "catmull-rom":
				weights[j] = keys(x, 0, 0.5)
			case "mitchell":
				weights[j] = keys(x, 1.0/3, 1.0/3)
			case "lanczos2":
				weights[j] = windowedSinc(x, 2)
			case "lanczos3":
				weights[j] = windowedSinc(x, 3)
			}
			sum += weights[j]
		}
		for j := range weights {
			weights[j] /= sum
		}
		list[i] = weights
	}
	return list
}

// keys is the family of cubic filters of Mitchell and Netravali.
func keys(x, b, c float64) float64 {
	x2, x3 := x*x, x*x*x
	switch {
	case x < 1:
		return (12-9*b-6*c)/6*x3 + (-18+12*b+6*c)/6*x2 + (6-2*b)/6
	case x < 2:
		return (-b-6*c)/6*x3 + (6*b+30*c)/6*x2 + (-12*b-48*c)/6*x + (8*b+24*c)/6
	}
	return 0
}

func windowedSinc(x, lobes float64) float64 {
	switch {
	case x == 0:
		return 1
	case x >= lobes || x == math.Trunc(x): // math.Sin is not exactly 0 there
		return 0
	}
	a, b := math.Pi*x, math.Pi*x/lobes
	return math.Sin(a) / a * math.Sin(b) / b
}

// sRGBToLinear and linearToSRGB are those of IEC 61966-2-1.
func sRGBToLinear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func linearToSRGB(v float64) float64 {
	if v <= 0.0031308 {
		return v * 12.92
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}
