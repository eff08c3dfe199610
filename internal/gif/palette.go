package gif

import (
	"cmp"
	"math"
	"slices"
)

// A pixel is a number of alpha, red, green and blue, as image/color orders them in names. It is 0 if it is
// transparent, and otherwise opaque.
type pixel = uint32

// bin is the pixels whose colours are alike in the upper five bits of each channel.
type bin struct {
	n   float64
	sum [3]float64
}

func (b bin) mean(axis int) float64 { return b.sum[axis] / b.n }

// box is a set of bins that get one colour.
type box struct {
	bins []bin
	all  bin
	loss float64 // the sum of the squares of how far pixels are from the mean
	axis int     // the channel in which they are farthest
}

func newBox(bins []bin) box {
	b := box{bins: bins}
	var squares [3]float64
	for _, x := range bins {
		b.all.n += x.n
		for i, s := range x.sum {
			b.all.sum[i] += s
			squares[i] += s * s / x.n
		}
	}
	worst := -1.0
	for i, s := range squares {
		loss := max(s-b.all.sum[i]*b.all.sum[i]/b.all.n, 0)
		if b.loss += loss; loss > worst {
			worst, b.axis = loss, i
		}
	}
	return b
}

// split divides a box where that loses least.
func (b box) split() (box, box) {
	axis := b.axis
	slices.SortFunc(b.bins, func(x, y bin) int { return cmp.Compare(x.mean(axis), y.mean(axis)) })
	var left bin
	best, cut := -1.0, 1
	for i, x := range b.bins[:len(b.bins)-1] {
		left.n += x.n
		gain := 0.0
		for c := range 3 {
			left.sum[c] += x.sum[c]
			right := b.all.sum[c] - left.sum[c]
			gain += left.sum[c]*left.sum[c]/left.n + right*right/(b.all.n-left.n)
		}
		if gain > best {
			best, cut = gain, i+1
		}
	}
	return newBox(b.bins[:cut]), newBox(b.bins[cut:])
}

// choose returns at most n colours for the pixels of which wanted is set: those that divide them with the least
// sum of squares, as far as cutting boxes and a few steps of k-means find them.
func choose(pix []pixel, wanted func(i int) bool, n int) []pixel {
	table := make([]bin, 1<<15)
	for i, p := range pix {
		if !wanted(i) {
			continue
		}
		b := &table[p>>9&0x7c00|p>>6&0x3e0|p>>3&0x1f]
		b.n++
		b.sum[0] += float64(p >> 16 & 255)
		b.sum[1] += float64(p >> 8 & 255)
		b.sum[2] += float64(p & 255)
	}
	bins := slices.DeleteFunc(table, func(b bin) bool { return b.n == 0 })
	boxes := []box{newBox(bins)}
	for len(boxes) < n {
		worst := -1
		for i, b := range boxes {
			if len(b.bins) > 1 && (worst < 0 || b.loss > boxes[worst].loss) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		var other box
		boxes[worst], other = boxes[worst].split()
		boxes = append(boxes, other)
	}
	means := make([][3]float64, len(boxes))
	for i, b := range boxes {
		means[i] = [3]float64{b.all.mean(0), b.all.mean(1), b.all.mean(2)}
	}
	for range 3 {
		refine(means, bins)
	}
	colours := make([]pixel, len(means))
	for i, m := range means {
		colours[i] = 0xff000000 | pixel(math.Round(m[0]))<<16 | pixel(math.Round(m[1]))<<8 | pixel(math.Round(m[2]))
	}
	slices.Sort(colours)
	return slices.Compact(colours)
}

// refine moves each colour to the mean of the bins that are nearest to it.
func refine(means [][3]float64, bins []bin) {
	near := make([]bin, len(means))
	for _, b := range bins {
		r, g, bl := b.mean(0), b.mean(1), b.mean(2)
		best, least := 0, math.MaxFloat64
		for i, m := range means {
			x, y, z := m[0]-r, m[1]-g, m[2]-bl
			if d := x*x + y*y + z*z; d < least {
				best, least = i, d
			}
		}
		near[best].n += b.n
		for c := range 3 {
			near[best].sum[c] += b.sum[c]
		}
	}
	for i, b := range near {
		if b.n > 0 {
			means[i] = [3]float64{b.mean(0), b.mean(1), b.mean(2)}
		}
	}
}

// finder finds the colour of a palette that is nearest to another one. It looks at six bits a channel.
type finder struct {
	colours []pixel
	known   []uint16 // one more than the number of a colour; 0 where none was asked for yet
}

func newFinder(colours []pixel) *finder {
	return &finder{colours, make([]uint16, 1<<18)}
}

func (f *finder) nearest(r, g, b int32) int {
	at := &f.known[r>>2<<12|g>>2<<6|b>>2]
	if *at != 0 {
		return int(*at - 1)
	}
	r, g, b = r&^3+2, g&^3+2, b&^3+2
	best, least := 0, int32(math.MaxInt32)
	for i, c := range f.colours {
		x, y, z := int32(c>>16&255)-r, int32(c>>8&255)-g, int32(c&255)-b
		if d := x*x + y*y + z*z; d < least {
			best, least = i, d
		}
	}
	*at = uint16(best + 1)
	return best
}

// dither finds a colour for each pixel of which wanted is set, and hands what is lost on to the pixels
// beside and below, as Floyd and Steinberg do. Rows go from left to right and from right to left by turns, so that no
// pattern leans to one side.
func dither(pix []pixel, width int, wanted func(i int) bool, colours []pixel, found func(i, colour int)) {
	f := newFinder(colours)
	// What is handed on, multiplied by 16, with a place at each end.
	here, below := make([][3]int32, width+2), make([][3]int32, width+2)
	for y := 0; y*width < len(pix); y++ {
		first, end, step := 0, width, 1
		if y%2 == 1 {
			first, end, step = width-1, -1, -1
		}
		for x := first; x != end; x += step {
			i := y*width + x
			if !wanted(i) {
				continue
			}
			p := pix[i]
			e := here[x+1]
			var v [3]int32
			for c, s := range [3]int32{int32(p >> 16 & 255), int32(p >> 8 & 255), int32(p & 255)} {
				v[c] = min(max(s+(e[c]+8)>>4, 0), 255)
			}
			n := f.nearest(v[0], v[1], v[2])
			found(i, n)
			q := colours[n]
			for c, s := range [3]int32{int32(q >> 16 & 255), int32(q >> 8 & 255), int32(q & 255)} {
				lost := v[c] - s
				here[x+1+step][c] += 7 * lost
				below[x+1-step][c] += 3 * lost
				below[x+1][c] += 5 * lost
				below[x+1+step][c] += lost
			}
		}
		here, below = below, here
		clear(below)
	}
}
