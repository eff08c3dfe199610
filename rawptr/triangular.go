package rawptr

import (
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Side says on which side of X a triangular matrix is. The values are those of BLAS.
type Side byte

// These are the sides.
const (
	Left  Side = 'L'
	Right Side = 'R'
)

// Uplo says which triangle of a matrix counts. The values are those of BLAS.
type Uplo byte

// These are the triangles.
const (
	Upper Uplo = 'U'
	Lower Uplo = 'L'
)

// Diag says what the diagonal of a triangular matrix is. The values are those of BLAS.
type Diag byte

// These are the diagonals. One of Unit is ones, and is not read.
const (
	NonUnit Diag = 'N'
	Unit    Diag = 'U'
)

// Strsm solves op(A)·X = α·B, or X·op(A) = α·B with Right, for X, which replaces B. A is triangular, m × m or n × n
// with Right, and B is m × n, both in column-major order. The other triangle of A is not read. If α is 0, A and B
// are not read, and X is zeros. A zero on the diagonal gives infinities and NaN.
// Errors: those of all functions of BLAS.
func (d *Device) Strsm(side Side, uplo Uplo, trans Transpose, diag Diag, m, n int, alpha float32, a Ptr, lda int, b Ptr, ldb int) error {
	return d.triangular("strsm", tensor.F32, solve, side, uplo, trans, diag, m, n, float64(alpha), a, lda, b, ldb)
}

// Dtrsm is Strsm for F64.
// Errors: those of all functions of BLAS.
func (d *Device) Dtrsm(side Side, uplo Uplo, trans Transpose, diag Diag, m, n int, alpha float64, a Ptr, lda int, b Ptr, ldb int) error {
	return d.triangular("dtrsm", tensor.F64, solve, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb)
}

// Strmm computes B = α·op(A)·B, or B = α·B·op(A) with Right. A is triangular, m × m or n × n with Right, and B is m × n, both in
// column-major order. The other triangle of A does not matter. If α is 0, A and B are not read, and B becomes zeros.
// Errors: those of all functions of BLAS.
func (d *Device) Strmm(side Side, uplo Uplo, trans Transpose, diag Diag, m, n int, alpha float32, a Ptr, lda int, b Ptr, ldb int) error {
	return d.triangular("strmm", tensor.F32, multiply, side, uplo, trans, diag, m, n, float64(alpha), a, lda, b, ldb)
}

// Dtrmm is Strmm for F64.
// Errors: those of all functions of BLAS.
func (d *Device) Dtrmm(side Side, uplo Uplo, trans Transpose, diag Diag, m, n int, alpha float64, a Ptr, lda int, b Ptr, ldb int) error {
	return d.triangular("dtrmm", tensor.F64, multiply, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb)
}

// solve and multiply are the operations with a triangular matrix. They have the same attributes.
func solve(f ops.TriangularSolve) spec.Call    { return f }
func multiply(f ops.TriangularSolve) spec.Call { return ops.TriangularMultiply(f) }

// triangular solves or multiplies the transposed system, which is the one in row-major order: A is on the other side, and its other
// triangle counts.
func (d *Device) triangular(op string, dtype tensor.DType, which func(ops.TriangularSolve) spec.Call, side Side, uplo Uplo, trans Transpose, diag Diag, m, n int, alpha float64, a Ptr, lda int, b Ptr, ldb int) error {
	c := d.begin(op)
	defer c.end()
	p := product{dtype: dtype, transA: trans, transB: NoTrans, m: m, n: n, alpha: alpha}
	c.checkProduct(&p)
	c.checkUplo(uplo)
	switch {
	case side != Left && side != Right:
		c.invalid("side %q (want 'L' or 'R')", rune(side))
	case diag != NonUnit && diag != Unit:
		c.invalid("diagonal %q (want 'N' or 'U')", rune(diag))
	}
	order := m
	if side == Right {
		order = n
	}
	mat, out := c.factor("A", a, p, NoTrans, order, order, lda, 0), c.factor("B", b, p, NoTrans, m, n, ldb, 0)
	if c.err != nil || out.Buffer == nil {
		return c.err
	}
	left, done := c.before(mat, out)
	defer done()
	to := operandOf(out)
	c.runOn(which(ops.TriangularSolve{Alpha: spec.Given(alpha), Right: side == Left, Upper: uplo == Lower, Trans: trans != NoTrans, UnitDiagonal: diag == Unit}), to, left, to)
	return c.err
}

// checkUplo notes an error of a triangle.
func (c *call) checkUplo(uplo Uplo) {
	if uplo != Upper && uplo != Lower {
		c.invalid("triangle %q (want 'U' or 'L')", rune(uplo))
	}
}
