package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// Full returns the value that stands for 1 in pictures of a dtype.
func Full(d tensor.DType) float64 {
	if d == tensor.U8 {
		return 255
	}
	return 1
}

// Store sets a component to v, which is in 0..1. For U8, it rounds halves up.
func Store(out *tensor.Host, v float64, y, x, c int) {
	if out.DType == tensor.U8 {
		v = math.Floor(v*255 + 0.5)
	}
	out.Set(v, y, x, c)
}

// Hidden reports whether a pixel with that alpha, in 0..1, is fully transparent once it
// is stored in dtype d.
func Hidden(d tensor.DType, alpha float64) bool {
	return alpha <= 0 || d == tensor.U8 && alpha*255 < 0.5
}

// EachPixel copies every pixel of in to out and lets f change its colour. px has 1 or 3
// components in 0..1.
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

// Luma returns the BT.601 luma of a pixel with 1 or 3 components.
func Luma(px []float64) float64 {
	if len(px) == 1 {
		return px[0]
	}
	return 0.299*px[0] + 0.587*px[1] + 0.114*px[2]
}

// Clamp01 returns the number in 0..1 that is nearest to v.
func Clamp01(v float64) float64 { return min(max(v, 0), 1) }

// ClampIndex returns the index in 0..n-1 that is nearest to i. The edge of a picture
// repeats outside of it.
func ClampIndex(i, n int) int { return min(max(i, 0), n-1) }

// EachFrom copies pixels. The pixel of out at row y and column x is that of in where from says,
// or stays as it is if from returns false.
func EachFrom(in, out *tensor.Host, from func(y, x int) (sy, sx int, ok bool)) {
	for y := range out.Shape[0] {
		for x := range out.Shape[1] {
			if sy, sx, ok := from(y, x); ok {
				for c := range out.Shape[2] {
					out.Set(in.At(sy, sx, c), y, x, c)
				}
			}
		}
	}
}
