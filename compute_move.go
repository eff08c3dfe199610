package lathe

import (
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// The methods of this file are short for Call: they make their results and
// return before those are computed. Errors: as Run.

// Fill makes a tensor in which every element is value, rounded to dtype.
func (d *Device) Fill(value float64, dtype tensor.DType, shape ...int) (*Tensor, error) {
	return d.one(ops.Fill{Value: value, DType: dtype, Shape: shape})
}

// Cast converts each element to another dtype; ops.Cast says what becomes of
// values that do not fit.
func (d *Device) Cast(x *Tensor, to tensor.DType) (*Tensor, error) {
	return d.one(ops.Cast{To: to}, x)
}

// Copy is a tensor of its own with the elements of x, one after the other even
// if x is a view.
func (d *Device) Copy(x *Tensor) (*Tensor, error) { return d.one(ops.Copy{}, x) }

// Concat joins tensors along dimension dim; their other dimensions are equal.
func (d *Device) Concat(dim int, parts ...*Tensor) (*Tensor, error) {
	return d.one(ops.Concat{Dim: dim}, parts...)
}

// Embedding is the rows of weight [V,d] that integer indices [n] name, as [n,d].
// An index out of range is an error of the next Read or Sync.
func (d *Device) Embedding(indices, weight *Tensor) (*Tensor, error) {
	return d.one(ops.Embedding{}, indices, weight)
}
