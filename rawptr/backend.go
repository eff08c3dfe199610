package rawptr

import (
	"context"
	"io"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/tensor"
)

// Backend has all methods of this surface. *Device is one. A program may have others of its own, and
// name them in a Registry. Any goroutine may call the methods. Close releases the device and all of
// its memory. The methods of Device document what each of them does, and its errors.
type Backend interface {
	Lifecycle
	Memory
	Elementwise
	Rows
	Products
	Triangles
	BLASF32
	BLASF64
	Networks
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
	// RecommendedTile is the part of a product that the device computes at once.
	RecommendedTile(m, n, k int) (Tile, error)
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

// Products has C = α·op(A)·op(B) + β·C, as BLAS has it, for one product and for many. Matrices are in
// column-major order. The strides of a batch are in elements.
type Products interface {
	// Gemm is the product in F64.
	Gemm(transA, transB Transpose, m, n, k int, alpha float64, a Ptr, lda int, b Ptr, ldb int, beta float64, c Ptr, ldc int) error
	// GemmF32 is the product in F32.
	GemmF32(transA, transB Transpose, m, n, k int, alpha float32, a Ptr, lda int, b Ptr, ldb int, beta float32, c Ptr, ldc int) error
	// GemmMixed is the product of F16 or BF16, summed in F32.
	GemmMixed(storage tensor.DType, transA, transB Transpose, m, n, k int, alpha float32, a Ptr, lda int, b Ptr, ldb int, beta float32, c Ptr, ldc int) error
	// BatchedGemm is a product in F64 for each matrix of a batch.
	BatchedGemm(transA, transB Transpose, m, n, k int, alpha float64, a Ptr, lda, strideA int, b Ptr, ldb, strideB int, beta float64, c Ptr, ldc, strideC, batch int) error
	// BatchedGemmF32 is BatchedGemm in F32.
	BatchedGemmF32(transA, transB Transpose, m, n, k int, alpha float32, a Ptr, lda, strideA int, b Ptr, ldb, strideB int, beta float32, c Ptr, ldc, strideC, batch int) error
	// BatchedGemmMixed is BatchedGemm of F16 or BF16, summed in F32.
	BatchedGemmMixed(storage tensor.DType, transA, transB Transpose, m, n, k int, alpha float32, a Ptr, lda, strideA int, b Ptr, ldb, strideB int, beta float32, c Ptr, ldc, strideC, batch int) error
}

// Triangles has the functions of BLAS that read or write one triangle of a matrix. Matrices are in column-major order.
type Triangles interface {
	// Ssyrk computes one triangle of α·A·Aᵀ + β·C, or of α·Aᵀ·A + β·C, in F32.
	Ssyrk(uplo Uplo, trans Transpose, n, k int, alpha float32, a Ptr, lda int, beta float32, c Ptr, ldc int) error
	// Dsyrk is Ssyrk in F64.
	Dsyrk(uplo Uplo, trans Transpose, n, k int, alpha float64, a Ptr, lda int, beta float64, c Ptr, ldc int) error
	// Strmm multiplies by a triangular matrix in F32.
	Strmm(side Side, uplo Uplo, trans Transpose, diag Diag, m, n int, alpha float32, a Ptr, lda int, b Ptr, ldb int) error
	// Dtrmm multiplies by a triangular matrix in F64.
	Dtrmm(side Side, uplo Uplo, trans Transpose, diag Diag, m, n int, alpha float64, a Ptr, lda int, b Ptr, ldb int) error
	// Strsm solves a triangular system in F32.
	Strsm(side Side, uplo Uplo, trans Transpose, diag Diag, m, n int, alpha float32, a Ptr, lda int, b Ptr, ldb int) error
	// Dtrsm solves a triangular system in F64.
	Dtrsm(side Side, uplo Uplo, trans Transpose, diag Diag, m, n int, alpha float64, a Ptr, lda int, b Ptr, ldb int) error
}

// BLASF32 has the functions of BLAS on vectors of F32, and on a matrix and vectors.
type BLASF32 interface {
	// Sdot writes Σ x[i]·y[i] to out, which is one number.
	Sdot(n int, x Ptr, incX int, y Ptr, incY int, out Ptr) error
	// Snrm2 writes the Euclidean norm √Σ x[i]² to out, which is one number.
	Snrm2(n int, x Ptr, incX int, out Ptr) error
	// Sasum writes Σ |x[i]| to out, which is one number.
	Sasum(n int, x Ptr, incX int, out Ptr) error
	// Isamax writes the index of the first element of the largest magnitude to out, which is one I32.
	Isamax(n int, x Ptr, incX int, out Ptr) error
	// Sswap exchanges the elements of x and y.
	Sswap(n int, x Ptr, incX int, y Ptr, incY int) error
	// Scopy copies the elements of x to y.
	Scopy(n int, x Ptr, incX int, y Ptr, incY int) error
	// Saxpy computes y[i] += α·x[i].
	Saxpy(n int, alpha float32, x Ptr, incX int, y Ptr, incY int) error
	// Sscal computes x[i] = α·x[i].
	Sscal(n int, alpha float32, x Ptr, incX int) error
	// Sgemv computes y = α·op(A)·x + β·y for an m × n matrix in column-major order, with the rules of Gemm.
	Sgemv(trans Transpose, m, n int, alpha float32, a Ptr, lda int, x Ptr, incX int, beta float32, y Ptr, incY int) error
	// Sger computes A += α·x·yᵀ for an m × n matrix in column-major order.
	Sger(m, n int, alpha float32, x Ptr, incX int, y Ptr, incY int, a Ptr, lda int) error
}

// BLASF64 has the functions of BLAS on vectors of F64, and on a matrix and vectors.
type BLASF64 interface {
	// Ddot writes Σ x[i]·y[i] to out, which is one number.
	Ddot(n int, x Ptr, incX int, y Ptr, incY int, out Ptr) error
	// Dnrm2 writes the Euclidean norm √Σ x[i]² to out, which is one number.
	Dnrm2(n int, x Ptr, incX int, out Ptr) error
	// Dasum writes Σ |x[i]| to out, which is one number.
	Dasum(n int, x Ptr, incX int, out Ptr) error
	// Idamax writes the index of the first element of the largest magnitude to out, which is one I32.
	Idamax(n int, x Ptr, incX int, out Ptr) error
	// Dswap exchanges the elements of x and y.
	Dswap(n int, x Ptr, incX int, y Ptr, incY int) error
	// Dcopy copies the elements of x to y.
	Dcopy(n int, x Ptr, incX int, y Ptr, incY int) error
	// Daxpy computes y[i] += α·x[i].
	Daxpy(n int, alpha float64, x Ptr, incX int, y Ptr, incY int) error
	// Dscal computes x[i] = α·x[i].
	Dscal(n int, alpha float64, x Ptr, incX int) error
	// Dgemv computes y = α·op(A)·x + β·y for an m × n matrix in column-major order, with the rules of Gemm.
	Dgemv(trans Transpose, m, n int, alpha float64, a Ptr, lda int, x Ptr, incX int, beta float64, y Ptr, incY int) error
	// Dger computes A += α·x·yᵀ for an m × n matrix in column-major order.
	Dger(m, n int, alpha float64, x Ptr, incX int, y Ptr, incY int, a Ptr, lda int) error
}

// Networks has attention, and the convolution of networks with its gradients.
type Networks interface {
	// Attention is softmax(q·kᵀ·scale)·v for each head of each batch.
	Attention(q, k, v, o Ptr, batch, heads, seqQ, seqKV, headDim int, scale float32, causal bool) error
	// Conv2DForward is the convolution.
	Conv2DForward(input Ptr, inputShape [4]int, filter Ptr, filterShape [4]int, output Ptr, outputShape [4]int, stride, padding [2]int, o Conv2DOptions) error
	// Conv2DBackwardData is the gradient with respect to the input.
	Conv2DBackwardData(gradOutput Ptr, outputShape [4]int, filter Ptr, filterShape [4]int, gradInput Ptr, inputShape [4]int, stride, padding [2]int, o Conv2DOptions) error
	// Conv2DBackwardFilter is the gradient with respect to the filter.
	Conv2DBackwardFilter(input Ptr, inputShape [4]int, gradOutput Ptr, outputShape [4]int, gradFilter Ptr, filterShape [4]int, stride, padding [2]int, o Conv2DOptions) error
}

var _ Backend = (*Device)(nil)
