package lathe

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/tensor"
)

// made reports ErrInvalidHandle for a Tensor that no Device made, and for one that a Scope did
// not make its first error.
func (t *Tensor) made(op string) error {
	switch {
	case t == nil:
	case t.failed != nil:
		return t.failed
	case t.scalar != nil:
		return fmt.Errorf("lathe: %s: %w: %v, which only operations take", op, errs.ErrInvalidHandle, t)
	case t.memory.Buffer != nil:
		return nil
	}
	return fmt.Errorf("lathe: %s: %w: no tensor", op, errs.ErrInvalidHandle)
}

// live reports an error unless t is a tensor that was not freed, of a device that is open.
func (t *Tensor) live(op string) error {
	if err := t.made(op); err != nil {
		return err
	}
	return t.dev.session.Check(op, t.memory)
}

// viewOf is a tensor over the same memory.
func (t *Tensor) viewOf(offset int64, shape, strides []int) *Tensor {
	d := tensor.Desc{DType: t.memory.Desc.DType, Shape: shape, Strides: strides}
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] == 1 && strides != nil { // any stride is right: use the one of contiguous elements
			d.Strides[i] = 1
			if i+1 < len(shape) {
				d.Strides[i] = shape[i+1] * strides[i+1]
			}
		}
	}
	if d.IsContiguous() {
		d.Strides = nil
	}
	return &Tensor{memory: session.Tensor{Buffer: t.memory.Buffer, Offset: t.memory.Offset + offset, Desc: d}, dev: t.dev, view: true}
}

func (t *Tensor) invalid(op, format string, args ...any) error {
	return fmt.Errorf("lathe: %s of %v: %w: %s", op, t, errs.ErrInvalidArgument, fmt.Sprintf(format, args...))
}

// Reshape is a view with another shape and the same elements in the same order. One
// dimension may be -1. It then follows from the number of elements. Without dimensions
// Reshape makes a scalar of a tensor of one element.
// Errors: ErrInvalidArgument for another number of elements, and for a view whose elements
// do not lie one after the other. Reshape a Device.Copy of such a view.
func (t *Tensor) Reshape(shape ...int) (*Tensor, error) {
	if err := t.made("reshape"); err != nil {
		return nil, err
	}
	shape = slices.Clone(shape)
	known, open := 1, -1
	for i, n := range shape {
		if n == -1 && open < 0 {
			open = i
			continue
		}
		if n < 0 {
			return nil, t.invalid("reshape", "dimensions %v", shape)
		}
		known *= n
	}
	if open >= 0 {
		if known == 0 || t.memory.Desc.Elems()%known != 0 {
			return nil, t.invalid("reshape", "%d elements do not fill %v", t.memory.Desc.Elems(), shape)
		}
		shape[open] = t.memory.Desc.Elems() / known
	}
	to := tensor.Contiguous(t.memory.Desc.DType, shape...)
	if err := to.Check(); err != nil {
		return nil, t.invalid("reshape", "%v", err)
	}
	if to.Elems() != t.memory.Desc.Elems() {
		return nil, t.invalid("reshape", "elements (got %d for %v, want %d)", to.Elems(), shape, t.memory.Desc.Elems())
	}
	if !t.memory.Desc.IsContiguous() {
		return nil, t.invalid("reshape", "its elements do not lie one after the other; copy it first")
	}
	return t.viewOf(0, shape, nil), nil
}

// Transpose is a view with the dimensions in another order: dimension i of the
// view is dimension perm[i] of t. A negative perm[i] counts from the end. Without
// perm the order is reversed, which transposes a matrix.
// Errors: ErrInvalidArgument.
func (t *Tensor) Transpose(perm ...int) (*Tensor, error) {
	if err := t.made("transpose"); err != nil {
		return nil, err
	}
	rank := len(t.memory.Desc.Shape)
	if len(perm) != 0 && len(perm) != rank {
		return nil, t.invalid("transpose", "order %v (want each of %d dimensions once)", perm, rank)
	}
	own, seen := t.memory.Desc.ElementStrides(), make([]bool, rank)
	shape, strides := make([]int, rank), make([]int, rank)
	for i := range rank {
		d := rank - 1 - i
		if len(perm) != 0 {
			if d = perm[i]; d < 0 {
				d += rank
			}
		}
		if d < 0 || d >= rank || seen[d] {
			return nil, t.invalid("transpose", "order %v (want each of %d dimensions once)", perm, rank)
		}
		shape[i], strides[i], seen[d] = t.memory.Desc.Shape[d], own[d], true
	}
	return t.viewOf(0, shape, strides), nil
}

// Narrow is a view of n indices of dimension dim, beginning with index start. A
// negative dim and a negative start count from the end.
// Errors: ErrInvalidArgument.
func (t *Tensor) Narrow(dim, start, n int) (*Tensor, error) {
	if err := t.made("narrow"); err != nil {
		return nil, err
	}
	rank := len(t.memory.Desc.Shape)
	if dim < 0 {
		dim += rank
	}
	if dim < 0 || dim >= rank {
		return nil, t.invalid("narrow", "dimension (want -%d to %d)", rank, rank-1)
	}
	size, from := t.memory.Desc.Shape[dim], start
	if from < 0 {
		from += size
	}
	if from < 0 || n < 0 || from > size-n {
		return nil, t.invalid("narrow", "%d indices from %d on in dimension %d of size %d", n, start, dim, size)
	}
	shape := slices.Clone(t.memory.Desc.Shape)
	shape[dim] = n
	own := slices.Clone(t.memory.Desc.ElementStrides())
	offset := int64(from) * int64(own[dim]) * int64(t.memory.Desc.DType.Size())
	if slices.Contains(shape, 0) {
		offset = 0 // an empty view may begin anywhere
	}
	return t.viewOf(offset, shape, own), nil
}

// Expand is a view in which dimensions of size 1 repeat, by NumPy's rule:
// dimensions are matched from the last one on, and shape may have more of them.
// It can be read and not written.
// Errors: ErrInvalidArgument.
func (t *Tensor) Expand(shape ...int) (*Tensor, error) {
	if err := t.made("expand"); err != nil {
		return nil, err
	}
	skip := len(shape) - len(t.memory.Desc.Shape)
	if skip < 0 {
		return nil, t.invalid("expand", "to %v, of fewer dimensions", shape)
	}
	own, strides := t.memory.Desc.ElementStrides(), make([]int, len(shape))
	for i, n := range t.memory.Desc.Shape {
		switch want := shape[skip+i]; {
		case n == want:
			strides[skip+i] = own[i]
		case n != 1:
			return nil, t.invalid("expand", "dimension %d of size %d to %d (only size 1 repeats)", i, n, want)
		}
	}
	v := t.viewOf(0, slices.Clone(shape), strides)
	if err := v.memory.Desc.Check(); err != nil {
		return nil, t.invalid("expand", "%v", err)
	}
	return v, nil
}
