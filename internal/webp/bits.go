package webp

import (
	"math/bits"
	"slices"
)

// bitWriter writes numbers from their lowest bit on, as lossless WebP has them.
type bitWriter struct {
	out  []byte
	acc  uint64
	have uint // bits in acc
}

// put writes the lowest n bits of v; n is at most 32.
func (b *bitWriter) put(v uint32, n uint) {
	b.acc |= uint64(v) << b.have
	if b.have += n; b.have >= 32 {
		b.out = append(b.out, byte(b.acc), byte(b.acc>>8), byte(b.acc>>16), byte(b.acc>>24))
		b.acc >>= 32
		b.have -= 32
	}
}

// end returns all bytes.
func (b *bitWriter) end() []byte {
	for have := int(b.have); have > 0; have -= 8 {
		b.out = append(b.out, byte(b.acc))
		b.acc >>= 8
	}
	b.acc, b.have = 0, 0
	return b.out
}

// code is a prefix code: the bits of each symbol, in the order in which they are written.
type code struct {
	lengths []uint8
	words   []uint16
}

func (b *bitWriter) symbol(c *code, s int) { b.put(uint32(c.words[s]), uint(c.lengths[s])) }

// codeLengths returns the lengths of a prefix code of at most limit bits that is the best for
// the counts, or nearly so where the limit counts. A single symbol has the length 1.
func codeLengths(counts []uint32, limit int) []uint8 {
	lengths := make([]uint8, len(counts))
	var used []int
	for s, c := range counts {
		if c > 0 {
			used = append(used, s)
		}
	}
	if len(used) < 2 {
		for _, s := range used {
			lengths[s] = 1
		}
		return lengths
	}
	n := len(used)
	weight, parent := make([]uint64, 2*n-1), make([]int, 2*n-1)
	// Rare symbols make long codes. Raising the smallest counts makes them shorter.
	for least := uint32(1); ; least *= 2 {
		slices.SortStableFunc(used, func(a, b int) int {
			return int(int64(max(counts[a], least)) - int64(max(counts[b], least)))
		})
		for i, s := range used {
			weight[i] = uint64(max(counts[s], least))
		}
		leaf, inner := 0, n
		for next := n; next < 2*n-1; next++ {
			weight[next] = 0
			for range 2 {
				from := &inner
				if leaf < n && (inner == next || weight[leaf] <= weight[inner]) {
					from = &leaf
				}
				weight[next] += weight[*from]
				parent[*from] = next
				*from++
			}
		}
		longest := 0
		depth := make([]int, 2*n-1)
		for i := 2*n - 3; i >= 0; i-- {
			depth[i] = depth[parent[i]] + 1
			longest = max(longest, depth[i])
		}
		if longest > limit {
			continue
		}
		for i, s := range used {
			lengths[s] = uint8(depth[i])
		}
		return lengths
	}
}

// newCode gives the lengths their canonical codes.
func newCode(lengths []uint8) *code {
	c := &code{lengths, make([]uint16, len(lengths))}
	var next [17]uint16
	for _, n := range lengths {
		if n > 0 {
			next[n+1]++
		}
	}
	for n := 2; n < len(next); n++ {
		next[n] = (next[n] + next[n-1]) << 1
	}
	// next[n+1] counted codes of n bits; the first code of n bits is the sum before it.
	for s, n := range lengths {
		if n > 0 {
			c.words[s] = bits.Reverse16(next[n]) >> (16 - n)
			next[n]++
		}
	}
	return c
}

// lengthOrder is how the lengths of the code for lengths are stored.
var lengthOrder = [19]int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// code writes a prefix code for the counts, and returns it.
func (b *bitWriter) code(counts []uint32) *code {
	lengths := codeLengths(counts, 15)
	var used []int
	for s, n := range lengths {
		if n > 0 && len(used) < 3 {
			used = append(used, s)
		}
	}
	if len(used) == 0 {
		used = []int{0}
	}
	if len(used) < 3 && used[len(used)-1] < 256 {
		b.put(1, 1)
		b.put(uint32(len(used)-1), 1)
		if used[0] < 2 {
			b.put(0, 1)
			b.put(uint32(used[0]), 1)
		} else {
			b.put(1, 1)
			b.put(uint32(used[0]), 8)
		}
		if len(used) == 2 {
			b.put(uint32(used[1]), 8)
		} else {
			clear(lengths) // A single symbol takes no bits.
		}
		return newCode(lengths)
	}
	b.put(0, 1)
	b.lengths(lengths)
	if len(used) == 1 {
		clear(lengths)
	}
	return newCode(lengths)
}

// lengths writes the lengths of a code, with runs.
func (b *bitWriter) lengths(lengths []uint8) {
	type step struct{ symbol, extra, bits uint8 }
	var steps []step
	for i := 0; i < len(lengths); {
		v, run := lengths[i], 1
		for i+run < len(lengths) && lengths[i+run] == v {
			run++
		}
		i += run
		if v > 0 {
			steps = append(steps, step{symbol: v})
			run--
		}
		for run > 0 {
			switch {
			case v == 0 && run >= 11:
				n := min(run, 138)
				steps, run = append(steps, step{18, uint8(n - 11), 7}), run-n
			case v == 0 && run >= 3:
				steps, run = append(steps, step{17, uint8(run - 3), 3}), 0
			case v > 0 && run >= 3:
				n := min(run, 6)
				steps, run = append(steps, step{16, uint8(n - 3), 2}), run-n
			default:
				steps, run = append(steps, step{symbol: v}), run-1
			}
		}
	}
	counts := make([]uint32, 19)
	for _, s := range steps {
		counts[s.symbol]++
	}
	own := codeLengths(counts, 7)
	n := len(lengthOrder)
	for n > 4 && own[lengthOrder[n-1]] == 0 {
		n--
	}
	b.put(uint32(n-4), 4)
	used := 0
	for _, s := range lengthOrder[:n] {
		b.put(uint32(own[s]), 3)
		if own[s] > 0 {
			used++
		}
	}
	b.put(0, 1) // all lengths follow
	if used == 1 {
		clear(own)
	}
	c := newCode(own)
	for _, s := range steps {
		b.symbol(c, int(s.symbol))
		b.put(uint32(s.extra), uint(s.bits))
	}
}
