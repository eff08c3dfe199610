package lathe

import (
	"context"
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// Element is a Go type of tensor elements. The types stand for the dtypes F32, F64, I32,
// I64, U32, I8, U8 and Bool. F16 and BF16 have no Go type: FromFloats and ToFloats convert
// them.
type Element interface {
	float32 | float64 | int32 | int64 | uint32 | int8 | uint8 | bool
}

// dtypeOf is the dtype of a Go type.
func dtypeOf[T Element]() tensor.DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return tensor.F32
	case float64:
		return tensor.F64
	case int32:
		return tensor.I32
	case int64:
		return tensor.I64
	case uint32:
		return tensor.U32
	case int8:
		return tensor.I8
	case uint8:
		return tensor.U8
	}
	return tensor.Bool
}

// raw is the memory of the slice, with elements in the byte order of the host.
func raw[T Element](data []T) []byte {
	if len(data) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*int(unsafe.Sizeof(data[0])))
}

var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// swap turns elements of size bytes around, on hosts that are not little-endian.
func swap(b []byte, size int) {
	for at := 0; bigEndian && at < len(b); at += size {
		for i, j := at, at+size-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

// FromSlice makes a tensor of the elements of a slice, in row-major order, with the dtype
// of T. Without a shape the tensor is a vector. The slice may change when FromSlice has
// returned.
// Errors: ErrInvalidArgument (shape and length differ), ErrOutOfMemory, *LimitError.
func FromSlice[T Element](dev *Device, data []T, shape ...int) (*Tensor, error) {
	bytes := raw(data)
	size := dtypeOf[T]().Size()
	if bigEndian {
		bytes = append([]byte(nil), bytes...)
		swap(bytes, size)
	}
	return dev.fromBytes(dtypeOf[T](), bytes, shape)
}

// FromFloats makes a tensor of any dtype. It rounds the numbers to the nearest value of a
// floating dtype, ties to even. Numbers out of the range of an integer dtype become its
// nearest integer. Without a shape the tensor is a vector.
// Errors: as FromSlice, and ErrInvalidArgument for an unknown dtype.
func FromFloats[T float32 | float64](dev *Device, dtype tensor.DType, data []T, shape ...int) (*Tensor, error) {
	if !dtype.Valid() {
		return nil, fmt.Errorf("lathe: from floats: %w: %v", errs.ErrInvalidArgument, dtype)
	}
	values := make([]float64, len(data))
	for i, v := range data {
		values[i] = float64(v)
	}
	h := tensor.NewHost(tensor.Contiguous(dtype, len(data)))
	h.SetFloats(values)
	return dev.fromBytes(dtype, h.Data, shape)
}

// fromBytes makes a tensor of little-endian elements.
func (d *Device) fromBytes(dtype tensor.DType, data []byte, shape []int) (*Tensor, error) {
	n := len(data) / dtype.Size()
	if len(shape) == 0 {
		shape = []int{n}
	}
	desc := tensor.Contiguous(dtype, append([]int(nil), shape...)...)
	if err := desc.Check(); err != nil {
		return nil, fmt.Errorf("lathe: from slice: %w", err)
	}
	if desc.Elems() != n {
		return nil, fmt.Errorf("lathe: from slice: %w: elements (got %d, want %d for shape %v)", errs.ErrInvalidArgument, n, desc.Elems(), shape)
	}
	t, err := d.NewTensor(desc)
	if err != nil {
		return nil, err
	}
	if err := d.Write(context.Background(), t, data); err != nil {
		return nil, err
	}
	return t, nil
}

// ToSlice waits for a tensor and returns its elements in row-major order. T must be the Go
// type of its dtype.
// Errors: ErrType (T is another type), and as Device.Read.
func ToSlice[T Element](ctx context.Context, dev *Device, t *Tensor) ([]T, error) {
	if err := checkElements[T](dev, t, "to slice"); err != nil {
		return nil, err
	}
	out := make([]T, t.memory.Desc.Elems())
	if err := dev.readInto(ctx, t, raw(out)); err != nil {
		return nil, err
	}
	return out, nil
}

// ReadInto is ToSlice into memory of the caller: it waits for a tensor and writes its
// elements to dst in row-major order. T must be the Go type of the tensor's dtype, and dst
// must be as long as the tensor has elements. No memory is allocated for the elements, unless t
// is a view in which they do not lie one after the other. After an error dst may be overwritten in part.
// Errors: ErrType (T is another type), ErrInvalidArgument (the length of dst), and as
// Device.Read.
func ReadInto[T Element](ctx context.Context, dev *Device, t *Tensor, dst []T) error {
	if err := checkElements[T](dev, t, "read into"); err != nil {
		return err
	}
	if n := t.memory.Desc.Elems(); len(dst) != n {
		return fmt.Errorf("lathe: read into: %w: elements of the slice (got %d, want %d for %v)", errs.ErrInvalidArgument, len(dst), n, t)
	}
	return dev.readInto(ctx, t, raw(dst))
}

// checkElements returns an error unless t is a live tensor of the device whose elements are of
// type T.
func checkElements[T Element](dev *Device, t *Tensor, op string) error {
	if err := dev.ready(op); err != nil {
		return err
	}
	if err := dev.session.Check(op, t.inSession()); err != nil {
		return err
	}
	if t.memory.Desc.DType != dtypeOf[T]() {
		var zero T
		return fmt.Errorf("lathe: %s: %w: %v read as %T", op, errs.ErrType, t, zero)
	}
	return nil
}

// readInto reads the elements of a tensor in row-major order and in the byte order of the
// host.
func (d *Device) readInto(ctx context.Context, t *Tensor, dst []byte) error {
	desc := t.memory.Desc
	size := desc.DType.Size()
	if desc.IsContiguous() {
		if err := d.session.ReadInto(ctx, t.memory, dst); err != nil {
			return err
		}
	} else {
		h, err := d.host(ctx, t)
		if err != nil {
			return err
		}
		to := dst
		h.Each(func(_ []int, off int) {
			copy(to[:size], h.Data[off*size:])
			to = to[size:]
		})
	}
	swap(dst, size)
	if desc.DType == tensor.Bool {
		// Anything but 0 is true on a device; a Go bool must be 1.
		for i, b := range dst {
			dst[i] = min(b, 1)
		}
	}
	return nil
}

// FromRows makes a matrix of its rows: a tensor of shape [len(rows), length of a row] with
// the dtype of T. The rows may change when FromRows has returned. Without rows the shape
// is [0,0].
// Errors: ErrInvalidArgument (a row is longer or shorter than the first one), and as
// FromSlice.
func FromRows[T Element](dev *Device, rows [][]T) (*Tensor, error) {
	width := 0
	if len(rows) > 0 {
		width = len(rows[0])
	}
	data := make([]T, 0, len(rows)*width)
	for i, row := range rows {
		if len(row) != width {
			return nil, fmt.Errorf("lathe: from rows: %w: elements of row %d (got %d, want %d as in row 0)", errs.ErrInvalidArgument, i, len(row), width)
		}
		data = append(data, row...)
	}
	return FromSlice(dev, data, len(rows), width)
}

// ToRows waits for a matrix and returns its rows. T must be the Go type of its dtype.
// Errors: ErrInvalidArgument (t has not two dimensions), and as ToSlice.
func ToRows[T Element](ctx context.Context, dev *Device, t *Tensor) ([][]T, error) {
	if shape := t.Shape(); t.made("to rows") == nil && len(shape) != 2 {
		return nil, fmt.Errorf("lathe: to rows: %w: dimensions (got %d of %v, want 2)", errs.ErrInvalidArgument, len(shape), t)
	}
	data, err := ToSlice[T](ctx, dev, t)
	if err != nil {
		return nil, err
	}
	rows, width := make([][]T, t.Shape()[0]), t.Shape()[1]
	for i := range rows {
		rows[i] = data[i*width : (i+1)*width : (i+1)*width]
	}
	return rows, nil
}

// ToFloats waits for a tensor of any dtype and returns its elements in row-major order as
// float32 or float64.
// Errors: as Device.Read.
func ToFloats[T float32 | float64](ctx context.Context, dev *Device, t *Tensor) ([]T, error) {
	h, err := dev.host(ctx, t)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, h.Elems())
	for _, v := range h.Floats() {
		out = append(out, T(v))
	}
	return out, nil
}

// host reads a tensor with its strides.
func (d *Device) host(ctx context.Context, t *Tensor) (*tensor.Host, error) {
	data, err := d.Read(ctx, t)
	if err != nil {
		return nil, err
	}
	return &tensor.Host{Desc: t.memory.Desc, Data: data}, nil
}
