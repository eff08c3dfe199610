package lathe

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Scalar is a number as an operand, as in dev.Mul(x, lathe.Scalar(0.5)). It stands for a tensor
// of shape [] with the dtype of the call's first operand that is no Scalar, so that it is
// broadcast. In dev.Where(condition, x, lathe.Scalar(0)) that is x, because a condition is always Bool. It belongs to no device and any call may take it again. The device keeps the numbers that
// were used, so that nothing is copied in later calls.
//
// A floating dtype has the nearest value, ties to even. An integer dtype must have the number
// itself, and Bool has 0 and 1. A number that the dtype does not have, such as 300 or 0.5 for U8,
// is ErrInvalidArgument of the call. So is a call in which all operands are Scalars. A Scalar has no memory:
// it cannot be read, viewed or written, and Kernel.Run and DispatchCompute do not take it.
func Scalar[T int | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](v T) *Tensor {
	n := &number{float: float64(v)}
	if T(1)/T(2) == 0 { // T is an integer type
		n.whole, n.exact, n.negative = true, uint64(v), v < 0
	}
	return &Tensor{scalar: n}
}

// number is the value of a Scalar.
type number struct {
	float float64
	whole bool // exact is set.
	// exact has the bits of the number, exact where float is rounded. negative says that they are two's complement.
	exact    uint64
	negative bool
}

func (n *number) String() string {
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

// element returns the number as an element of a dtype. It reports false if the dtype does not
// have it.
func (n *number) element(to tensor.DType) ([]byte, bool) {
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

// wanted says for an error which numbers a dtype has.
func wanted(to tensor.DType) string {
	if r, ok := ranges[to]; ok {
		return fmt.Sprintf("a whole number from %d to %d", r.least, r.most)
	}
	return "a number in the range of " + to.String()
}

// constants are the numbers that a device keeps, by dtype and bytes.
type constants struct {
	mu   sync.Mutex
	kept map[constant]session.Tensor
}

type constant struct {
	dtype tensor.DType
	bytes [8]byte
}

// mostConstants is how many numbers a device keeps. A program that computes its numbers, such as
// a rate of learning for each step, never uses most of them again.
const mostConstants = 1024

// constant returns the tensor of a Scalar on the device.
func (d *Device) constant(ctx context.Context, op string, n *number, dtype tensor.DType) (session.Tensor, error) {
	data, ok := n.element(dtype)
	if !ok {
		return session.Tensor{}, fmt.Errorf("lathe: %s: %w: scalar as %v (got %v, want %s)", op, errs.ErrInvalidArgument, dtype, n, wanted(dtype))
	}
	key := constant{dtype: dtype}
	copy(key.bytes[:], data)
	c := &d.constants
	c.mu.Lock()
	t, ok := c.kept[key]
	c.mu.Unlock()
	if ok {
		return t, nil
	}
	// The lock is free while the device is asked, which may wait. If two goroutines make the
	// same number, one of them is kept.
	t, err := d.session.NewTensor(tensor.Contiguous(dtype))
	if err != nil {
		return t, err
	}
	if err := d.session.Write(ctx, t, data); err != nil {
		_ = d.session.Free(t) // nobody has seen it
		return t, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= mostConstants {
		// The garbage collector frees the old ones, because calls may be about to use them.
		c.kept = make(map[constant]session.Tensor)
	}
	c.kept[key] = t
	return t, nil
}

// operands appends the inputs of a call to list, as the session knows them. A Scalar becomes a
// tensor of the dtype that scalarType says. A tensor that was not made gives the error that is
// the reason.
func (d *Device) operands(ctx context.Context, list []session.Tensor, c spec.Call, in []*Tensor) ([]session.Tensor, error) {
	scalars := false
	for _, t := range in {
		if t != nil && t.failed != nil {
			return nil, t.failed
		}
		scalars = scalars || t != nil && t.scalar != nil
		list = append(list, t.inSession())
	}
	if !scalars {
		return list, nil
	}
	op, first := nameOf(c), len(list)-len(in)
	for i, t := range in {
		if t == nil || t.scalar == nil {
			continue
		}
		dtype := scalarType(c, in, i)
		if dtype == tensor.Invalid {
			return nil, fmt.Errorf("lathe: %s: %w: input %d is a Scalar, and so is each operand that could say its dtype (want a tensor among them)", op, errs.ErrInvalidArgument, i)
		}
		var err error
		if list[first+i], err = d.constant(ctx, op, t.scalar, dtype); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// scalarType returns the dtype of the Scalar that is input i: that of the first tensor for which the
// operation takes the same dtypes. The condition of ops.Where says nothing of a number to choose.
func scalarType(c spec.Call, in []*Tensor, i int) tensor.DType {
	var args []spec.Arg
	if c != nil && !errs.Nil(c) && c.Spec() != nil {
		args = c.Spec().In
	}
	for j, t := range in {
		if t == nil || t.scalar != nil {
			continue
		}
		if max(i, j) >= len(args) || slices.Equal(args[i].DTypes, args[j].DTypes) {
			return t.DType()
		}
	}
	return tensor.Invalid
}

// nameOf is the name of the operation of a call, for errors.
func nameOf(c spec.Call) string {
	if c != nil && !errs.Nil(c) {
		if op := c.Spec(); op != nil {
			return op.Name
		}
	}
	return "call"
}
