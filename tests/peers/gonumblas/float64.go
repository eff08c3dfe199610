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
	if !i.f64 || float64(m)*float64(n)*float64(k) < i.LeastProduct64 || !known(tA, tB) || !finite(float64(alpha), float64(beta)) || la > len(a) || lb > len(b) || lc > len(c) {
		i.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	x, y, z := on.put(a, la), on.put(b, lb), on.put(c, lc)
	on.must(i.dev.Gemm(rawptr.Transpose(tB), rawptr.Transpose(tA), n, m, k, alpha, y, ldb, x, lda, beta, z, ldc))
	on.get(c, z, lc)
}

// Dgemv is y = α·op(A)·x + β·y.
func (i *BLAS) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	rows, cols := m, n
	if tA != blas.NoTrans {
		rows, cols = n, m
	}
	la, lx, ly := matrix(m, n, lda), reach(cols, incX), reach(rows, incY)
	if !i.f64 || float64(m)*float64(n) < i.LeastVector || !known(tA) || !finite(float64(alpha), float64(beta)) || la > len(a) || lx > len(x) || ly > len(y) {
		i.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q, r := on.put(a, la), on.put(x, lx), on.put(y, ly)
	on.must(i.dev.Dgemv(flip(tA), n, m, alpha, p, lda, q, incX, beta, r, incY))
	on.get(y, r, ly)
}

// Dger is A += α·x·yᵀ.
func (i *BLAS) Dger(m, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64, lda int) {
	la, lx, ly := matrix(m, n, lda), reach(m, incX), reach(n, incY)
	if !i.f64 || float64(m)*float64(n) < i.LeastVector || !finite(float64(alpha)) || la > len(a) || lx > len(x) || ly > len(y) {
		i.Implementation.Dger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q, r := on.put(x, lx), on.put(y, ly), on.put(a, la)
	on.must(i.dev.Dger(n, m, alpha, q, incY, p, incX, r, lda))
	on.get(a, r, la)
}

// Ddot is x·y.
func (i *BLAS) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	lx, ly := reach(n, incX), reach(n, incY)
	if !i.f64 || float64(n) < i.LeastVector || lx > len(x) || ly > len(y) {
		return i.Implementation.Ddot(n, x, incX, y, incY)
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q, out := on.put(x, lx), on.put(y, ly), on.room(1)
	on.must(i.dev.Ddot(n, p, incX, q, incY, out))
	return on.number(out)
}

// Dnrm2 is √Σx².
func (i *BLAS) Dnrm2(n int, x []float64, incX int) float64 {
	lx := reach(n, incX)
	if !i.f64 || float64(n) < i.LeastVector || incX < 1 || lx > len(x) {
		return i.Implementation.Dnrm2(n, x, incX)
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, out := on.put(x, lx), on.room(1)
	on.must(i.dev.Dnrm2(n, p, incX, out))
	return on.number(out)
}

// Dasum is Σ|x|.
func (i *BLAS) Dasum(n int, x []float64, incX int) float64 {
	lx := reach(n, incX)
	if !i.f64 || float64(n) < i.LeastVector || incX < 1 || lx > len(x) {
		return i.Implementation.Dasum(n, x, incX)
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, out := on.put(x, lx), on.room(1)
	on.must(i.dev.Dasum(n, p, incX, out))
	return on.number(out)
}

// Idamax is the index of the element of the largest magnitude.
func (i *BLAS) Idamax(n int, x []float64, incX int) int {
	lx := reach(n, incX)
	if !i.f64 || float64(n) < i.LeastVector || incX < 1 || lx > len(x) {
		return i.Implementation.Idamax(n, x, incX)
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, out := on.put(x, lx), on.room(1)
	on.must(i.dev.Idamax(n, p, incX, out))
	return int(on.index(out))
}

// Dswap exchanges x and y.
func (i *BLAS) Dswap(n int, x []float64, incX int, y []float64, incY int) {
	lx, ly := reach(n, incX), reach(n, incY)
	if !i.f64 || float64(n) < i.LeastVector || lx > len(x) || ly > len(y) {
		i.Implementation.Dswap(n, x, incX, y, incY)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q := on.put(x, lx), on.put(y, ly)
	on.must(i.dev.Dswap(n, p, incX, q, incY))
	on.get(x, p, lx)
	on.get(y, q, ly)
}

// Dcopy copies x to y.
func (i *BLAS) Dcopy(n int, x []float64, incX int, y []float64, incY int) {
	lx, ly := reach(n, incX), reach(n, incY)
	if !i.f64 || float64(n) < i.LeastVector || lx > len(x) || ly > len(y) {
		i.Implementation.Dcopy(n, x, incX, y, incY)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q := on.put(x, lx), on.put(y, ly)
	on.must(i.dev.Dcopy(n, p, incX, q, incY))
	on.get(y, q, ly)
}

// Daxpy is y += α·x.
func (i *BLAS) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	lx, ly := reach(n, incX), reach(n, incY)
	if !i.f64 || float64(n) < i.LeastVector || !finite(float64(alpha)) || lx > len(x) || ly > len(y) {
		i.Implementation.Daxpy(n, alpha, x, incX, y, incY)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p, q := on.put(x, lx), on.put(y, ly)
	on.must(i.dev.Daxpy(n, alpha, p, incX, q, incY))
	on.get(y, q, ly)
}

// Dscal is x = α·x.
func (i *BLAS) Dscal(n int, alpha float64, x []float64, incX int) {
	lx := reach(n, incX)
	if !i.f64 || float64(n) < i.LeastVector || incX < 1 || !finite(float64(alpha)) || lx > len(x) {
		i.Implementation.Dscal(n, alpha, x, incX)
		return
	}
	on := newCall[float64](i.dev)
	defer on.end()
	p := on.put(x, lx)
	on.must(i.dev.Dscal(n, alpha, p, incX))
	on.get(x, p, lx)
}
