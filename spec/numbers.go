package spec

import (
	"fmt"
	"image"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// Numbers is a picture that is a table of numbers, such as a look-up table of colours. An operation
// gets the numbers as they are, whatever the type of the other pictures is.
type Numbers interface {
	image.Image
	// Tensor returns the numbers, which are contiguous. They must not change afterwards.
	Tensor() *tensor.Host
	// Complete returns the call that gets the numbers, with attributes that belong to them, such as
	// the range of a table. c is the call without its pictures.
	// Errors: ErrInvalidArgument if the numbers are not for such a call.
	Complete(c Call) (Call, error)
}

// PictureDesc describes the input that a picture of a call becomes where pictures have dtype d. It
// has four channels of d, or is what Numbers say. It has no shape if m is no picture with pixels.
func PictureDesc(m image.Image, d tensor.DType) tensor.Desc {
	if n, ok := m.(Numbers); ok {
		if h := n.Tensor(); h != nil {
			return h.Desc
		}
	}
	m, err := readable(m)
	if err != nil {
		return tensor.Desc{DType: d}
	}
	b := m.Bounds()
	return tensor.Contiguous(d, b.Dy(), b.Dx(), 4)
}

// completed returns the call with what its pictures add to it.
func completed(c Call, op *Op, list []image.Image) (Call, error) {
	for _, m := range list {
		n, ok := m.(Numbers)
		if !ok {
			continue
		}
		if h := n.Tensor(); h == nil || h.Check() != nil || len(h.Shape) == 0 || !h.IsContiguous() || int64(len(h.Data)) < h.Bytes() {
			return nil, fmt.Errorf("spec: %s: %w: %T has no contiguous tensor", op.Name, errs.ErrInvalidArgument, m)
		}
		whole, err := n.Complete(c)
		if err != nil {
			return nil, fmt.Errorf("spec: %s: %w", op.Name, err)
		}
		if c, err = Resolve(whole); err != nil {
			return nil, err
		}
		if c.Spec() != op {
			return nil, fmt.Errorf("spec: %s: %w: %T made a call of another operation of it", op.Name, errs.ErrInvalidArgument, m)
		}
	}
	return c, nil
}
