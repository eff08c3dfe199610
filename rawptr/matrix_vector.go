package rawptr

import (
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// gemv computes y = α·op(A)·x + β·y.
func (d *Device) gemv(op string, dtype tensor.DType, trans Transpose, m, n int, alpha float64, a Ptr, lda int, x Ptr, incX int, beta float64, y Ptr, incY int) error {
	c := d.begin(op)
	defer c.end()
	p := product{dtype: dtype, transA: trans, transB: NoTrans, m: m, n: n, alpha: alpha, beta: beta}
	c.checkProduct(&p)
	rows, cols := m, n
	if trans != NoTrans {
		rows, cols = n, m
	}
	mat := c.factor("A", a, p, NoTrans, m, n, lda, 0)
	in, out := c.strided("x", dtype, cols, x, incX), c.strided("y", dtype, rows, y, incY)
	if c.err != nil || rows == 0 || cols == 0 || alpha == 0 && beta == 1 {
		return c.err
	}
	left, done := c.before(mat, out.Tensor)
	defer done()
	right, done := c.read(in, false, out.Tensor)
	defer done()
	to := operandOf(out.Tensor)
	if out.turned { // It is computed in the other order, and turned at the end.
		if to, done = c.lend(tensor.Contiguous(dtype, rows)); c.err == nil {
			defer done()
		}
		c.runOn(ops.Reverse{Dims: []int{0}}, to, operandOf(out.Tensor))
	}
	if c.err != nil {
		return c.err
	}
	// The matrix in row-major order is Aᵀ.
	c.runOn(ops.Gemm{Alpha: spec.Given(alpha), Beta: spec.Given(beta), TransA: trans == NoTrans}, column(to), left, column(right), column(to))
	if out.turned {
		c.runOn(ops.Reverse{Dims: []int{0}}, operandOf(out.Tensor), to)
	}
	return c.err
}

// ger computes A += α·x·yᵀ.
func (d *Device) ger(op string, dtype tensor.DType, m, n int, alpha float64, x Ptr, incX int, y Ptr, incY int, a Ptr, lda int) error {
	c := d.begin(op)
	defer c.end()
	p := product{dtype: dtype, transA: NoTrans, transB: NoTrans, m: m, n: n, alpha: alpha}
	c.checkProduct(&p)
	mat := c.factor("A", a, p, NoTrans, m, n, lda, 0)
	left, right := c.strided("x", dtype, m, x, incX), c.strided("y", dtype, n, y, incY)
	if c.err != nil || m == 0 || n == 0 || alpha == 0 {
		return c.err
	}
	u, done := c.read(left, false, mat)
	defer done()
	v, done := c.read(right, false, mat)
	defer done()
	if c.err == nil { // The matrix in row-major order is Aᵀ.
		to := operandOf(mat)
		c.runOn(ops.Gemm{Alpha: alpha, Beta: 1}, to, column(v), row(u), to)
	}
	return c.err
}
