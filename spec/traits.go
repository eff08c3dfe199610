package spec

import "github.com/lathe-gpu/lathe/tensor"

// Class says what kind of computation an operation is.
type Class uint8

// These are the classes of operations.
const (
	// Other is for operations that belong to no other class.
	Other Class = iota
	// Elementwise operations compute each element of the output from the elements at the
	// same index of the inputs, which are broadcast together.
	Elementwise
	// Reduction operations combine elements along dimensions into one.
	Reduction
	// AxisWise operations compute rows along one dimension. Each element may depend on all
	// elements of its row, as in softmax.
	AxisWise
	// MatrixProduct operations are products of matrices, or consist of such products.
	MatrixProduct
	// Movement operations copy elements and compute nothing.
	Movement
	// Indexing operations read or write elements whose indices another tensor holds.
	Indexing
	// Filter operations compute each pixel of a picture from the pixels around it.
	Filter
)

// String returns the class in lower case, such as "axis-wise".
func (c Class) String() string {
	names := [...]string{"other", "elementwise", "reduction", "axis-wise", "matrix product", "movement", "indexing", "filter"}
	if int(c) < len(names) {
		return names[c]
	}
	return names[Other]
}

// Strides says which strides an operation can work with. Operands with other strides are
// packed into contiguous scratch memory before, or copied from there afterwards.
type Strides uint8

// These are the kinds of strides that operations can work with.
const (
	// Contiguous means row-major without gaps.
	Contiguous Strides = iota
	// Rows means a picture [H,W,C] whose pixels follow each other without gaps. Its rows
	// may be any whole number of pixels apart.
	Rows
	// AnyStrides means any strides. A Plan may still refuse some of them with ErrStrides.
	AnyStrides
)

// Takes reports whether the strides of d are of this kind.
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

// Traits are facts about an operation for programs that join or import operations. No plan depends on them. Package graph reads Class,
// and the conformance suite checks both.
type Traits struct {
	// Class is the kind of computation. An elementwise operation of group math with inputs
	// and one output must have Op.Scalar.
	Class Class
	// ONNX lists the ONNX operators that the operation implements. The tag onnx:"name" of
	// an attribute is its name there.
	ONNX []string
}
