package spec

import "github.com/lathe-gpu/lathe/tensor"

// Class says what kind of work an operation does.
type Class uint8

// The classes of operations.
const (
	// Other is an operation of none of the classes below.
	Other Class = iota
	// Elementwise computes each element of the output from the elements at the same
	// place of the inputs, broadcast together.
	Elementwise
	// Reduction combines elements along dimensions into one.
	Reduction
	// AxisWise computes rows along one dimension, of which each element may depend on
	// all elements of the row, as softmax does.
	AxisWise
	// MatrixProduct is a product of matrices, or is made of such products.
	MatrixProduct
	// Movement copies elements and computes nothing.
	Movement
	// Indexing reads or writes at places that a tensor of indices says.
	Indexing
	// Filter computes each pixel of a picture from the pixels around it.
	Filter
)

// String is the class in lower case.
func (c Class) String() string {
	names := [...]string{"other", "elementwise", "reduction", "axis-wise", "matrix product", "movement", "indexing", "filter"}
	if int(c) < len(names) {
		return names[c]
	}
	return names[Other]
}

// Strides says which strides an operation can work with. Operands of others are packed
// into contiguous scratch memory before, and copied back after.
type Strides uint8

// What an operation can work with.
const (
	// Contiguous operands are row-major without gaps.
	Contiguous Strides = iota
	// Rows are pictures [H,W,C] whose pixels follow each other, and whose rows may lie
	// apart by whole pixels.
	Rows
	// AnyStrides are strides of any kind. A Plan may still refuse some with ErrStrides.
	AnyStrides
)

// Takes reports whether a tensor has such strides.
func (s Strides) Takes(d tensor.Desc) bool {
	switch {
	case s == AnyStrides || d.IsContiguous():
		return true
	case s != Rows || len(d.Shape) != 3:
		return false
	}
	own, h, w, c := d.ElementStrides(), d.Shape[0], d.Shape[1], d.Shape[2]
	pixels := (own[2] == 1 || c <= 1) && (own[1] == c || w <= 1)
	return pixels && (h <= 1 || c > 0 && own[0]%c == 0 && own[0] >= w*c)
}

// Traits are facts about an operation that planners, image chains, the graph compiler
// and importers read.
type Traits struct {
	// Class is the kind of work that the operation does.
	Class Class
	// Prologue says that the operation can apply an elementwise function to the
	// elements of its inputs as it reads them.
	Prologue bool
	// Epilogue says that it can apply one to the elements of its output before it
	// writes them.
	Epilogue bool
	// Gradient is the name of the operation that computes the gradient. It may be
	// empty.
	Gradient string
	// ONNX lists the operators of ONNX that the operation implements. The tag
	// onnx:"name" of an attribute is its name there.
	ONNX []string
}
