package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Desc describes how a tensor is stored in memory.
type Desc struct {
	// DType is the type of the elements.
	DType DType
	// Shape is the number of elements in each dimension.
	Shape []int
	// Strides is the distance from one element to the next in each dimension, in elements.
	// Nil means that the tensor is row-major and contiguous.
	Strides []int
}

// Contiguous returns the Desc of a row-major tensor. A nil shape is a scalar.
func Contiguous(d DType, shape ...int) Desc { return Desc{DType: d, Shape: shape} }

// Elems returns the number of elements. It is 1 for a scalar, and 0 if any dimension is
// 0.
func (d Desc) Elems() int {
	n := 1
	for _, s := range d.Shape {
		n *= s
	}
	return n
}

// ElementStrides returns the strides in elements. If Strides is nil, they are those of a
// row-major tensor.
func (d Desc) ElementStrides() []int {
	if d.Strides != nil {
		return d.Strides
	}
	st := make([]int, len(d.Shape))
	n := 1
	for i := len(d.Shape) - 1; i >= 0; i-- {
		st[i] = n
		n *= d.Shape[i]
	}
	return st
}

// IsContiguous reports whether the elements are stored row-major without gaps.
func (d Desc) IsContiguous() bool {
	return d.Strides == nil || d.Elems() == 0 ||
		slices.EqualFunc(d.Strides, Desc{Shape: d.Shape}.ElementStrides(), func(a, b int) bool { return a == b })
}

// Bytes returns the number of bytes from the first element of the tensor to the end of
// its last one, including gaps. It is 0 if there are not as many strides as dimensions.
func (d Desc) Bytes() int64 {
	if d.Elems() == 0 || d.Strides != nil && len(d.Strides) != len(d.Shape) {
		return 0
	}
	last := int64(0)
	for i, st := range d.ElementStrides() {
		last += int64(d.Shape[i]-1) * int64(st)
	}
	return (last + 1) * int64(d.DType.Size())
}

// Check returns ErrInvalidArgument for an invalid DType, a negative dimension, a
// negative stride, strides of the wrong rank, a number of elements that is no int, or a size in bytes that is no int64.
func (d Desc) Check() error {
	if !d.DType.Valid() {
		return fmt.Errorf("tensor: %w: %v", errs.ErrInvalidArgument, d.DType)
	}
	if d.Strides != nil && len(d.Strides) != len(d.Shape) {
		return fmt.Errorf("tensor: %w: strides (got %d, want rank %d)", errs.ErrInvalidArgument, len(d.Strides), len(d.Shape))
	}
	size := int64(d.DType.Size())
	room := math.MaxInt64/size - 1 // This is how many elements fit after the first one, including gaps.
	empty := slices.Contains(d.Shape, 0)
	for i, n := range d.Shape {
		if n < 0 {
			return fmt.Errorf("tensor: %w: negative dimension in shape %v", errs.ErrInvalidArgument, d.Shape)
		}
		if !empty && size > math.MaxInt64/int64(n) {
			return fmt.Errorf("tensor: %w: shape %v overflows", errs.ErrInvalidArgument, d.Shape)
		}
		if !empty {
			size *= int64(n)
		}
		if elems := size / int64(d.DType.Size()); int64(int(elems)) != elems { // An int may have 32 bits.
			return fmt.Errorf("tensor: %w: shape %v has more elements than fit an int", errs.ErrInvalidArgument, d.Shape)
		}
		if d.Strides == nil {
			continue
		}
		if d.Strides[i] < 0 {
			return fmt.Errorf("tensor: %w: negative stride in %v", errs.ErrInvalidArgument, d.Strides)
		}
		if !empty && n > 1 {
			if int64(d.Strides[i]) > room/int64(n-1) {
				return fmt.Errorf("tensor: %w: shape %v with strides %v overflows", errs.ErrInvalidArgument, d.Shape, d.Strides)
			}
			room -= int64(n-1) * int64(d.Strides[i])
		}
	}
	return nil
}

// String formats the Desc as "f32[2,3]".
func (d Desc) String() string {
	s := d.DType.String() + "["
	for i, n := range d.Shape {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprint(n)
	}
	s += "]"
	if !d.IsContiguous() {
		s += fmt.Sprintf(" strides %v", d.Strides)
	}
	return s
}
