package lathe

import (
	"context"
	"fmt"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/number"
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
	return &Tensor{scalar: number.Of(v)}
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
func (d *Device) constant(ctx context.Context, op string, n *number.Number, dtype tensor.DType) (session.Tensor, error) {
	data, ok := n.Element(dtype)
	if !ok {
		return session.Tensor{}, fmt.Errorf("lathe: %s: %w: scalar as %v (got %v, want %s)", op, errs.ErrInvalidArgument, dtype, n, number.Wanted(dtype))
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
		dtype := number.Type(c, typesOf(in), i)
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

// typesOf lists the dtypes of tensors. That of a Scalar, and of none, is Invalid.
func typesOf(in []*Tensor) []tensor.DType {
	types := make([]tensor.DType, len(in))
	for i, t := range in {
		types[i] = t.DType()
	}
	return types
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
