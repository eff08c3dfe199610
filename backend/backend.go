// Package backend offers operations by handle. The caller names tensors by numbers. A
// stale, foreign or zero number is ErrInvalidHandle, never other data. The package is the
// surface for interpreters, bindings and other programs that keep no Go pointers. Go
// programs use the root package, which has the same operations.
//
//	b, err := backend.Open(ctx, "auto")
//	x, err := b.AllocTensor([]int{2, 3}, tensor.F32)
//	err = b.WriteTensor(ctx, x, bytes)
//	y, err := b.AllocTensor([]int{2, 3}, tensor.F32)
//	err = b.Softmax(x, y, -1)
//	bytes, err = b.ReadTensor(ctx, y)
//
// A method such as Softmax writes to a tensor that the caller has allocated. Call takes an
// operation by its name and makes the outputs:
//
//	out, err := b.Call("softmax dim=-1", nil, x)
//
// Operations check handles, shapes, dtypes and attributes before anything runs. They return
// once the work is submitted, and do not wait for other work, unless the program is thousands of
// launches ahead of the device: then they wait for room. ReadTensor and Sync wait for the work, and return the errors that
// only the device can see, such as an index out of range. An output may not overlap an
// input, unless the operation is said to work in place. A call that fails leaves its
// outputs unchanged.
//
// Backends are chosen by name; see Register and Open.
package backend

import (
	"context"
	"io"

	"github.com/lathe-gpu/lathe/handles"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/value"
)

// TensorHandle names a tensor of one backend. It is comparable, never used
// again within a process, and never valid when zero.
type TensorHandle = handles.Handle

// TensorMeta describes a tensor.
type TensorMeta struct {
	Shape     []int
	DType     tensor.DType
	SizeBytes int64
}

// Backend has all methods of a backend. Any goroutine may call them. Close releases the
// device and all tensors.
type Backend interface {
	Identity
	Memory
	Compute
	Operations
	TensorOps
	ImageOps
	ScalarOps
	io.Closer
}

// Identity says what a backend is.
type Identity interface {
	// Name is the name it is registered by, such as "vk".
	Name() string
	// IsAvailable reports whether calls can succeed: the device is neither lost
	// nor closed.
	IsAvailable() bool
	// ABIFingerprint is the fingerprint of the operations it was built for. All
	// backends in a program have the same.
	ABIFingerprint() uint64
}

// Memory makes, frees, writes and reads tensors.
type Memory interface {
	// AllocTensor makes a zero-filled tensor. No dimensions make a scalar;
	// dimensions may be 0. Errors: ErrInvalidArgument, *LimitError, ErrOutOfMemory.
	AllocTensor(shape []int, dtype tensor.DType) (TensorHandle, error)
	// FreeTensor ends the life of a tensor; work submitted before still
	// finishes. Errors: ErrInvalidHandle.
	FreeTensor(h TensorHandle) error
	// TensorMeta describes a tensor. Errors: ErrInvalidHandle.
	TensorMeta(h TensorHandle) (TensorMeta, error)
	// WriteTensor replaces the elements: little-endian, row-major, exactly
	// SizeBytes. Errors: ErrInvalidArgument (length), ErrInvalidHandle, ctx.Err().
	WriteTensor(ctx context.Context, h TensorHandle, data []byte) error
	// ReadTensor waits for the work that writes the tensor and returns its
	// elements. Errors: ErrInvalidHandle, ctx.Err(), and those of the work.
	ReadTensor(ctx context.Context, h TensorHandle) ([]byte, error)
}

// Compute runs shaders of any origin, and waits.
type Compute interface {
	// DispatchCompute runs a SPIR-V compute shader, with the entry point "main" or its
	// only one. Tensor i is the buffer at binding i. gpu.DispatchCompute says how the
	// bindings of several descriptor sets are numbered. push has the push constants. Errors: ErrInvalidShader, ErrInvalidArgument,
	// ErrInvalidHandle, ErrUnsupported, *LimitError.
	DispatchCompute(spirv []byte, bindings []TensorHandle, push []byte, groups [3]uint32) error
	// Sync waits for all work and returns its first error.
	Sync(ctx context.Context) error
}

// Operations calls any operation that docs/OPS.md lists by its name.
type Operations interface {
	// Call makes the outputs of an operation and computes them from in. The operation is
	// given by its name. Attributes are text after the name ("softmax dim=-1"), or in
	// attrs, or both. Errors: ErrInvalidArgument for an unknown name, with a list of the
	// known ones; ErrType for a Value that no attribute can have; and those of TensorOps.
	Call(name string, attrs Attributes, in ...TensorHandle) ([]TensorHandle, error)
	// CallInto is Call with outputs that the caller has allocated.
	CallInto(name string, attrs Attributes, in, out []TensorHandle) error
}

// TensorOps has the tensor operations. Besides the errors stated, all return
// ErrInvalidHandle, ErrInvalidArgument (rank, shape, overlap, a parameter),
// ErrUnsupported (a dtype the operation or the device does not have),
// *LimitError and ErrOutOfMemory.
type TensorOps interface {
	ArrayOps
	NeuralOps
}

