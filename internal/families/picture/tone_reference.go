package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// ToneReference computes what PlanTone plans. The levels of floats are those of f32 arithmetic.
func ToneReference(c Tone, in, out *tensor.Host) {
	top := 1023.0
	if in.DType == tensor.U8 {
		top = 255
	}
	level := func(v float64) int {
		if in.DType == tensor.U8 {
			return int(v)
		}
		l := float32(float32(v)*float32(top)) + 0.5
		if !(l > 0) {
			return 0
		}
		return int(min(l, float32(top)))
	}
	colours := min(in.Shape[2], 3)
	// histogram returns the levels of the colours that count for colour c of the result.
	histogram := func(colour int) []uint64 {
		counts := make([]uint64, int(top)+1)
		for y := range in.Shape[0] {
			for x := range in.Shape[1] {
				if in.Shape[2] == 4 && !(in.At(y, x, 3) > 0) {
					continue
				}
				switch {
				case c.Each || colours == 1:
					counts[level(in.At(y, x, colour))]++
				case c.Equalize:
					counts[lumaLevel(in, y, x, level)]++
				default:
					for k := range colours {
						counts[level(in.At(y, x, k))]++
					}
				}
			}
		}
		return counts
	}
	for colour := range colours {
		tone := stretchOf(histogram(colour), c.Clip)
		if c.Equalize {
			tone = equalizeOf(histogram(colour))
		}
		for y := range in.Shape[0] {
			for x := range in.Shape[1] {
				v := in.At(y, x, colour)
				Store(out, Clamp01(tone(v/Full(in.DType), level(v))), y, x, colour)
			}
		}
	}
	for y := range in.Shape[0] {
		for x := range in.Shape[1] {
			if in.Shape[2] == 4 {
				out.Set(in.At(y, x, 3), y, x, 3)
			}
		}
	}
}

// lumaLevel is the level of the luma of a pixel.
func lumaLevel(in *tensor.Host, y, x int, level func(float64) int) int {
	r, g, b := in.At(y, x, 0), in.At(y, x, 1), in.At(y, x, 2)
	if in.DType == tensor.U8 {
		return int(math.Floor((299*r+587*g+114*b)/1000 + 0.5))
	}
	luma := float32(float32(r)*0.299) + float32(float32(g)*0.587)
	return level(float64(luma + float32(float32(b)*0.114)))
}

// stretchOf returns the function of a colour v in 0..1, with its level, that stretches the levels
// that remain when a part at both ends is clipped.
func stretchOf(counts []uint64, clip float64) func(v float64, level int) float64 {
	all := uint64(0)
	for _, n := range counts {
		all += n
	}
	units := uint64(clip * 65536)
	most := all * units / 65536
	first := func(at func(i int) int) int {
		sum := uint64(0)
		for i := range counts {
			if sum += counts[at(i)]; sum > most {
				return at(i)
			}
		}
		return at(0)
	}
	top := len(counts) - 1
	low, high := first(func(i int) int { return i }), first(func(i int) int { return top - i })
	if low >= high {
		low, high = 0, top
	}
	return func(v float64, level int) float64 {
		if top == 255 {
			return halfUp(uint64(min(max(level, low), high)-low), uint64(high-low))
		}
		return (v*float64(top) - float64(low)) / float64(high-low)
	}
}

// equalizeOf returns the function that maps a level to its rank.
func equalizeOf(counts []uint64) func(v float64, level int) float64 {
	ranks, sum, first := make([]uint64, len(counts)), uint64(0), uint64(0)
	for i, n := range counts {
		if sum += n; first == 0 {
			first = n
		}
		ranks[i] = sum
	}
	return func(v float64, level int) float64 {
		if sum == first {
			return float64(level) / float64(len(counts)-1)
		}
		if len(counts) == 256 {
			return halfUp(max(ranks[level], first)-first, sum-first)
		}
		return float64(max(ranks[level], first)-first) / float64(sum-first)
	}
}

// halfUp is n/d, rounded to a level of a byte.
func halfUp(n, d uint64) float64 { return float64((510*n+d)/(2*d)) / 255 }
