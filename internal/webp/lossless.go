package webp

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/lathe-gpu/lathe/internal/pixels"
)

// Transforms of lossless pictures.
const (
	predictTransform = 0
	greenTransform   = 2
	paletteTransform = 3
)

// tileBits is the size of a square with one predictor, as a power of two.
const tileBits = 4

// lossless makes the bit stream of a lossless picture. pix has a number of alpha, red, green and blue for each
// pixel, and is changed.
func lossless(ctx context.Context, pix []uint32, w, h int, alpha bool) ([]byte, error) {
	b := &bitWriter{out: make([]byte, 0, len(pix)/2+64)}
	b.put(0x2f, 8)
	b.put(uint32(w-1), 14)
	b.put(uint32(h-1), 14)
	b.put(bit(alpha), 1)
	b.put(0, 3)
	if err := b.plane(ctx, pix, w, h); err != nil {
		return nil, err
	}
	return b.end(), nil
}

func bit(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

// plane writes the transforms and the pixels of a picture.
func (b *bitWriter) plane(ctx context.Context, pix []uint32, w, h int) error {
	palette := paletteOf(pix)
	if palette != nil {
		b.put(1, 1)
		b.put(paletteTransform, 2)
		b.put(uint32(len(palette)-1), 8)
		deltas := slices.Clone(palette)
		for i := len(deltas) - 1; i > 0; i-- {
			deltas[i] = sub(deltas[i], deltas[i-1])
		}
		if err := b.pixels(ctx, deltas, len(deltas), false); err != nil {
			return err
		}
		pix, w = packIndices(pix, w, h, palette)
	} else {
		b.put(1, 1)
		b.put(greenTransform, 2)
		for i, p := range pix {
			g := p >> 8 & 0xff
			pix[i] = sub(p, g<<16|g)
		}
		modes, across, err := chooseModes(ctx, pix, w, h)
		if err != nil {
			return err
		}
		b.put(1, 1)
		b.put(predictTransform, 2)
		b.put(tileBits-2, 3)
		if err := b.pixels(ctx, modes, across, false); err != nil {
			return err
		}
		predictAll(pix, w, h, modes, across)
	}
	b.put(0, 1)
	return b.pixels(ctx, pix, w, true)
}

// paletteOf returns the colours of a picture in the order of their numbers, or nil if there are
// more than 256.
func paletteOf(pix []uint32) []uint32 {
	seen := make(map[uint32]bool, 257)
	last := ^pix[0]
	for _, p := range pix {
		if p == last {
			continue
		}
		last = p
		if seen[p] = true; len(seen) > 256 {
			return nil
		}
	}
	all := make([]uint32, 0, len(seen))
	for p := range seen {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

// packIndices turns pixels into numbers in the palette, several to a pixel if they are small.
func packIndices(pix []uint32, w, h int, palette []uint32) (packed []uint32, across int) {
	index := make(map[uint32]uint32, len(palette))
	for i, p := range palette {
		index[p] = uint32(i)
	}
	shift := 0 // of the number of indices in a pixel
	switch n := len(palette); {
	case n <= 2:
		shift = 3
	case n <= 4:
		shift = 2
	case n <= 16:
		shift = 1
	}
	size := 8 >> shift // bits of an index
	across = (w + 1<<shift - 1) >> shift
	last, at := palette[0], uint32(0)
	// A packed pixel lies at or before those that it is made of, so that one slice is enough.
	for y := range h {
		var word uint32
		for x := range w {
			if p := pix[y*w+x]; p != last {
				last, at = p, index[p]
			}
			part := x & (1<<shift - 1)
			word |= at << (part * size)
			if part == 1<<shift-1 || x == w-1 {
				pix[y*across+x>>shift] = 0xff000000 | word<<8
				word = 0
			}
		}
	}
	return pix[:across*h], across
}

// sub subtracts in each of the four bytes.
func sub(a, b uint32) uint32 {
	ag := 0x00ff00ff + a&0xff00ff00 - b&0xff00ff00
	rb := 0xff00ff00 + a&0x00ff00ff - b&0x00ff00ff
	return ag&0xff00ff00 | rb&0x00ff00ff
}

// half is the mean in each of the four bytes, rounded down.
func half(a, b uint32) uint32 { return (a^b)&0xfefefefe>>1 + a&b }

// residuals writes how far pixels are from a prediction. cur has the pixel to their left and the pixels, and up has those above all of
// these and one more.
func residuals(mode uint32, dst, cur, up []uint32) {
	n := len(dst)
	left, here, corner, top, right := cur[:n], cur[1:][:n], up[:n], up[1:][:n], up[2:][:n]
	switch mode {
	case 0:
		for i := range dst {
			dst[i] = sub(here[i], 0xff000000)
		}
	case 1:
		for i := range dst {
			dst[i] = sub(here[i], left[i])
		}
	case 2:
		for i := range dst {
			dst[i] = sub(here[i], top[i])
		}
	case 3:
		for i := range dst {
			dst[i] = sub(here[i], right[i])
		}
	case 4:
		for i := range dst {
			dst[i] = sub(here[i], corner[i])
		}
	case 5:
		for i := range dst {
			dst[i] = sub(here[i], half(half(left[i], right[i]), top[i]))
		}
	case 6:
		for i := range dst {
			dst[i] = sub(here[i], half(left[i], corner[i]))
		}
	case 7:
		for i := range dst {
			dst[i] = sub(here[i], half(left[i], top[i]))
		}
	case 8:
		for i := range dst {
			dst[i] = sub(here[i], half(corner[i], top[i]))
		}
	case 9:
		for i := range dst {
			dst[i] = sub(here[i], half(top[i], right[i]))
		}
	case 10:
		for i := range dst {
			dst[i] = sub(here[i], half(half(left[i], corner[i]), half(top[i], right[i])))
		}
	case 11:
		for i := range dst {
			dst[i] = sub(here[i], nearer(left[i], top[i], corner[i]))
		}
	case 12:
		for i := range dst {
			dst[i] = sub(here[i], gradient(left[i], top[i], corner[i]))
		}
	default:
		for i := range dst {
			dst[i] = sub(here[i], gradientHalf(half(left[i], top[i]), corner[i]))
		}
	}
}

const predictors = 14

// likely are the predictors, with those first that are often the best, so that others are given up early.
var likely = [predictors]uint32{11, 12, 13, 7, 5, 10, 1, 2, 6, 8, 9, 3, 4, 0}

// nearer is that of left and top which is nearer to left + top - corner.
func nearer(l, t, tl uint32) uint32 {
	toLeft := apart(t, tl, 0) + apart(t, tl, 8) + apart(t, tl, 16) + apart(t, tl, 24)
	toTop := apart(l, tl, 0) + apart(l, tl, 8) + apart(l, tl, 16) + apart(l, tl, 24)
	if toLeft < toTop {
		return l
	}
	return t
}

// apart is how far the bytes at s are apart.
func apart(a, b uint32, s int) int32 {
	d := int32(a>>s&0xff) - int32(b>>s&0xff)
	sign := d >> 31
	return d ^ sign - sign
}

// gradient is left + top - corner, within a byte.
func gradient(l, t, tl uint32) uint32 {
	at := func(s int) uint32 {
		v := int32(l>>s&0xff) + int32(t>>s&0xff) - int32(tl>>s&0xff)
		return uint32(min(max(v, 0), 255)) << s
	}
	return at(0) | at(8) | at(16) | at(24)
}

// gradientHalf is a + (a - b)/2, within a byte.
func gradientHalf(a, b uint32) uint32 {
	at := func(s int) uint32 {
		x, y := int32(a>>s&0xff), int32(b>>s&0xff)
		return uint32(min(max(x+(x-y)/2, 0), 255)) << s
	}
	return at(0) | at(8) | at(16) | at(24)
}

// sizeOf is about how many bits a difference takes, in each byte, times 4096.
var sizeOf = func() (t [256]uint32) {
	for i := range t {
		t[i] = uint32(4096*math.Log2(1+float64(min(i, 256-i))) + 0.5)
	}
	return t
}()

// chooseModes returns the predictor of each tile, as green pixels, and how many tiles are in a row.
func chooseModes(ctx context.Context, pix []uint32, w, h int) (modes []uint32, across int, err error) {
	const side = 1 << tileBits
	across = (w + side - 1) >> tileBits
	down := (h + side - 1) >> tileBits
	modes = make([]uint32, across*down)
	pixels.Parallel(down, 0, func(next func() (int, bool)) {
		var line [side]uint32
		for ty, ok := next(); ok && ctx.Err() == nil; ty, ok = next() {
			for tx := range across {
				x0, x1 := max(tx*side, 1), min(tx*side+side, w)
				y0, y1 := max(ty*side, 1), min(ty*side+side, h)
				best, least := uint32(1), uint32(math.MaxUint32)
				for _, mode := range likely {
					if x0 >= x1 {
						break // The first column has no choice.
					}
					sum, d := uint32(0), line[:x1-x0]
					for y := y0; y < y1 && sum < least; y++ {
						i := y*w + x0
						residuals(mode, d, pix[i-1:], pix[i-1-w:])
						for _, v := range d {
							sum += sizeOf[v>>24] + sizeOf[v>>16&0xff] + sizeOf[v>>8&0xff] + sizeOf[v&0xff]
						}
					}
					if sum < least {
						best, least = mode, sum
					}
				}
				modes[ty*across+tx] = 0xff000000 | best<<8
			}
		}
	})
	return modes, across, ctx.Err()
}

// predictAll replaces pixels by their differences from the prediction. It goes backwards, because a
// prediction needs the pixels before.
func predictAll(pix []uint32, w, h int, modes []uint32, across int) {
	const band, side = 64, 1 << tileBits // rows that a worker takes at a time
	bands := (h + band - 1) / band
	above := make([]uint32, bands*(w+1)) // the rows before the bands, and the pixel after each
	for i := 1; i < bands; i++ {
		copy(above[i*(w+1):(i+1)*(w+1)], pix[(i*band-1)*w:])
	}
	pixels.Parallel(bands, 0, func(next func() (int, bool)) {
		line := make([]uint32, w)
		for i, ok := next(); ok; i, ok = next() {
			for y := min((i+1)*band, h) - 1; y >= i*band; y-- {
				row := pix[y*w:][:w]
				if y == 0 {
					for x := w - 1; x > 0; x-- {
						row[x] = sub(row[x], row[x-1])
					}
					row[0] = sub(row[0], 0xff000000)
					break
				}
				up := pix[(y-1)*w:][:w+1]
				if y == i*band {
					up = above[i*(w+1):][:w+1]
				}
				line[0] = sub(row[0], up[0])
				for x := 1; x < w; {
					end := min((x>>tileBits+1)*side, w)
					mode := modes[y>>tileBits*across+x>>tileBits] >> 8 & 0xff
					residuals(mode, line[x:end], row[x-1:], up[x-1:])
					x = end
				}
				copy(row, line)
			}
		}
	})
}

// prefix splits a length or a distance into a symbol and further bits.
func prefix(v int) (symbol int, extra uint32, n uint) {
	if v <= 4 {
		return v - 1, 0, 0
	}
	v--
	top := bits.Len(uint(v)) - 1
	n = uint(top - 1)
	return 2*top + v>>n&1, uint32(v & (1<<n - 1)), n
}
