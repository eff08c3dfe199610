package gonumblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/lathe-gpu/lathe/rawptr"
)

// Dgemm is C = α·op(A)·op(B) + β·C. In column-major order, that is the product of the transposes.
func (i *BLAS) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	ra, ca, rb, cb := m, k, k, n
	if tA != blas.NoTrans {
		ra, ca = k, m
	}
	if tB != blas.NoTrans {
		rb, cb = n, k
	}
	la, lb, lc := matrix(ra, ca, lda), matrix(rb, cb, ldb), matrix(m, n, ldc)
	if !i.products64(m, n, k) || !known(tA, tB) || !finite(alpha, beta) || la > len(a) || lb > len(b) || lc > len(c) {
		i.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	x, y, z := on.put(a, ra, ca, lda), on.put(b, rb, cb, ldb), on.put(c, m, n, ldc)
	on.must(i.dev.Gemm(rawptr.Transpose(tB), rawptr.Transpose(tA), n, m, k, alpha, y, cb, x, ca, beta, z, n))
	on.get(c, z, m, n, ldc)
}

// Dgemv is y = α·op(A)·x + β·y.
func (i *BLAS) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	rows, cols := m, n
	if tA != blas.NoTrans {
		rows, cols = n, m
	}
	la, lx, ly := matrix(m, n, lda), reach(cols, incX), reach(rows, incY)
	if !i.vectors64(m, n) || !known(tA) || !finite(alpha, beta) || la > len(a) || lx > len(x) || ly > len(y) {
		i.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q, r := on.put(a, m, n, lda), on.vector(x, cols, incX), on.vector(y, rows, incY)
	on.must(i.dev.Dgemv(flip(tA), n, m, alpha, p, n, q, one(incX), beta, r, one(incY)))
	on.getVector(y, r, rows, incY)
}

