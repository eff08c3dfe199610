package webp

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/lathe-gpu/lathe/internal/pixels"
)

// token is a pixel, a copy of pixels before, or a colour of the cache: in its upper half the length
// of a copy, or cached; in its lower half the pixel, the distance as it is written, or the number in the cache.
type token uint64

const (
	cached       = token(1) << 63
	longest      = 4096
	farthest     = 1<<20 - 120
	mostHashBits = 20
	mostSteps    = 32 // how many places are tried for a copy
	symbols      = 256 + 24
	distances    = 40
	cacheMul     = 0x1e35a7bd
)

// nearby are the distances with short names: right and down from the pixel that is copied to
// this one.
var nearby = [...][2]int{
	{0, 1}, {1, 0}, {1, 1}, {-1, 1}, {0, 2}, {2, 0}, {1, 2}, {-1, 2}, {2, 1}, {-2, 1}, {2, 2}, {-2, 2},
	{0, 3}, {3, 0}, {1, 3}, {-1, 3}, {3, 1}, {-3, 1}, {2, 3}, {-2, 3}, {3, 2}, {-3, 2},
}

// pixels writes pixels: a colour cache, if it helps, prefix codes and tokens. Only the picture itself
// may have several groups of codes, and says that it has one.
func (b *bitWriter) pixels(ctx context.Context, pix []uint32, w int, main bool) error {
	tokens, err := copies(ctx, pix, w)
	if err != nil {
		return err
	}
	cacheBits := 0
	if main {
		caches := []int{0, 4, 8, 10}
		sizes := make([]float64, len(caches))
		pixels.Parallel(len(caches), 0, func(next func() (int, bool)) {
			for i, ok := next(); ok; i, ok = next() {
				sizes[i] = caching(tokens, pix, caches[i], nil).size()
			}
		})
		cacheBits = caches[slices.Index(sizes, slices.Min(sizes))]
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	b.put(bit(cacheBits > 0), 1)
	if cacheBits > 0 {
		b.put(uint32(cacheBits), 4)
	}
	if main {
		b.put(0, 1)
	}
	n := caching(tokens, pix, cacheBits, tokens)
	green, red, blue, alpha, dist := b.code(n.green), b.code(n.red[:]), b.code(n.blue[:]), b.code(n.alpha[:]), b.code(n.dist[:])
	for i, t := range tokens {
		if i&(1<<20-1) == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		switch {
		case t&cached != 0:
			b.symbol(green, symbols+int(uint32(t)))
		case t>>32 > 0:
			s, extra, size := prefix(int(t >> 32))
			b.symbol(green, 256+s)
			b.put(extra, size)
			s, extra, size = prefix(int(uint32(t)))
			b.symbol(dist, s)
			b.put(extra, size)
		default:
			b.symbol(green, int(t>>8&0xff))
			b.symbol(red, int(t>>16&0xff))
			b.symbol(blue, int(t&0xff))
			b.symbol(alpha, int(t>>24&0xff))
		}
	}
	return nil
}

// counts are how often each symbol is needed.
type counts struct {
	green            []uint32
	red, blue, alpha [256]uint32
	dist             [distances]uint32
	extra            int // further bits
}

// size is about how many bits the symbols take.
func (n *counts) size() float64 {
	sum := float64(n.extra)
	for _, c := range [][]uint32{n.green, n.red[:], n.blue[:], n.alpha[:], n.dist[:]} {
		total := 0.0
		for _, v := range c {
			if v > 0 {
				total += float64(v)
				sum += 5 - float64(v)*math.Log2(float64(v)) // the symbol's length takes some bits too
			}
		}
		if total > 0 {
			sum += total * math.Log2(total)
		}
	}
	return sum
}

// caching counts the symbols with a cache of colours. It replaces pixels that are in the cache, in dst, which is
// nil or tokens itself.
func caching(tokens []token, pix []uint32, cacheBits int, dst []token) *counts {
	n := &counts{green: make([]uint32, symbols)}
	var cache []uint32
	if cacheBits > 0 {
		n.green, cache = make([]uint32, symbols+1<<cacheBits), make([]uint32, 1<<cacheBits)
	}
	at := 0
	for i, t := range tokens {
		if length := int(t >> 32); length > 0 {
			s, _, size := prefix(length)
			n.green[256+s]++
			n.extra += int(size)
			s, _, size = prefix(int(uint32(t)))
			n.dist[s]++
			n.extra += int(size)
			if cache != nil {
				for _, p := range pix[at : at+length] {
					cache[p*cacheMul>>(32-cacheBits)] = p
				}
			}
			at += length
			continue
		}
		if cache != nil {
			p := pix[at]
			key := p * cacheMul >> (32 - cacheBits)
			if cache[key] == p && at > 0 {
				n.green[symbols+int(key)]++
				if dst != nil {
					dst[i] = cached | token(key)
				}
				at++
				continue
			}
			cache[key] = p
		}
		at++
		n.green[t>>8&0xff]++
		n.red[t>>16&0xff]++
		n.blue[t&0xff]++
		n.alpha[t>>24&0xff]++
	}
	return n
}

// finder finds pixels that were there before.
type finder struct {
	pix    []uint32
	w      int
	shift  uint    // of a hash
	head   []int32 // the last place of a hash, plus 1
	before []int32 // the place before with the same hash, plus 1
}

func newFinder(pix []uint32, w int) *finder {
	// A few places for each hash: more of them are not worth a look, and take time.
	n := min(max(bits.Len(uint(len(pix))), 8), mostHashBits)
	return &finder{pix, w, uint(32 - n), make([]int32, 1<<n), make([]int32, len(pix))}
}

func (f *finder) hash(i int) uint32 {
	return (f.pix[i]*0x9e3779b1 ^ f.pix[i+1]*0x85ebca6b) >> f.shift
}

func (f *finder) enter(i int) {
	if i+1 < len(f.pix) {
		k := f.hash(i)
		f.before[i], f.head[k] = f.head[k], int32(i+1)
	}
}

// longer returns how many pixels from i on are those from j on, if they are more than n, and n otherwise.
func (f *finder) longer(i, j, n, most int) int {
	if f.pix[j+n] != f.pix[i+n] {
		return n
	}
	here, there, k := f.pix[i:][:most], f.pix[j:][:most], 0
	for k < most && here[k] == there[k] {
		k++
	}
	return max(k, n)
}

// find returns the longest copy for the pixels from i on, and how far back it is.
func (f *finder) find(i int) (n, d int) {
	if i+2 >= len(f.pix) {
		return 0, 0
	}
	most := min(longest, len(f.pix)-i)
	for _, back := range [2]int{1, f.w} {
		if back <= i && n < most {
			if k := f.longer(i, i-back, n, most); k > n {
				n, d = k, back
			}
		}
	}
	j := f.head[f.hash(i)]
	for range mostSteps {
		if j == 0 || n >= most || i-int(j-1) > farthest {
			break
		}
		if k := f.longer(i, int(j-1), n, most); k > n {
			n, d = k, i-int(j-1)
		}
		j = f.before[j-1]
	}
	return n, d
}

// copies finds runs of pixels that were there before.
func copies(ctx context.Context, pix []uint32, w int) ([]token, error) {
	tokens := make([]token, 0, len(pix)/2+1)
	f := newFinder(pix, w)
	names := map[int]int{}
	for i := len(nearby) - 1; i >= 0; i-- {
		if d := nearby[i][0] + nearby[i][1]*w; d > 0 {
			names[d] = i + 1
		}
	}
	name := func(d int) int {
		if n, ok := names[d]; ok {
			return n
		}
		return d + 120
	}
	// worth is how many pixels a copy must have at least: a far one takes many bits.
	worth := func(d int) int {
		if d > 1<<12 {
			return 4
		}
		return 3
	}
	for i, tick := 0, 0; i < len(pix); tick++ {
		if tick&(1<<16-1) == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		n, d := f.find(i)
		f.enter(i)
		if n < worth(d) {
			tokens = append(tokens, token(pix[i]))
			i++
			continue
		}
		for n < longest { // A copy that begins one pixel later may be longer.
			m, e := f.find(i + 1)
			if m <= n+1 {
				break
			}
			tokens = append(tokens, token(pix[i]))
			i++
			f.enter(i)
			n, d = m, e
		}
		tokens = append(tokens, token(n)<<32|token(name(d)))
		// The middle of a long run is like its ends.
		for k := 1; k < n; k++ {
			if k < 64 || n-k < 64 {
				f.enter(i + k)
			}
		}
		i += n
	}
	return tokens, nil
}
