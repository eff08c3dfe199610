package rawptr

import (
	"slices"

	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ReduceOp combines the elements along an axis into one.
type ReduceOp uint8

// These are the reductions of Reduce. NaN propagates: if one of the elements is NaN, the result is
// NaN, or the index of the first NaN.
const (
	ReduceSum    ReduceOp = iota + 1 // the sum; 0 of no elements
	ReduceMax                        // the largest element; there must be one
	ReduceMin                        // the smallest element; there must be one
	ReduceMean                       // the mean; NaN of no elements
	ReduceProd                       // the product; 1 of no elements
	ReduceArgMax                     // the index of the first of the largest elements, I32
	ReduceArgMin                     // the index of the first of the smallest elements, I32
)

var reduceOps = [...]struct {
	name string
	out  tensor.DType
	call func(axis int) spec.Call
}{
	ReduceSum:    {"reduce sum", tensor.F32, func(axis int) spec.Call { return ops.ReduceSum{Dims: []int{axis}} }},
	ReduceMax:    {"reduce max", tensor.F32, func(axis int) spec.Call { return ops.ReduceMax{Dims: []int{axis}} }},
	ReduceMin:    {"reduce min", tensor.F32, func(axis int) spec.Call { return ops.ReduceMin{Dims: []int{axis}} }},
	ReduceMean:   {"reduce mean", tensor.F32, func(axis int) spec.Call { return ops.ReduceMean{Dims: []int{axis}} }},
	ReduceProd:   {"reduce prod", tensor.F32, func(axis int) spec.Call { return ops.ReduceProd{Dims: []int{axis}} }},
	ReduceArgMax: {"reduce argmax", tensor.I32, func(axis int) spec.Call { return ops.ArgMax{Dim: axis} }},
	ReduceArgMin: {"reduce argmin", tensor.I32, func(axis int) spec.Call { return ops.ArgMin{Dim: axis} }},
}

// String returns the name, such as "reduce sum".
func (op ReduceOp) String() string {
	if op > 0 && int(op) < len(reduceOps) {
		return reduceOps[op].name
	}
	return nameOf(nil, int(op), "ReduceOp")
}

// axis describes a row-major tensor of F32, and checks an axis of it. The shape is a copy.
func (c *call) axis(shape []int, axis int) tensor.Desc {
	if axis < 0 || axis >= len(shape) {
		c.invalid("axis (got %d, want 0 or more and below %d)", axis, len(shape))
	}
	return tensor.Contiguous(tensor.F32, slices.Clone(shape)...)
}

// Reduce combines the elements along an axis of a row-major tensor of F32. The result has the shape
// without the axis, and is of F32, or of I32 for the indices of ReduceArgMax and ReduceArgMin. The
// axis counts from 0. If the result has no elements, Reduce is a no-op.
// Errors: ErrInvalidArgument (op, shape, axis, range, overlap, no elements to choose from), *LimitError,
// ErrNotInitialized, ErrClosed.
func (d *Device) Reduce(op ReduceOp, in, out Ptr, shape []int, axis int) error {
	c := d.begin(op.String())
	defer c.end()
	if op == 0 || int(op) >= len(reduceOps) {
		c.invalid("there is no such reduction")
	}
	desc := c.axis(shape, axis)
	if c.err != nil {
		return c.err
	}
	f := reduceOps[op]
	result := tensor.Contiguous(f.out, slices.Delete(slices.Clone(shape), axis, axis+1)...)
	x, y := c.operand("in", in, desc), c.operand("out", out, result)
	return c.run(f.call(axis), y, x)
}

// Softmax divides e^x of each element by the sum of e^x along an axis, which counts from 0. The tensor
// is row-major, of F32. The largest element is subtracted first. out may be in.
// Errors: ErrInvalidArgument (shape, axis, range, overlap), *LimitError, ErrNotInitialized, ErrClosed.
func (d *Device) Softmax(in, out Ptr, shape []int, axis int) error {
	c := d.begin("softmax")
	defer c.end()
	desc := c.axis(shape, axis)
	x, y := c.operand("in", in, desc), c.operand("out", out, desc)
	return c.run(ops.Softmax{Dim: axis}, y, x)
}

// matrix describes rows × cols elements of F32.
func (c *call) matrix(rows, cols int) tensor.Desc {
	c.count("rows", rows)
	c.count("cols", cols)
	return tensor.Contiguous(tensor.F32, rows, cols)
}

// Gather copies rows: out[i, :] = data[indices[i], :], for data [rows,cols] and out [n,cols] of F32
// and indices [n] of I32. An index from −rows to −1 counts from the end. If another one is out of range,
// the next CopyDtoH or Synchronize returns ErrInvalidArgument, and out stays as it was.
// Errors: ErrInvalidArgument (sizes, range, overlap), *LimitError, ErrNotInitialized, ErrClosed.
func (d *Device) Gather(data, indices, out Ptr, rows, cols, n int) error {
	c := d.begin("gather")
	defer c.end()
	from, to := c.matrix(rows, cols), c.matrix(n, cols)
	x, i, y := c.operand("data", data, from), c.operand("indices", indices, tensor.Contiguous(tensor.I32, n)), c.operand("out", out, to)
	return c.run(ops.Gather{}, y, x, i)
}

// ScatterAdd adds rows: out[indices[i], :] += updates[i, :], for out [rows,cols] and updates [n,cols]
// of F32 and indices [n] of I32. Several updates of one row are added in their order, so results are
// the same each time. Indices and their errors are those of Gather.
// Errors: ErrInvalidArgument (sizes, range, overlap), *LimitError, ErrNotInitialized, ErrClosed.
func (d *Device) ScatterAdd(out, indices, updates Ptr, rows, cols, n int) error {
	c := d.begin("scatter add")
	defer c.end()
	to, from := c.matrix(rows, cols), c.matrix(n, cols)
	y, i, x := c.operand("out", out, to), c.operand("indices", indices, tensor.Contiguous(tensor.I32, n, 1)), c.operand("updates", updates, from)
	c.apart(y, i, x)
	if c.err != nil {
		return c.err
	}
	f := ops.ScatterND{Reduction: "add"}
	if y.Buffer == nil || x.Buffer == nil {
		return c.wrap(checkShapes(f, tensor.Contiguous(tensor.F32, rows, cols), y, i, x))
	}
	// The operation makes a new tensor of the old one, and cannot work in place.
	old, release := c.lend(to)
	defer release()
	c.runOn(ops.Copy{}, old, operandOf(y))
	c.runOn(f, operandOf(y), old, operandOf(i), operandOf(x))
	return c.err
}