// Dger is A += α·x·yᵀ.
func (i *BLAS) Dger(m, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64, lda int) {
	la, lx, ly := matrix(m, n, lda), reach(m, incX), reach(n, incY)
	if !i.vectors64(m, n) || !finite(alpha) || la > len(a) || lx > len(x) || ly > len(y) {
		i.Implementation.Dger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q, r := on.vector(x, m, incX), on.vector(y, n, incY), on.put(a, m, n, lda)
	on.must(i.dev.Dger(n, m, alpha, q, one(incY), p, one(incX), r, n))
	on.get(a, r, m, n, lda)
}

// Ddot is x·y.
func (i *BLAS) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	lx, ly := reach(n, incX), reach(n, incY)
	if !i.vectors64(n, 1) || lx > len(x) || ly > len(y) {
		return i.Implementation.Ddot(n, x, incX, y, incY)
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q, out := on.vector(x, n, incX), on.vector(y, n, incY), on.room(1)
	on.must(i.dev.Ddot(n, p, one(incX), q, one(incY), out))
	return on.number(out)
}

// Dnrm2 is √Σx².
func (i *BLAS) Dnrm2(n int, x []float64, incX int) float64 {
	lx := reach(n, incX)
	if !i.vectors64(n, 1) || incX < 1 || lx > len(x) {
		return i.Implementation.Dnrm2(n, x, incX)
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, out := on.vector(x, n, incX), on.room(1)
	on.must(i.dev.Dnrm2(n, p, 1, out))
	return on.number(out)
}

// Dasum is Σ|x|.
func (i *BLAS) Dasum(n int, x []float64, incX int) float64 {
	lx := reach(n, incX)
	if !i.vectors64(n, 1) || incX < 1 || lx > len(x) {
		return i.Implementation.Dasum(n, x, incX)
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, out := on.vector(x, n, incX), on.room(1)
	on.must(i.dev.Dasum(n, p, 1, out))
	return on.number(out)
}

// Idamax is the index of the element of the largest magnitude.
func (i *BLAS) Idamax(n int, x []float64, incX int) int {
	lx := reach(n, incX)
	if !i.vectors64(n, 1) || incX < 1 || lx > len(x) {
		return i.Implementation.Idamax(n, x, incX)
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, out := on.vector(x, n, incX), on.room(1)
	on.must(i.dev.Idamax(n, p, 1, out))
	return int(on.index(out))
}

// Dswap exchanges x and y.
func (i *BLAS) Dswap(n int, x []float64, incX int, y []float64, incY int) {
	lx, ly := reach(n, incX), reach(n, incY)
	if !i.vectors64(n, 1) || lx > len(x) || ly > len(y) {
		i.Implementation.Dswap(n, x, incX, y, incY)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q := on.vector(x, n, incX), on.vector(y, n, incY)
	on.must(i.dev.Dswap(n, p, one(incX), q, one(incY)))
	on.getVector(x, p, n, incX)
	on.getVector(y, q, n, incY)
}

// Dcopy copies x to y.
func (i *BLAS) Dcopy(n int, x []float64, incX int, y []float64, incY int) {
	lx, ly := reach(n, incX), reach(n, incY)
	if !i.vectors64(n, 1) || lx > len(x) || ly > len(y) {
		i.Implementation.Dcopy(n, x, incX, y, incY)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q := on.vector(x, n, incX), on.vector(y, n, incY)
	on.must(i.dev.Dcopy(n, p, one(incX), q, one(incY)))
	on.getVector(y, q, n, incY)
}

// Daxpy is y += α·x.
func (i *BLAS) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	lx, ly := reach(n, incX), reach(n, incY)
	if !i.vectors64(n, 1) || !finite(alpha) || lx > len(x) || ly > len(y) {
		i.Implementation.Daxpy(n, alpha, x, incX, y, incY)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q := on.vector(x, n, incX), on.vector(y, n, incY)
	on.must(i.dev.Daxpy(n, alpha, p, one(incX), q, one(incY)))
	on.getVector(y, q, n, incY)
}

// Dscal is x = α·x.
func (i *BLAS) Dscal(n int, alpha float64, x []float64, incX int) {
	lx := reach(n, incX)
	if !i.vectors64(n, 1) || incX < 1 || !finite(alpha) || lx > len(x) {
		i.Implementation.Dscal(n, alpha, x, incX)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p := on.vector(x, n, incX)
	on.must(i.dev.Dscal(n, alpha, p, 1))
	on.getVector(x, p, n, incX)
}

// Dsyrk is C = α·A·Aᵀ + β·C, or C = α·Aᵀ·A + β·C, of which one triangle is read and written. In column-major order
// C has its other triangle there, and A is transposed.
func (i *BLAS) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	rows, cols := n, k
	if tA != blas.NoTrans {
		rows, cols = k, n
	}
	la, lc := matrix(rows, cols, lda), matrix(n, n, ldc)
	if !i.products64(n, n, k) || !known(tA) || !triangular(blas.Left, ul, blas.Unit) || !finite(alpha, beta) || la > len(a) || lc > len(c) {
		i.Implementation.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q := on.put(a, rows, cols, lda), on.putTriangle(c, ul, n, ldc)
	on.must(i.dev.Dsyrk(turn(ul), flip(tA), n, k, alpha, p, cols, beta, q, n))
	on.getTriangle(c, q, ul, n, ldc)
}

// Dtrmm is B = α·op(A)·B, or B = α·B·op(A). In column-major order A is on the other side, and has its other triangle.
func (i *BLAS) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	order, side := turned(s, m, n)
	la, lb := matrix(order, order, lda), matrix(m, n, ldb)
	if !i.products64(order, m, n) || !known(tA) || !triangular(s, ul, d) || !finite(alpha) || la > len(a) || lb > len(b) {
		i.Implementation.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q := on.putTriangle(a, ul, order, lda), on.put(b, m, n, ldb)
	on.must(i.dev.Dtrmm(side, turn(ul), rawptr.Transpose(tA), rawptr.Diag(d), n, m, alpha, p, order, q, n))
	on.get(b, q, m, n, ldb)
}

// Dtrsm solves op(A)·X = α·B, or X·op(A) = α·B, for X, which replaces B, with A as in Dtrmm.
func (i *BLAS) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	order, side := turned(s, m, n)
	la, lb := matrix(order, order, lda), matrix(m, n, ldb)
	if !i.products64(order, m, n) || !known(tA) || !triangular(s, ul, d) || !finite(alpha) || la > len(a) || lb > len(b) {
		i.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q := on.putTriangle(a, ul, order, lda), on.put(b, m, n, ldb)
	on.must(i.dev.Dtrsm(side, turn(ul), rawptr.Transpose(tA), rawptr.Diag(d), n, m, alpha, p, order, q, n))
	on.get(b, q, m, n, ldb)
}
