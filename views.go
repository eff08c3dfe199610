package lathe

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/internal/view"
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

// viewOf is a tensor over the same memory, or the error of a view that cannot be.
func (t *Tensor) viewOf(op string, d tensor.Desc, offset int64, err error) (*Tensor, error) {
	if err != nil {
		return nil, fmt.Errorf("lathe: %s of %v: %w", op, t, err)
	}
	return &Tensor{memory: session.Tensor{Buffer: t.memory.Buffer, Offset: t.memory.Offset + offset, Desc: d}, dev: t.dev, view: true}, nil
}

// strided is a tensor over the same memory with such sizes and strides.
func (t *Tensor) strided(shape, strides []int) *Tensor {
	v, _ := t.viewOf("view", view.Of(t.memory.Desc, shape, strides), 0, nil)
	return v
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
	d, err := view.Reshape(t.memory.Desc, shape...)
	return t.viewOf("reshape", d, 0, err)
}

// Transpose is a view with the dimensions in another order: dimension i of the
// view is dimension perm[i] of t. A negative perm[i] counts from the end. Without
// perm the order is reversed, which transposes a matrix.
// Errors: ErrInvalidArgument.
func (t *Tensor) Transpose(perm ...int) (*Tensor, error) {
	if err := t.made("transpose"); err != nil {
		return nil, err
	}
	d, err := view.Transpose(t.memory.Desc, perm...)
	return t.viewOf("transpose", d, 0, err)
}

// Narrow is a view of n indices of dimension dim, beginning with index start. A
// negative dim and a negative start count from the end.
// Errors: ErrInvalidArgument.
func (t *Tensor) Narrow(dim, start, n int) (*Tensor, error) {
	if err := t.made("narrow"); err != nil {
		return nil, err
	}
	d, offset, err := view.Narrow(t.memory.Desc, dim, start, n)
	return t.viewOf("narrow", d, offset, err)
}

// Expand is a view in which dimensions of size 1 repeat, by NumPy's rule:
// dimensions are matched from the last one on, and shape may have more of them.
// It can be read and not written.
// Errors: ErrInvalidArgument.
func (t *Tensor) Expand(shape ...int) (*Tensor, error) {
	if err := t.made("expand"); err != nil {
		return nil, err
	}
	d, err := view.Expand(t.memory.Desc, shape...)
	return t.viewOf("expand", d, 0, err)
}
