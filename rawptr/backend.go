package rawptr

import (
	"context"
	"io"

	"github.com/lathe-gpu/lathe/gpu"
)

// Backend has all methods of this surface. *Device is one. A program may have others of its own, and
// name them in a Registry. Any goroutine may call the methods. Close releases the device and all of
// its memory. The methods of Device document what each of them does, and its errors.
type Backend interface {
	Lifecycle
	Memory
	Elementwise
	Rows
	Convolution
}

// Lifecycle opens a backend and says what it is.
type Lifecycle interface {
	// Name is the name of the backend, such as "vk".
	Name() string
	// Init opens the device. It comes first, and may be called again.
	Init(ctx context.Context) error
	// IsInitialized reports whether Init has succeeded and Close was not called.
	IsInitialized() bool
	// Synchronize waits for all work and returns its first error.
	Synchronize(ctx context.Context) error
	// Capabilities says what the device can do.
	Capabilities() (Capabilities, error)
	// AvailableDevices lists the devices that the backend could open.
	AvailableDevices(ctx context.Context) ([]gpu.Info, error)
	io.Closer
}

// Memory allocates, frees and copies.
type Memory interface {
	// Alloc makes a zero-filled allocation of 1 byte or more.
	Alloc(bytes int64) (Ptr, error)
	// Free ends the life of the allocation that begins at p.
	Free(p Ptr) error
	// CopyHtoD copies from the host to the device.
	CopyHtoD(ctx context.Context, dst Ptr, src []byte) error
	// CopyDtoH waits for the bytes at src and copies them to the host.
	CopyDtoH(ctx context.Context, dst []byte, src Ptr) error
	// CopyDtoD copies within the device.
	CopyDtoD(dst, src Ptr, bytes int64) error
}

// Elementwise has the operations on vectors of n elements of F32.
type Elementwise interface {
	// Unary is out[i] = op(in[i]).
	Unary(op UnaryOp, in, out Ptr, n int) error
	// Binary is out[i] = op(a[i], b[i]).
	Binary(op BinaryOp, a, b, out Ptr, n int) error
}

// Rows has the operations along one axis, and on rows of matrices.
type Rows interface {
	// Reduce combines the elements along an axis.
	Reduce(op ReduceOp, in, out Ptr, shape []int, axis int) error
	// Softmax is the softmax along an axis.
	Softmax(in, out Ptr, shape []int, axis int) error
	// Gather copies the rows of a matrix that indices name.
	Gather(data, indices, out Ptr, rows, cols, n int) error
	// ScatterAdd adds rows to those that indices name.
	ScatterAdd(out, indices, updates Ptr, rows, cols, n int) error
}

// Convolution has the convolution of networks and its gradients.
type Convolution interface {
	// Conv2DForward is the convolution.
	Conv2DForward(input Ptr, inputShape [4]int, filter Ptr, filterShape [4]int, output Ptr, outputShape [4]int, stride, padding [2]int, o Conv2DOptions) error
	// Conv2DBackwardData is the gradient with respect to the input.
	Conv2DBackwardData(gradOutput Ptr, outputShape [4]int, filter Ptr, filterShape [4]int, gradInput Ptr, inputShape [4]int, stride, padding [2]int, o Conv2DOptions) error
	// Conv2DBackwardFilter is the gradient with respect to the filter.
	Conv2DBackwardFilter(input Ptr, inputShape [4]int, gradOutput Ptr, outputShape [4]int, gradFilter Ptr, filterShape [4]int, stride, padding [2]int, o Conv2DOptions) error
}

var _ Backend = (*Device)(nil)
