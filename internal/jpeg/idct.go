package jpeg

import "math"

// A block of eight by eight pixels becomes one of fewer pixels, each of them the mean of those that it stands for. It
// needs no pixel of the block: the inverse cosine transform is a sum of waves, and the mean of a few points of a wave is
// a smaller wave with fewer points. With the scale of JPEG point x of n is
//
//	1/2 · Σ c(u)·F(u)·mean(cos((2i+1)·u·π/16)),  c(0) = 1/√2, otherwise 1
//
// where u is from 0 to 7 and i are the points of 8 that x stands for.

const waveBits = 14

// waves[n][x][u] is what frequency u adds to point x of n, without the 1/2.
var waves = func() map[int]*[4][8]int64 {
	all := map[int]*[4][8]int64{}
	for n := 1; n <= 8; n *= 2 {
		all[n] = &[4][8]int64{}
		for x := range max(n/2, 1) {
			for u := range 8 {
				sum := 0.0
				for i := x * 8 / n; i < (x+1)*8/n; i++ {
					sum += math.Cos(float64((2*i+1)*u) * math.Pi / 16)
				}
				if u == 0 {
					sum *= math.Sqrt(0.5)
				}
				all[n][x][u] = int64(math.Round(sum * float64(n) / 8 * (1 << waveBits)))
			}
		}
	}
	return all
}()

// counts says whether n points depend on a frequency.
func counts(n, u int) bool { return waves[n][0][u] != 0 }

// inverse transforms eight frequencies of b, from at and step apart, to n points, 2 to 8. The result is twice as
// large as it should be, and has waveBits more. Point n−1−x has the waves of point x, every second one
// upside down.
func inverse(b *[64]int64, at, step, n int, w *[4][8]int64) {
	f0, f1, f2, f3 := b[at&63], b[(at+step)&63], b[(at+2*step)&63], b[(at+3*step)&63]
	f4, f5, f6, f7 := b[(at+4*step)&63], b[(at+5*step)&63], b[(at+6*step)&63], b[(at+7*step)&63]
	for x := range n / 2 {
		c := &w[x&3]
		even := f0*c[0] + f2*c[2] + f4*c[4] + f6*c[6]
		odd := f1*c[1] + f3*c[3] + f5*c[5] + f7*c[7]
		b[(at+x*step)&63], b[(at+(n-1-x)*step)&63] = even+odd, even-odd
	}
}

// paint makes the pixels of the block of coefficients, and writes them to its place in the plane. rows has a
// bit for each row of coefficients that are not all 0, and flat is whether only the first one is not 0.
func (c *part) paint(b *[64]int32, rows uint, flat bool, bx, by int) {
	at := by*c.down*c.high*c.stride + bx*c.across*c.wide
	if flat {
		v := level(int64(b[0]), 3)
		for range c.down * c.high {
			row := c.pix[at : at+c.across*c.wide]
			for x := range row {
				row[x] = v
			}
			at += c.stride
		}
		return
	}
	var f [64]int64
	for y := range 8 {
		if (rows|1)>>y&1 == 0 {
			continue
		}
		for x, v := range b[8*y : 8*y+8] {
			f[(8*y+x)&63] = int64(v)
		}
		if c.across > 1 {
			inverse(&f, 8*y, 1, c.across, c.wavesX)
		} else {
			f[8*y] *= c.wavesX[0][0]
		}
	}
	for x := range c.across {
		if c.down > 1 {
			inverse(&f, x, 8, c.down, c.wavesY)
		} else {
			f[x&63] *= c.wavesY[0][0]
		}
	}
	for y := range c.down {
		row := c.pix[at : at+c.across*c.wide]
		for x := range row {
			row[x] = level(f[(8*y+x/c.wide)&63], 2*waveBits+2)
		}
		at += c.stride
		for range c.high - 1 {
			copy(c.pix[at:at+len(row)], row)
			at += c.stride
		}
	}
}

// level is a sample of a number of that many bits behind the point.
func level(v int64, bits uint) byte {
	return byte(min(max((v+1<<(bits-1))>>bits+128, 0), 255))
}
