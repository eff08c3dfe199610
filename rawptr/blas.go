package rawptr

import "github.com/lathe-gpu/lathe/tensor"

// Sdot writes Σ x[i]·y[i] to out, which is one number.
// Errors: those of all functions of BLAS.
func (d *Device) Sdot(n int, x Ptr, incX int, y Ptr, incY int, out Ptr) error {
	return d.dot("sdot", tensor.F32, n, x, incX, y, incY, out)
}

// Snrm2 writes the Euclidean norm √Σ x[i]² to out, which is one number. No square overflows. The increment is
// above 0.
// Errors: those of all functions of BLAS.
func (d *Device) Snrm2(n int, x Ptr, incX int, out Ptr) error {
	return d.reduced("snrm2", tensor.F32, n, x, incX, out, nrm2)
}

// Sasum writes Σ |x[i]| to out, which is one number. The increment is above 0.
// Errors: those of all functions of BLAS.
func (d *Device) Sasum(n int, x Ptr, incX int, out Ptr) error {
	return d.reduced("sasum", tensor.F32, n, x, incX, out, asum)
}

// Isamax writes the index of the first element of the largest magnitude to out, which is one I32. It counts from
// 0, and is −1 of no elements. NaN is larger than all numbers. The increment is above 0.
// Errors: those of all functions of BLAS.
func (d *Device) Isamax(n int, x Ptr, incX int, out Ptr) error {
	return d.iamax("isamax", tensor.F32, n, x, incX, out)
}

// Sswap exchanges the elements of x and y.
// Errors: those of all functions of BLAS.
func (d *Device) Sswap(n int, x Ptr, incX int, y Ptr, incY int) error {
	return d.swap("sswap", tensor.F32, n, x, incX, y, incY)
}

// Scopy copies the elements of x to y.
// Errors: those of all functions of BLAS.
func (d *Device) Scopy(n int, x Ptr, incX int, y Ptr, incY int) error {
	return d.copyVector("scopy", tensor.F32, n, x, incX, y, incY)
}

// Saxpy computes y[i] += α·x[i]. If α is 0, x is not read. The product and the sum are rounded.
// Errors: those of all functions of BLAS.
func (d *Device) Saxpy(n int, alpha float32, x Ptr, incX int, y Ptr, incY int) error {
	return d.axpy("saxpy", tensor.F32, n, float64(alpha), x, incX, y, incY)
}

// Sscal computes x[i] = α·x[i]. If α is 0, x is not read, and all becomes 0. The increment is above 0.
// Errors: those of all functions of BLAS.
func (d *Device) Sscal(n int, alpha float32, x Ptr, incX int) error {
	return d.scal("sscal", tensor.F32, n, float64(alpha), x, incX)
}

// Sgemv computes y = α·op(A)·x + β·y for an m × n matrix in column-major order, with the rules of Gemm.
// Errors: those of all functions of BLAS.
func (d *Device) Sgemv(trans Transpose, m, n int, alpha float32, a Ptr, lda int, x Ptr, incX int, beta float32, y Ptr, incY int) error {
	return d.gemv("sgemv", tensor.F32, trans, m, n, float64(alpha), a, lda, x, incX, float64(beta), y, incY)
}

// Sger computes A += α·x·yᵀ for an m × n matrix in column-major order.
// Errors: those of all functions of BLAS.
func (d *Device) Sger(m, n int, alpha float32, x Ptr, incX int, y Ptr, incY int, a Ptr, lda int) error {
	return d.ger("sger", tensor.F32, m, n, float64(alpha), x, incX, y, incY, a, lda)
}

// Ddot writes Σ x[i]·y[i] to out, which is one number.
// Errors: those of all functions of BLAS.
func (d *Device) Ddot(n int, x Ptr, incX int, y Ptr, incY int, out Ptr) error {
	return d.dot("ddot", tensor.F64, n, x, incX, y, incY, out)
}

// Dnrm2 writes the Euclidean norm √Σ x[i]² to out, which is one number. No square overflows. The increment is
// above 0.
// Errors: those of all functions of BLAS.
func (d *Device) Dnrm2(n int, x Ptr, incX int, out Ptr) error {
	return d.reduced("dnrm2", tensor.F64, n, x, incX, out, nrm2)
}

// Dasum writes Σ |x[i]| to out, which is one number. The increment is above 0.
// Errors: those of all functions of BLAS.
func (d *Device) Dasum(n int, x Ptr, incX int, out Ptr) error {
	return d.reduced("dasum", tensor.F64, n, x, incX, out, asum)
}

// Idamax writes the index of the first element of the largest magnitude to out, which is one I32. It counts from
// 0, and is −1 of no elements. NaN is larger than all numbers. The increment is above 0.
// Errors: those of all functions of BLAS.
func (d *Device) Idamax(n int, x Ptr, incX int, out Ptr) error {
	return d.iamax("idamax", tensor.F64, n, x, incX, out)
}

// Dswap exchanges the elements of x and y.
// Errors: those of all functions of BLAS.
func (d *Device) Dswap(n int, x Ptr, incX int, y Ptr, incY int) error {
	return d.swap("dswap", tensor.F64, n, x, incX, y, incY)
}

// Dcopy copies the elements of x to y.
// Errors: those of all functions of BLAS.
func (d *Device) Dcopy(n int, x Ptr, incX int, y Ptr, incY int) error {
	return d.copyVector("dcopy", tensor.F64, n, x, incX, y, incY)
}

// Daxpy computes y[i] += α·x[i]. If α is 0, x is not read. The product and the sum are rounded.
// Errors: those of all functions of BLAS.
func (d *Device) Daxpy(n int, alpha float64, x Ptr, incX int, y Ptr, incY int) error {
	return d.axpy("daxpy", tensor.F64, n, alpha, x, incX, y, incY)
}

// Dscal computes x[i] = α·x[i]. If α is 0, x is not read, and all becomes 0. The increment is above 0.
// Errors: those of all functions of BLAS.
func (d *Device) Dscal(n int, alpha float64, x Ptr, incX int) error {
	return d.scal("dscal", tensor.F64, n, alpha, x, incX)
}

// Dgemv computes y = α·op(A)·x + β·y for an m × n matrix in column-major order, with the rules of Gemm.
// Errors: those of all functions of BLAS.
func (d *Device) Dgemv(trans Transpose, m, n int, alpha float64, a Ptr, lda int, x Ptr, incX int, beta float64, y Ptr, incY int) error {
	return d.gemv("dgemv", tensor.F64, trans, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Dger computes A += α·x·yᵀ for an m × n matrix in column-major order.
// Errors: those of all functions of BLAS.
func (d *Device) Dger(m, n int, alpha float64, x Ptr, incX int, y Ptr, incY int, a Ptr, lda int) error {
	return d.ger("dger", tensor.F64, m, n, alpha, x, incX, y, incY, a, lda)
}
