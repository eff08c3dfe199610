package resampling

import (
	"math"
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/tensor"
)

// sample is a position along an axis in the reference: two pixels and the weight of the second one.
type sample struct {
	first, second int
	weight        float64
	outside       bool
}

// samplesReference returns the samples of n elements, those of an element together, of a region from one
// coordinate to another along an axis of that many pixels. Each element has some of them.
func (r Regions) samplesReference(from, to float64, n, pixels int) (list []sample, each int) {
	start, size := from*r.Scale-r.offset(), (to-from)*r.Scale
	if r.Coordinates == unshifted && size < 1 {
		size = 1
	}
	if each = r.Ratio; each == 0 && size > 0 {
		each = int(math.Min(math.Ceil(size/float64(n)), maxSamples))
	}
	for i := range n * each {
		at := start + size*(float64(i)+0.5)/float64(n*each)
		s := sample{outside: !(at >= -1 && at <= float64(pixels))}
		if !s.outside {
			at = math.Min(math.Max(at, 0), float64(pixels-1))
			s.first = int(at)
			s.second, s.weight = min(s.first+1, pixels-1), at-float64(s.first)
		}
		list = append(list, s)
	}
	return list, each
}

// set computes the reference of a call.
func (r Regions) set(in []*tensor.Host, out *tensor.Host) {
	x, rois, indices := in[0].Floats(), in[1].Floats(), in[2].Floats()
	channels, height, width := in[0].Shape[1], in[0].Shape[2], in[0].Shape[3]
	made := make([]float64, 0, out.Elems())
	for region, image := range indices {
		roi := rois[4*region : 4*region+4]
		ys, rows := r.samplesReference(roi[1], roi[3], r.Height, height)
		xs, columns := r.samplesReference(roi[0], roi[2], r.Width, width)
		for c := range channels {
			plane := x[(int(image)*channels+c)*height*width:]
			for i := range r.Height * r.Width {
				made = append(made, r.pooled(ys[i/r.Width*rows:][:rows], xs[i%r.Width*columns:][:columns], func(y, x int) float64 { return plane[y*width+x] }))
			}
		}
	}
	out.SetFloats(made)
}

// pooled is the mean or the largest value of samples at all pairs of positions.
func (r Regions) pooled(ys, xs []sample, pixel func(y, x int) float64) float64 {
	if len(ys)*len(xs) == 0 {
		return 0
	}
	most := math.Inf(-1)
	sum := reduction.Sum(len(ys)*len(xs), func(i int) float64 {
		y, x := ys[i/len(xs)], xs[i%len(xs)]
		var v [4]float64
		if !y.outside && !x.outside {
			v = [4]float64{
				pixel(y.first, x.first) * (1 - y.weight) * (1 - x.weight), pixel(y.first, x.second) * (1 - y.weight) * x.weight,
				pixel(y.second, x.first) * y.weight * (1 - x.weight), pixel(y.second, x.second) * y.weight * x.weight,
			}
		}
		for _, w := range v {
			most = max(most, w) // NaN if one of both is, which math.Max is not beside +Inf.
		}
		return v[0] + v[1] + v[2] + v[3]
	})
	if r.Mode == maxMode {
		return most
	}
	return sum / float64(len(ys)*len(xs))
}

// powers says that all that divides or scales a position is a power of 2.
func (r Regions) powers() bool {
	fraction, _ := math.Frexp(r.Scale)
	for _, n := range []int{r.Height, r.Width, r.Ratio} {
		if bits.OnesCount(uint(n)) != 1 {
			return false
		}
	}
	return fraction == 0.5
}

// exact says that positions are exact in F32, for regions of RegionRange and SettleRegion in images of that shape.
func (r Regions) exact(shape []int) bool { return r.powers() && max(shape[2], shape[3]) <= 4096 }

// RegionRange returns the least and the largest coordinate of regions for spec.CasesOf.Range. Where positions
// are exact, regions reach over the edges of images. Elsewhere rounding could take a sample from just inside to
// just outside, where it counts 0: no region reaches there.
func RegionRange(r Regions, shape []int) (low, high float64) {
	if r.exact(shape) {
		return -3 / r.Scale, float64(max(shape[2], shape[3])+3) / r.Scale
	}
	high = float64(min(shape[2], shape[3]))
	if r.Coordinates == unshifted {
		high-- // A region is a pixel wide at least.
	}
	return 0, high * 31 / 32 / r.Scale // BF16 may round up.
}

// SettleRegion changes coordinates for spec.CasesOf.Settle, so that sizes, and with them the numbers of samples, are
// exact in F32. Where no region reaches over an edge, some are outside of the images.
func SettleRegion(r Regions, values []float64) {
	for i, v := range values {
		values[i] = math.Floor(4*v) / 4
		if !r.powers() && i/4%5 == 4 && i%2 == 1 {
			values[i] -= 1 << 22
		}
	}
}
