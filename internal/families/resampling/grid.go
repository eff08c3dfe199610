package resampling

import (
	"math"
	"math/big"
	"math/bits"
	"sort"
)

// fixed is a number with 96 bits after the point, in two's complement: its upper and its lower half.
type fixed struct{ high, low uint64 }

// fixedOf returns v, rounded down.
func fixedOf(v float64) fixed {
	n := scaled(v, 96)
	n.And(n, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1)))
	return fixed{new(big.Int).Rsh(n, 64).Uint64(), new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}
}

// scaled returns v·2^shift, rounded down.
func scaled(v float64, shift int) *big.Int {
	fraction, exponent := math.Frexp(v)
	n := big.NewInt(int64(fraction * (1 << 53)))
	if shift += exponent - 53; shift >= 0 {
		return n.Lsh(n, uint(shift))
	}
	return n.Rsh(n, uint(-shift))
}

// words returns the words of a number, the lowest first.
func (f fixed) words() [4]uint32 {
	return [4]uint32{uint32(f.low), uint32(f.low >> 32), uint32(f.high), uint32(f.high >> 32)}
}

// reachWords returns a number with 64 bits after the point, the lowest word first.
func reachWords(v float64) [3]uint32 {
	f := fixedOf(v)
	return [3]uint32{uint32(f.low >> 32), uint32(f.high), uint32(f.high >> 32)}
}

// plus returns f + i·step.
func (f fixed) plus(i uint64, step fixed) fixed {
	high, low := bits.Mul64(i, step.low)
	high += i * step.high
	low, carry := bits.Add64(low, f.low, 0)
	high, _ = bits.Add64(high, f.high, carry)
	return fixed{high, low}
}

// grid has the coordinates of the rows of the result as kernels compute them.
type grid struct {
	axis
	// start has tau added.
	start, step fixed
	// tau is the distance within which a coordinate is at a multiple of a half, and mask has the bits from a quarter down to
	// twice tau, in 2^-64.
	tau, mask uint64
}

func (x axis) grid() grid {
	near := x.tau()
	g := grid{axis: x, step: fixedOf(x.step), tau: 1 << (64 - near), mask: 1<<63 - 1}
	g.mask &^= 2*g.tau - 1
	g.start = fixedOf(x.start).plus(1, fixedOf(math.Ldexp(1, -near)))
	return g
}

// at returns the coordinate of row i: the row of the source at it or before it, and the rest in 2^-64.
func (g grid) at(i int) (row int, part uint64) {
	y := g.start.plus(uint64(i), g.step)
	row, part = int(int32(y.high>>32)), y.high<<32|y.low>>32
	if part&g.mask == 0 {
		return row, part & (1 << 63)
	}
	part, borrow := bits.Sub64(part, g.tau, 0)
	return row - int(borrow), part
}

// nearest returns the row of the source that is nearest to row i.
func (g grid) nearest(i int) int {
	row, part := g.at(i)
	up := [4]bool{part > 1<<63, part >= 1<<63, false, part > 0}[g.rounding]
	if up {
		row++
	}
	return min(max(row, 0), g.in-1)
}

// first returns the first row of the source in the entry for row i.
func (g grid) first(i int) int {
	if g.mode == nearest {
		return g.nearest(i)
	}
	row, _ := g.at(i)
	return min(max(row-g.terms()+1, 0), g.in-g.slots())
}

// touching returns the first row of the result, of those from begin to end, that reaches row j of the source. It
// is end if there is none.
func (g grid) touching(j, begin, end int) int {
	return begin + sort.Search(end-begin, func(k int) bool {
		row, _ := g.at(begin + k)
		switch {
		case g.mode == nearest && g.axis.step < 0:
			return g.nearest(begin+k) <= j
		case g.mode == nearest:
			return g.nearest(begin+k) >= j
		case g.axis.step < 0:
			return min(max(row-g.terms()+1, 0), g.in-1) <= j
		}
		return min(max(row+g.terms(), 0), g.in-1) >= j
	})
}
