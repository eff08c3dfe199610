// Package view computes views of tensors: other shapes, orders and parts of the same elements. It
// knows no memory. A view is a tensor.Desc, and its distance in bytes from the tensor that it is a view of.
package view

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// Of has such sizes and strides, in elements. Dimensions of size 1 get the stride that contiguous elements have.
// It changes strides, and keeps both slices.
func Of(d tensor.Desc, shape, strides []int) tensor.Desc {
	v := tensor.Desc{DType: d.DType, Shape: shape, Strides: strides}
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] == 1 && strides != nil { // any stride is right
			v.Strides[i] = 1
			if i+1 < len(shape) {
				v.Strides[i] = shape[i+1] * strides[i+1]
			}
		}
	}
	if v.IsContiguous() {
		v.Strides = nil
	}
	return v
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errs.ErrInvalidArgument, fmt.Sprintf(format, args...))
}

// Shape returns the shape that Reshape makes of d: one dimension may be -1, and then follows from the
// number of elements.
// Errors: ErrInvalidArgument for another number of elements.
func Shape(d tensor.Desc, shape ...int) ([]int, error) {
	shape = slices.Clone(shape)
	known, open := 1, -1
	for i, n := range shape {
		if n == -1 && open < 0 {
			open = i
			continue
		}
		if n < 0 {
			return nil, invalid("dimensions %v", shape)
		}
		known *= n
	}
	if open >= 0 {
		if known == 0 || d.Elems()%known != 0 {
			return nil, invalid("%d elements do not fill %v", d.Elems(), shape)
		}
		shape[open] = d.Elems() / known
	}
	to := tensor.Contiguous(d.DType, shape...)
	if err := to.Check(); err != nil {
		return nil, invalid("%v", err)
	}
	if to.Elems() != d.Elems() {
		return nil, invalid("elements (got %d for %v, want %d)", to.Elems(), shape, d.Elems())
	}
	return shape, nil
}

// Reshape has another shape and the same elements in the same order. One dimension may be -1.
// Errors: ErrInvalidArgument for another number of elements, and if the elements of d do not lie one
// after the other.
func Reshape(d tensor.Desc, shape ...int) (tensor.Desc, error) {
	shape, err := Shape(d, shape...)
	if err != nil {
		return tensor.Desc{}, err
	}
	if !d.IsContiguous() {
		return tensor.Desc{}, invalid("its elements do not lie one after the other; copy it first")
	}
	return Of(d, shape, nil), nil
}

// Transpose has the dimensions in another order: dimension i of the view is dimension perm[i] of d. A
// negative perm[i] counts from the end. Without perm the order is reversed.
// Errors: ErrInvalidArgument.
func Transpose(d tensor.Desc, perm ...int) (tensor.Desc, error) {
	rank := len(d.Shape)
	bad := func() error { return invalid("order %v (want each of %d dimensions once)", perm, rank) }
	if len(perm) != 0 && len(perm) != rank {
		return tensor.Desc{}, bad()
	}
	own, seen := d.ElementStrides(), make([]bool, rank)
	shape, strides := make([]int, rank), make([]int, rank)
	for i := range rank {
		k := rank - 1 - i
		if len(perm) != 0 {
			if k = perm[i]; k < 0 {
				k += rank
			}
		}
		if k < 0 || k >= rank || seen[k] {
			return tensor.Desc{}, bad()
		}
		shape[i], strides[i], seen[k] = d.Shape[k], own[k], true
	}
	return Of(d, shape, strides), nil
}

// Narrow has n indices of dimension dim, beginning with index start. A negative dim and a negative start
// count from the end. offset is where the view begins, in bytes from the first element of d.
// Errors: ErrInvalidArgument.
func Narrow(d tensor.Desc, dim, start, n int) (v tensor.Desc, offset int64, err error) {
	rank := len(d.Shape)
	if dim < 0 {
		dim += rank
	}
	if dim < 0 || dim >= rank {
		return v, 0, invalid("dimension (want -%d to %d)", rank, rank-1)
	}
	size, from := d.Shape[dim], start
	if from < 0 {
		from += size
	}
	if from < 0 || n < 0 || from > size-n {
		return v, 0, invalid("%d indices from %d on in dimension %d of size %d", n, start, dim, size)
	}
	shape := slices.Clone(d.Shape)
	shape[dim] = n
	own := slices.Clone(d.ElementStrides())
	offset = int64(from) * int64(own[dim]) * int64(d.DType.Size())
	if slices.Contains(shape, 0) {
		offset = 0 // an empty view may begin anywhere
	}
	return Of(d, shape, own), offset, nil
}

// Expand repeats dimensions of size 1, by NumPy's rule: dimensions are matched from the last one on, and
// shape may have more of them. Such a view can be read and not written.
// Errors: ErrInvalidArgument.
func Expand(d tensor.Desc, shape ...int) (tensor.Desc, error) {
	skip := len(shape) - len(d.Shape)
	if skip < 0 {
		return tensor.Desc{}, invalid("to %v, of fewer dimensions", shape)
	}
	own, strides := d.ElementStrides(), make([]int, len(shape))
	for i, n := range d.Shape {
		switch want := shape[skip+i]; {
		case n == want:
			strides[skip+i] = own[i]
		case n != 1:
			return tensor.Desc{}, invalid("dimension %d of size %d to %d (only size 1 repeats)", i, n, want)
		}
	}
	v := Of(d, slices.Clone(shape), strides)
	if err := v.Check(); err != nil {
		return tensor.Desc{}, invalid("%v", err)
	}
	return v, nil
}
