// Package number holds numbers that stand for tensors, as a Scalar does. Such a number has no dtype
// until an operation says which one it takes.
package number

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Real is the types of numbers in Go.
type Real interface {
	int | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// Of returns a number.
func Of[T Real](v T) *Number {
	n := &Number{float: float64(v)}
	if T(1)/T(2) == 0 { // T is an integer type
		n.whole, n.exact, n.negative = true, uint64(v), v < 0
	}
	return n
}

// Number is a number without a dtype.
type Number struct {
	float float64
	whole bool // exact is set.
	// exact has the bits of the number, exact where float is rounded. negative says that they are two's complement.
	exact    uint64
	negative bool
}

// String returns the number in decimal.
func (n *Number) String() string {
	switch {
	case n.negative:
		return fmt.Sprint(int64(n.exact))
	case n.whole:
		return fmt.Sprint(n.exact)
	}
	return fmt.Sprint(n.float)
}

// ranges are the numbers of integer dtypes.
var ranges = map[tensor.DType]struct {
	least int64
	most  uint64
}{
	tensor.I8: {math.MinInt8, math.MaxInt8}, tensor.U8: {0, math.MaxUint8}, tensor.I32: {math.MinInt32, math.MaxInt32},
	tensor.U32: {0, math.MaxUint32}, tensor.I64: {math.MinInt64, math.MaxInt64}, tensor.Bool: {0, 1},
	tensor.I16: {math.MinInt16, math.MaxInt16}, tensor.U16: {0, math.MaxUint16}, tensor.U64: {0, math.MaxUint64},
}

// Element returns the number as the bytes of an element of a dtype. It reports false if the dtype does not
// have it: a floating dtype has the nearest value, ties to even, and an integer dtype the number itself.
func (n *Number) Element(to tensor.DType) ([]byte, bool) {
	r, integer := ranges[to]
	if !integer {
		h := tensor.NewHost(tensor.Contiguous(to))
		h.SetFloats([]float64{n.float})
		return h.Data, math.IsInf(n.float, 0) || !math.IsInf(h.Floats()[0], 0)
	}
	v, negative := n.exact, n.negative
	if !n.whole {
		if n.float != math.Trunc(n.float) || n.float < -(1<<63) || n.float >= 1<<64 {
			return nil, false // also NaN
		}
		if negative = n.float < 0; negative {
			v = uint64(int64(n.float))
		} else {
			v = uint64(n.float)
		}
	}
	data := binary.LittleEndian.AppendUint64(nil, v)[:to.Size()]
	return data, negative && int64(v) >= r.least || !negative && v <= r.most
}

// Wanted says for an error which numbers a dtype has.
func Wanted(to tensor.DType) string {
	if r, ok := ranges[to]; ok {
		return fmt.Sprintf("a whole number from %d to %d", r.least, r.most)
	}
	return "a number in the range of " + to.String()
}

// Type returns the dtype of a number that is input i of a call: that of the first tensor for which the
// operation takes the same dtypes. The condition of ops.Where says nothing of a number to choose. in has
// the dtypes of the inputs, Invalid for numbers and for inputs that are left out. The result is Invalid if no
// input says the dtype.
func Type(c spec.Call, in []tensor.DType, i int) tensor.DType {
	var args []spec.Arg
	if c != nil && !errs.Nil(c) && c.Spec() != nil {
		args = c.Spec().In
	}
	for j, d := range in {
		if d == tensor.Invalid {
			continue
		}
		if max(i, j) >= len(args) || slices.Equal(args[i].DTypes, args[j].DTypes) {
			return d
		}
	}
	return tensor.Invalid
}
