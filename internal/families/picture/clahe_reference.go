package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// ClaheReference computes what PlanClahe plans, in float64. The levels of floats are those of f32
// arithmetic.
func ClaheReference(c Local, in, out *tensor.Host) {
	h, w, colours, top := in.Shape[0], in.Shape[1], min(in.Shape[2], 3), 1023
	if in.DType == tensor.U8 {
		top = 255
	}
	across, down := min(c.TilesX, w), min(c.TilesY, h)
	levelAt := func(y, x int) int {
		level := func(v float64) int {
			if l := float32(float32(v)*1023) + 0.5; l > 0 {
				return int(min(l, 1023))
			}
			return 0
		}
		switch {
		case colours == 1:
			return level(in.At(y, x, 0))
		default:
			return lumaLevel(in, y, x, level)
		}
	}
	tables := make([][]float64, across*down)
	for i := range tables {
		counts, n := make([]int64, top+1), int64(0)
		for y := i / across * h / down; y < (i/across+1)*h/down; y++ {
			for x := i % across * w / across; x < (i%across+1)*w/across; x++ {
				if in.Shape[2] < 4 || in.At(y, x, 3) > 0 {
					counts[levelAt(y, x)]++
					n++
				}
			}
		}
		tables[i] = clippedRanks(counts, n, max(n*int64(math.Round(c.Clip*64))/64/int64(top+1), 1))
	}
	px := make([]float64, colours)
	for y := range h {
		for x := range w {
			level := levelAt(y, x)
			sum := 0.0
			u, v := (float64(x)+0.5)*float64(across)/float64(w)-0.5, (float64(y)+0.5)*float64(down)/float64(h)-0.5
			for k := range 4 {
				column, row := math.Floor(u)+float64(k%2), math.Floor(v)+float64(k/2)
				share := (1 - math.Abs(u-column)) * (1 - math.Abs(v-row))
				sum += share * tables[ClampIndex(int(row), down)*across+ClampIndex(int(column), across)][level]
			}
			for i := range px {
				px[i] = in.At(y, x, i) / Full(in.DType)
			}
			raiseLuma(px, sum)
			for i, v := range px {
				Store(out, Clamp01(v), y, x, i)
			}
			if in.Shape[2] == 4 {
				out.Set(in.At(y, x, 3), y, x, 3)
			}
		}
	}
}

// clippedRanks returns by how much each level is raised, in 0..1, where n pixels have the counts
// and what is above most is spread over all levels.
func clippedRanks(counts []int64, n, most int64) []float64 {
	raised := make([]float64, len(counts))
	if n == 0 {
		return raised
	}
	spare := int64(0)
	for _, k := range counts {
		spare += max(k-most, 0)
	}
	sum := 0.0
	for i, k := range counts {
		sum += float64(min(k, most)) + float64(spare)/float64(len(counts))
		raised[i] = sum/float64(n) - float64(i)/float64(len(counts)-1)
	}
	return raised
}

// raiseLuma adds a number to all colours. If one is outside of 0..1 then, all come nearer to the
// luma until none is.
func raiseLuma(px []float64, by float64) {
	was := Luma(px)
	l := Clamp01(was + by)
	part := 1.0
	for i := range px {
		px[i] -= was
		if px[i] < 0 {
			part = min(part, -l/px[i])
		} else if px[i] > 0 {
			part = min(part, (1-l)/px[i])
		}
	}
	for i := range px {
		px[i] = l + part*px[i]
	}
}
