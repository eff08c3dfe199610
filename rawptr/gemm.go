package rawptr

import (
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Transpose says whether a product uses a matrix or its transpose. The values are those of BLAS.
type Transpose byte

// These are the forms of a matrix. Of real numbers, ConjTrans is Trans.
const (
	NoTrans   Transpose = 'N'
	Trans     Transpose = 'T'
	ConjTrans Transpose = 'C'
)

// product is a product as BLAS describes it: C = α·op(A)·op(B) + β·C for each matrix of a batch. Matrices
// are in column-major order.
type product struct {
	dtype          tensor.DType
	mixed          bool // the dtype must be one of 16 bits
	transA, transB Transpose
	m, n, k        int
	alpha, beta    float64
	a, b, c        Ptr
	lda, ldb, ldc  int
	// batched says that there is a batch. The strides are the elements from matrix to matrix.
	batched                   bool
	batch                     int
	strideA, strideB, strideC int
}

// Gemm computes C = α·op(A)·op(B) + β·C for matrices of F64 in column-major order. op(A) is m × k, op(B) is
// k × n and C is m × n. Element (i, j) of a matrix lies i + j·ld elements after its address, so ld is at
// least the number of rows that are stored: lda ≥ m for NoTrans and k otherwise, ldb ≥ k or n, ldc ≥ m, and
// all of them at least 1.
//
// If α or k is 0, A and B are not read, and the result is β·C. If β is 0, C is not read: NaN in it does not
// reach the result. α and β are finite. What lies between the columns of C is never written. If m or n is
// 0, Gemm is a no-op. A and B may be the same matrix. They are read before C is written, also where they
// overlap it, so that all three may be parts of one matrix.
// Errors: ErrUnsupported on a device without float64, which is never replaced by F32;
// ErrInvalidArgument (sizes, transposes, factors, leading dimensions, range); *LimitError,
// ErrOutOfMemory, ErrNotInitialized, ErrClosed.
func (d *Device) Gemm(transA, transB Transpose, m, n, k int, alpha float64, a Ptr, lda int, b Ptr, ldb int, beta float64, c Ptr, ldc int) error {
	return d.multiply("gemm", product{dtype: tensor.F64, transA: transA, transB: transB, m: m, n: n, k: k, alpha: alpha, beta: beta, a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc})
}

// GemmF32 is Gemm for matrices of F32, which every device has.
func (d *Device) GemmF32(transA, transB Transpose, m, n, k int, alpha float32, a Ptr, lda int, b Ptr, ldb int, beta float32, c Ptr, ldc int) error {
	return d.multiply("gemm f32", product{dtype: tensor.F32, transA: transA, transB: transB, m: m, n: n, k: k, alpha: float64(alpha), beta: float64(beta), a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc})
}

// GemmMixed is Gemm for matrices of a storage type of 16 bits, F16 or BF16. Products are summed and scaled
// in F32, and each result is rounded once, to nearest even.
func (d *Device) GemmMixed(storage tensor.DType, transA, transB Transpose, m, n, k int, alpha float32, a Ptr, lda int, b Ptr, ldb int, beta float32, c Ptr, ldc int) error {
	return d.multiply("gemm mixed", product{dtype: storage, mixed: true, transA: transA, transB: transB, m: m, n: n, k: k, alpha: float64(alpha), beta: float64(beta), a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc})
}

// BatchedGemm is Gemm for batch matrices of each kind at once. Matrix i of A begins i·strideA elements of 8
// bytes after a, and so on. Strides are 0 or more. A stride of 0 uses one matrix of A or B for all products.
// The matrices of C have no element in common. 0 matrices are a no-op. The number of launches does not
// depend on the number of matrices, as long as the device can bind all of them at once.
// Errors: as Gemm, and ErrInvalidArgument (batch, strides).
func (d *Device) BatchedGemm(transA, transB Transpose, m, n, k int, alpha float64, a Ptr, lda, strideA int, b Ptr, ldb, strideB int, beta float64, c Ptr, ldc, strideC, batch int) error {
	return d.multiply("batched gemm", product{
		dtype: tensor.F64, transA: transA, transB: transB, m: m, n: n, k: k, alpha: alpha, beta: beta, a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc,
		batched: true, batch: batch, strideA: strideA, strideB: strideB, strideC: strideC,
	})
}

// BatchedGemmF32 is BatchedGemm for matrices of F32. Strides are in elements of 4 bytes.
func (d *Device) BatchedGemmF32(transA, transB Transpose, m, n, k int, alpha float32, a Ptr, lda, strideA int, b Ptr, ldb, strideB int, beta float32, c Ptr, ldc, strideC, batch int) error {
	return d.multiply("batched gemm f32", product{
		dtype: tensor.F32, transA: transA, transB: transB, m: m, n: n, k: k, alpha: float64(alpha), beta: float64(beta), a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc,
		batched: true, batch: batch, strideA: strideA, strideB: strideB, strideC: strideC,
	})
}

// BatchedGemmMixed is BatchedGemm for matrices of a storage type of 16 bits, as GemmMixed. Strides are in
// elements of 2 bytes.
func (d *Device) BatchedGemmMixed(storage tensor.DType, transA, transB Transpose, m, n, k int, alpha float32, a Ptr, lda, strideA int, b Ptr, ldb, strideB int, beta float32, c Ptr, ldc, strideC, batch int) error {
	return d.multiply("batched gemm mixed", product{
		dtype: storage, mixed: true, transA: transA, transB: transB, m: m, n: n, k: k, alpha: float64(alpha), beta: float64(beta), a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc,
		batched: true, batch: batch, strideA: strideA, strideB: strideB, strideC: strideC,
	})
}

// multiply checks a product and runs it. Row-major, the matrices are transposed, so the product is
// Cᵀ = α·op(B)ᵀ·op(A)ᵀ + β·Cᵀ.
func (d *Device) multiply(op string, p product) error {
	c := d.begin(op)
	defer c.end()
	c.checkProduct(&p)
	x := c.factor("A", p.a, p, p.transA, p.m, p.k, p.lda, p.strideA)
	y := c.factor("B", p.b, p, p.transB, p.k, p.n, p.ldb, p.strideB)
	out := c.factor("C", p.c, p, NoTrans, p.m, p.n, p.ldc, p.strideC)
	if c.err != nil || out.Buffer == nil || (p.alpha == 0 || p.k == 0) && p.beta == 1 {
		return c.err
	}
	f := ops.Gemm{Alpha: spec.Given(p.alpha), Beta: spec.Given(p.beta), TransA: p.transB != NoTrans, TransB: p.transA != NoTrans}
	left, done := c.before(y, out)
	defer done()
	right, done := c.before(x, out)
	defer done()
	to := operandOf(out)
	c.runOn(f, to, left, right, to)
	return c.err
}

// before returns an operand as it is before out is written: a copy if the two overlap. The caller defers done.
func (c *call) before(t, out session.Tensor) (o exec.Operand, done func()) {
	done = func() {}
	switch {
	case c.err != nil:
		return o, done
	case t.Buffer == nil: // It has no elements, so any buffer will do.
		t.Buffer, t.Offset = out.Buffer, 0
		return operandOf(t), done
	case !overlap(t, out):
		return operandOf(t), done
	}
	for i, stride := range t.Desc.Strides {
		if stride == 0 { // The copy is broadcast as the operand is.
			t.Desc.Shape[i] = 1
		}
	}
	o, done = c.lend(tensor.Contiguous(t.Desc.DType, t.Desc.Shape...))
	c.runOn(ops.Copy{}, o, operandOf(t))
	return o, done
}

// checkProduct notes errors of the numbers of a product.
func (c *call) checkProduct(p *product) {
	c.count("m", p.m)
	c.count("n", p.n)
	c.count("k", p.k)
	if !p.batched {
		p.batch = 1
	}
	c.count("batch", p.batch)
	if p.batched && p.batch > 1 && p.strideC == 0 && p.m > 0 && p.n > 0 {
		c.invalid("the stride of C (got 0, want matrices that have no element in common)")
	}
	for _, t := range []Transpose{p.transA, p.transB} {
		if t != NoTrans && t != Trans && t != ConjTrans {
			c.invalid("transpose %q (want 'N', 'T' or 'C')", rune(t))
		}
	}
	for _, s := range []int{p.strideA, p.strideB, p.strideC} {
		c.count("stride", s)
	}
	for _, x := range []float64{p.alpha, p.beta} {
		c.finite(x)
	}
	if p.mixed && p.dtype != tensor.F16 && p.dtype != tensor.BF16 {
		c.invalid("the storage type (got %v, want f16 or bf16)", p.dtype)
	}
	c.hasType(p.dtype)
}

// factor returns a matrix of a product, which has rows × cols elements after op, as a row-major tensor.
func (c *call) factor(name string, at Ptr, p product, trans Transpose, rows, cols, ld, stride int) session.Tensor {
	if trans != NoTrans {
		rows, cols = cols, rows
	}
	if least := max(rows, 1); ld < least {
		c.invalid("the leading dimension of %s (got %d, want %d or more)", name, ld, least)
	}
	desc := tensor.Desc{DType: p.dtype, Shape: []int{cols, rows}, Strides: []int{ld, 1}}
	if p.batched {
		desc.Shape, desc.Strides = []int{p.batch, cols, rows}, []int{stride, ld, 1}
	}
	return c.operand(name, at, desc)
}
