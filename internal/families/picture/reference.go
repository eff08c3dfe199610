package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// Full is the value that stands for 1 in an image's dtype.
func Full(d tensor.DType) float64 {
	if d == tensor.U8 {
		return 255
	}
	return 1
}

// Store sets a component given in 0..1. It rounds halves up in u8.
func Store(out *tensor.Host, v float64, y, x, c int) {
	if out.DType == tensor.U8 {
		v = math.Floor(v*255 + 0.5)
	}
	out.Set(v, y, x, c)
}

// Hidden reports whether nothing remains of an alpha of 0..1 as it is stored.
func Hidden(d tensor.DType, alpha float64) bool {
	return alpha <= 0 || d == tensor.U8 && alpha*255 < 0.5
}

// EachPixel sets every pixel of out to that of in after f has changed its
// colour, given as 1 or 3 components in 0..1.
func EachPixel(in, out *tensor.Host, f func(px []float64)) {
	colours := min(in.Shape[2], 3)
	px := make([]float64, colours)
	for y := range in.Shape[0] {
		for x := range in.Shape[1] {
			for c := range px {
				px[c] = in.At(y, x, c) / Full(in.DType)
			}
			f(px)
			for c, v := range px {
				Store(out, v, y, x, c)
			}
			if in.Shape[2] == 4 {
				out.Set(in.At(y, x, 3), y, x, 3)
			}
		}
	}
}

// Luma is the BT.601 luma of 1 or 3 components.
func Luma(px []float64) float64 {
	if len(px) == 1 {
		return px[0]
	}
	return 0.299*px[0] + 0.587*px[1] + 0.114*px[2]
}

// Clamp01 is the nearest number to v in 0..1.
func Clamp01(v float64) float64 { return min(max(v, 0), 1) }

// ClampIndex is the nearest to i of n rows or columns: the edge repeats outside of a
// picture.
func ClampIndex(i, n int) int { return min(max(i, 0), n-1) }
