package fusion

import (
	"math"
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/planner"
)

// This file decides how kernels find the elements of operands that are broadcast, or have strides.

// addIndex adds the words of an operand that comes again and again, and chooses the part that finds the quad or element.
func (l *layout) addIndex(x *input, r planner.Repeat, pack int) error {
	div, mod := r.Div, uint32(r.Mod)
	// The index is i / div % mod. spread says that div counts, and again that mod does.
	spread, again := div != 1, div == 1 || int64(div)*int64(mod) < int64(planner.CeilDiv(l.n, pack))
	length := mod // of a row, or of a run of equal elements
	if spread {
		length = div
	}
	shift, mask := bits.TrailingZeros32(div), mod-1
	if !again {
		mask = math.MaxUint32
	}
	var list []uint32
	switch {
	case l.kernel == nil && l.lanes && int(length) >= l.local:
		x.row = true
		whole := int(length)%l.local == 0
		switch {
		case !spread && whole:
			x.index, list = "fused/row.mod", []uint32{mod}
		case !spread:
			x.index, list = "fused/row.mod.wrap", []uint32{mod}
		case whole: // mod keeps lanes behind the last element in bounds, even if it does not count.
			x.index, list = "fused/row.both", []uint32{div, mod}
		default:
			x.index, list = "fused/row.both.wrap", []uint32{div, mod}
		}
	case div == 1<<shift && mask&(mask+1) == 0:
		x.index, list = "fused/index.bits", []uint32{uint32(shift), mask}
	case !spread:
		m, s := reciprocal(mod)
		x.index, list = "fused/index.mod", []uint32{m, s, mod}
	case !again:
		m, s := reciprocal(div)
		x.index, list = "fused/index.div", []uint32{m, s}
	default:
		m, s := reciprocal(div)
		m2, s2 := reciprocal(mod)
		x.index, list = "fused/index.both", []uint32{m, s, m2, s2, mod}
	}
	at, err := l.add(list...)
	for i := range list {
		x.words = append(x.words, at+i)
	}
	return err
}

// reciprocal returns m and s of a divisor of two or more: n / d is n·m / 2^(32+s), rounded down, if n is less than 2^31. That is the method of
// Granlund and Montgomery, Division by Invariant Integers using Multiplication (1994).
func reciprocal(d uint32) (m, s uint32) {
	l := bits.Len32(d - 1) // 2^l is d at least
	return uint32(uint64(1)<<(31+l)/uint64(d) + 1), uint32(l - 1)
}

// addDigits adds the words of an operand of any strides: the position of the first element, and for each dimension
// along which it lies the divisor and the size, which operands share, and the stride.
func (l *layout) addDigits(dims, strides []int, base uint32, shared [][2]int) ([]int, [][2]int, error) {
	at, err := l.add(base)
	if err != nil {
		return nil, nil, err
	}
	list := []int{at}
	if shared == nil {
		shared = make([][2]int, len(dims))
	}
	div := 1
	for i := len(dims) - 1; i >= 0; i-- {
		if strides[i] != 0 && dims[i] > 1 {
			if shared[i][0] == 0 {
				if at, err = l.add(uint32(div), uint32(dims[i])); err != nil {
					return nil, nil, err
				}
				shared[i] = [2]int{at, at + 1}
			}
			if at, err = l.add(uint32(int32(strides[i]))); err != nil {
				return nil, nil, err
			}
			list = append(list, shared[i][0], shared[i][1], at)
		}
		div *= dims[i]
	}
	return list, shared, nil
}