// ArrayOps is arithmetic on arrays.
type ArrayOps interface {
	// PointwiseAdd is out = a + b, for tensors of one shape.
	PointwiseAdd(a, b, out TensorHandle) error
	// MatMul is out [...,m,n] = a [...,m,k] · b [...,k,n], the leading
	// dimensions broadcast.
	MatMul(a, b, out TensorHandle) error
	// MatMulBias is MatMul with bias [n] added to each row.
	MatMulBias(a, b, bias, out TensorHandle) error
	// ReduceSum adds the elements of in along dimension *dim, which counts from the end if
	// negative. If dim is nil it adds all elements. In out the dimension is missing or 1.
	ReduceSum(in, out TensorHandle, dim *int) error
	// Embedding is out [n,d] = the rows of weight [V,d] that integer indices
	// [n] name. An index out of range is ErrInvalidArgument of the next
	// ReadTensor or Sync.
	Embedding(indices, weight, out TensorHandle) error
}

// NeuralOps has the operations that neural networks need, for inference and for training.
type NeuralOps interface {
	// LayerNorm normalises the last dimension, multiplies by gamma and adds beta.
	LayerNorm(in, gamma, beta, out TensorHandle, eps float64) error
	// RMSNorm divides by the root mean square of all elements from dimension dim
	// on, which counts from the end if negative, and multiplies by gamma.
	RMSNorm(in, gamma, out TensorHandle, dim int, eps float64) error
	// Softmax along dimension dim, which counts from the end if negative.
	Softmax(in, out TensorHandle, dim int) error
	// GELU in its tanh form.
	GELU(in, out TensorHandle) error
	// ReLU is max(x, 0).
	ReLU(in, out TensorHandle) error
	// Attention is softmax(q·kᵀ·scale + mask)·v for q [...,sq,d], k and v
	// [...,skv,d]. A nil mask means no mask. A row whose keys are all masked gives zeros.
	Attention(q, k, v, out TensorHandle, mask *TensorHandle, scale float64) error
	// CrossEntropy writes the loss −ln p of each row of logits [...,C] for
	// integer targets [...] to lossOut [...], and p to probsOut [...,C]. A
	// target out of range is ErrInvalidArgument of the next ReadTensor or Sync.
	CrossEntropy(logits, targets, lossOut, probsOut TensorHandle) error
	// AdamUpdate takes step number step, from 1 on, of Adam: param, m and v are
	// updated in place.
	AdamUpdate(param, grad, m, v TensorHandle, lr, beta1, beta2, eps float64, step int) error
}

// ImageOps is the image operations. They take f32 [H,W,C] with 1, 3 or 4 for C, or u8
// [H,W,4]. Attributes are integers or floats, and any other Value is ErrType. The other
// errors are those of TensorOps.
type ImageOps interface {
	// GaussianBlur with a standard deviation in pixels.
	GaussianBlur(in, out TensorHandle, sigma value.Value) error
	// SobelEdges is white where the gradient exceeds threshold.
	SobelEdges(in, out TensorHandle, threshold value.Value) error
	// SobelMagnitude is the gradient itself.
	SobelMagnitude(in, out TensorHandle) error
	// Grayscale turns colours into their luma.
	Grayscale(in, out TensorHandle) error
	// Threshold is 1 from level on and 0 below.
	Threshold(in, out TensorHandle, level value.Value) error
	// Brightness multiplies by factor.
	Brightness(in, out TensorHandle, factor value.Value) error
	// Contrast stretches colours away from the middle by factor.
	Contrast(in, out TensorHandle, factor value.Value) error
	// InvertColors is the negative.
	InvertColors(in, out TensorHandle) error
	// Sharpen with the 3×3 kernel of a Laplacian.
	Sharpen(in, out TensorHandle) error
}

// ScalarOps is arithmetic on values, on the host; value.Eval has the rules.
// Errors: ErrType, ErrInvalidArgument (an integer result that overflows),
// ErrDivisionByZero, ErrFloatSpecial.
type ScalarOps interface {
	ScalarArithmetic
	ScalarFunctions
	ScalarComparisons
}

// ScalarArithmetic is the arithmetic of two values.
type ScalarArithmetic interface {
	ScalarAdd(a, b value.Value) (value.Value, error) // also joins strings
	ScalarSub(a, b value.Value) (value.Value, error)
	ScalarMul(a, b value.Value) (value.Value, error)
	ScalarDiv(a, b value.Value) (value.Value, error) // always a float
	ScalarMod(a, b value.Value) (value.Value, error) // sign of the dividend
	ScalarPow(a, b value.Value) (value.Value, error)
}

// ScalarFunctions is the functions of one number.
type ScalarFunctions interface {
	ScalarSqrt(x value.Value) (value.Value, error)
	ScalarSin(x value.Value) (value.Value, error)
	ScalarCos(x value.Value) (value.Value, error)
	ScalarTan(x value.Value) (value.Value, error)
	ScalarLog(x value.Value) (value.Value, error) // natural
	ScalarExp(x value.Value) (value.Value, error)
	ScalarAbs(x value.Value) (value.Value, error)
	ScalarFloor(x value.Value) (value.Value, error)
	ScalarCeil(x value.Value) (value.Value, error)
	ScalarRound(x value.Value) (value.Value, error) // halves away from zero
}

// ScalarComparisons compare two values. Eq and Ne take any values. The others compare
// numbers with numbers and strings with strings.
type ScalarComparisons interface {
	ScalarEq(a, b value.Value) (value.Value, error)
	ScalarNe(a, b value.Value) (value.Value, error)
	ScalarLt(a, b value.Value) (value.Value, error)
	ScalarLe(a, b value.Value) (value.Value, error)
	ScalarGt(a, b value.Value) (value.Value, error)
	ScalarGe(a, b value.Value) (value.Value, error)
}
