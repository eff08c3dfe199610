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
// I64, U32, U64, I16, U16, I8, U8 and Bool. F16 and BF16 have no Go type: FromFloats and ToFloats convert
// them.
type Element interface {
	float32 | float64 | int32 | int64 | uint32 | uint64 | int16 | uint16 | int8 | uint8 | bool
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
	case uint64:
		return tensor.U64
	case int16:
		return tensor.I16
	case uint16:
		return tensor.U16
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
// returned. FromSlice waits only for room: in the memory that copies to a GPU go through, and in
// that of the device.
// Errors: ErrInvalidArgument (shape and length differ), ErrOutOfMemory, *LimitError, ctx.Err().
func FromSlice[T Element](ctx context.Context, dev *Device, data []T, shape ...int) (*Tensor, error) {
	bytes := raw(data)
	size := dtypeOf[T]().Size()
	if bigEndian {
		bytes = append([]byte(nil), bytes...)
		swap(bytes, size)
	}
	return dev.fromBytes(ctx, dtypeOf[T](), bytes, shape)
}

// FromFloats makes a tensor of any dtype. It rounds the numbers to the nearest value of a
// floating dtype, ties to even. Numbers out of the range of an integer dtype become its
// nearest integer. Without a shape the tensor is a vector.
// Errors: as FromSlice, and ErrInvalidArgument for an unknown dtype.
func FromFloats[T float32 | float64](ctx context.Context, dev *Device, dtype tensor.DType, data []T, shape ...int) (*Tensor, error) {
	if !dtype.Valid() {
		return nil, fmt.Errorf("lathe: from floats: %w: %v", errs.ErrInvalidArgument, dtype)
	}
	values := make([]float64, len(data))
	for i, v := range data {
		values[i] = float64(v)
	}
	h := tensor.NewHost(tensor.Contiguous(dtype, len(data)))
	h.SetFloats(values)
	return dev.fromBytes(ctx, dtype, h.Data, shape)
}

// fromBytes makes a tensor of little-endian elements.
func (d *Device) fromBytes(ctx context.Context, dtype tensor.DType, data []byte, shape []int) (*Tensor, error) {
	if err := d.open("from slice"); err != nil {
		return nil, err
	}
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("lathe: from slice: %w", err)
	}
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
	if err := d.session.WaitForRoom(ctx); err != nil {
		return nil, fmt.Errorf("lathe: from slice: %w", err)
	}
	t, err := d.NewTensor(desc)
	if err != nil {
		return nil, err
	}
	if err := d.Write(ctx, t, data); err != nil {
		_ = d.Free(t) // no caller has seen it
		return nil, err
	}
	return t, nil
}

// ToSlice waits for a tensor and returns its elements in row-major order. T must be the Go
// type of its dtype.
// Errors: ErrType (T is another type), ErrInvalidHandle (no tensor, or one that was freed),
// ErrClosed (its device was closed), and as Device.Read.
func ToSlice[T Element](ctx context.Context, t *Tensor) ([]T, error) {
	return toSlice[T](ctx, t, "to slice")
}

// toSlice is ToSlice for a call that errors name.
func toSlice[T Element](ctx context.Context, t *Tensor, op string) ([]T, error) {
	if err := checkElements[T](t, op); err != nil {
		return nil, err
	}
	out := make([]T, t.memory.Desc.Elems())
	if err := t.readInto(ctx, op, raw(out)); err != nil {
		return nil, err
	}
	return out, nil
}

// ReadInto is ToSlice into memory of the caller: it waits for a tensor and writes its
// elements to dst in row-major order. T must be the Go type of the tensor's dtype, and dst
// must be as long as the tensor has elements. No memory is allocated for the elements, unless t
// is a view in which they do not lie one after the other. After an error of
// the device or the context dst may be overwritten in part.
// Errors: ErrInvalidArgument (the length of dst), and as ToSlice.
func ReadInto[T Element](ctx context.Context, t *Tensor, dst []T) error {
	const op = "read into"
	if err := checkElements[T](t, op); err != nil {
		return err
	}
	if n := t.memory.Desc.Elems(); len(dst) != n {
		return fmt.Errorf("lathe: %s: %w: elements of the slice (got %d, want %d for %v)", op, errs.ErrInvalidArgument, len(dst), n, t)
	}
	return t.readInto(ctx, op, raw(dst))
}

// checkElements returns an error unless t is a live tensor whose elements are of type T.
func checkElements[T Element](t *Tensor, op string) error {
	if err := t.live(op); err != nil {
		return err
	}
	if t.memory.Desc.DType != dtypeOf[T]() {
		var zero T
		return fmt.Errorf("lathe: %s: %w: %v read as %T", op, errs.ErrType, t, zero)
	}
	return nil
}

// readInto reads the elements of a live tensor in row-major order and in the byte order of
// the host. op names the call for errors.
func (t *Tensor) readInto(ctx context.Context, op string, dst []byte) error {
	desc := t.memory.Desc
	size := desc.DType.Size()
	if desc.DType == tensor.Bool {
		// Anything but 0 is true on a device; a Go bool must be 1, also where a part was read
		// before an error.
		defer func() {
			for i, b := range dst {
				dst[i] = min(b, 1)
			}
		}()
	}
	if desc.IsContiguous() {
		if err := t.dev.session.ReadInto(ctx, op, t.memory, dst); err != nil {
			return err
		}
	} else {
		h, err := t.host(ctx, op)
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
	return nil
}

// FromRows makes a matrix of its rows: a tensor of shape [len(rows), length of a row] with
// the dtype of T. The rows may change when FromRows has returned. Without rows the shape
// is [0,0].
// Errors: ErrInvalidArgument (a row is longer or shorter than the first one), and as
// FromSlice.
func FromRows[T Element](ctx context.Context, dev *Device, rows [][]T) (*Tensor, error) {
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
	return FromSlice(ctx, dev, data, len(rows), width)
}

// ToRows waits for a matrix and returns its rows. T must be the Go type of its dtype.
// Errors: ErrInvalidArgument (t has not two dimensions), and as ToSlice.
func ToRows[T Element](ctx context.Context, t *Tensor) ([][]T, error) {
	const op = "to rows"
	if err := t.live(op); err != nil {
		return nil, err
	}
	if shape := t.Shape(); len(shape) != 2 {
		return nil, fmt.Errorf("lathe: %s: %w: dimensions (got %d of %v, want 2)", op, errs.ErrInvalidArgument, len(shape), t)
	}
	data, err := toSlice[T](ctx, t, op)
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
// Errors: as ToSlice, without ErrType.
func ToFloats[T float32 | float64](ctx context.Context, t *Tensor) ([]T, error) {
	const op = "to floats"
	if err := t.live(op); err != nil {
		return nil, err
	}
	h, err := t.host(ctx, op)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, h.Elems())
	for _, v := range h.Floats() {
		out = append(out, T(v))
	}
	return out, nil
}

// host reads a live tensor with its strides.
func (t *Tensor) host(ctx context.Context, op string) (*tensor.Host, error) {
	data := make([]byte, t.memory.Desc.Bytes())
	if err := t.dev.session.ReadInto(ctx, op, t.memory, data); err != nil {
		return nil, err
	}
	return &tensor.Host{Desc: t.memory.Desc, Data: data}, nil
}
