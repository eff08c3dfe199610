package rawptr

import (
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Ssyrk computes one triangle of C = α·A·Aᵀ + β·C, or of C = α·Aᵀ·A + β·C with Trans. C is n × n, and A is n × k, or k × n with Trans,
// both in column-major order. The triangle has the diagonal. The other triangle of C keeps its numbers, and the rules
// for factors of 0 are those of Gemm.
// Errors: those of all functions of BLAS.
func (d *Device) Ssyrk(uplo Uplo, trans Transpose, n, k int, alpha float32, a Ptr, lda int, beta float32, c Ptr, ldc int) error {
	return d.syrk("ssyrk", tensor.F32, uplo, trans, n, k, float64(alpha), a, lda, float64(beta), c, ldc)
}

// Dsyrk is Ssyrk for F64.
// Errors: those of all functions of BLAS.
func (d *Device) Dsyrk(uplo Uplo, trans Transpose, n, k int, alpha float64, a Ptr, lda int, beta float64, c Ptr, ldc int) error {
	return d.syrk("dsyrk", tensor.F64, uplo, trans, n, k, alpha, a, lda, beta, c, ldc)
}

// syrk computes the transpose, which is the matrix in row-major order: its other triangle counts, and A is transposed.
func (d *Device) syrk(op string, dtype tensor.DType, uplo Uplo, trans Transpose, n, k int, alpha float64, a Ptr, lda int, beta float64, sum Ptr, ldc int) error {
	c := d.begin(op)
	defer c.end()
	p := product{dtype: dtype, transA: trans, transB: NoTrans, n: n, k: k, alpha: alpha, beta: beta}
	c.checkProduct(&p)
	c.checkUplo(uplo)
	mat, out := c.factor("A", a, p, trans, n, k, lda, 0), c.factor("C", sum, p, NoTrans, n, n, ldc, 0)
	if c.err != nil || out.Buffer == nil || (alpha == 0 || k == 0) && beta == 1 {
		return c.err
	}
	of, done := c.before(mat, out)
	defer done()
	to := operandOf(out)
	c.runOn(ops.Syrk{Alpha: spec.Given(alpha), Beta: spec.Given(beta), Upper: uplo == Lower, Trans: trans == NoTrans}, to, of, to)
	return c.err
}
