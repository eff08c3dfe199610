package gonumblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/lathe-gpu/lathe/rawptr"
)

// Sgemm is C = α·op(A)·op(B) + β·C. In column-major order, that is the product of the transposes.
func (i *BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	ra, ca, rb, cb := m, k, k, n
	if tA != blas.NoTrans {
		ra, ca = k, m
	}
	if tB != blas.NoTrans {
		rb, cb = n, k
	}
	la, lb, lc := matrix(ra, ca, lda), matrix(rb, cb, ldb), matrix(m, n, ldc)
	if float64(m)*float64(n)*float64(k) < i.LeastProduct32 || !known(tA, tB) || !finite(float64(alpha), float64(beta)) || la > len(a) || lb > len(b) || lc > len(c) {
		i.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	on := newCall[float32](i.dev)
	defer on.end()
	x, y, z := on.put(a, ra, ca, lda), on.put(b, rb, cb, ldb), on.put(c, m, n, ldc)
	on.must(i.dev.GemmF32(rawptr.Transpose(tB), rawptr.Transpose(tA), n, m, k, alpha, y, cb, x, ca, beta, z, n))
	on.get(c, z, m, n, ldc)
}

// Sgemv is y = α·op(A)·x + β·y.
func (i *BLAS) Sgemv(tA blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32, y []float32, incY int) {
	rows, cols := m, n
	if tA != blas.NoTrans {
		rows, cols = n, m
	}
	la, lx, ly := matrix(m, n, lda), reach(cols, incX), reach(rows, incY)
	if float64(m)*float64(n) < i.LeastVector || !known(tA) || !finite(float64(alpha), float64(beta)) || la > len(a) || lx > len(x) || ly > len(y) {
		i.Implementation.Sgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p, q, r := on.put(a, m, n, lda), on.vector(x, cols, incX), on.vector(y, rows, incY)
	on.must(i.dev.Sgemv(flip(tA), n, m, alpha, p, n, q, one(incX), beta, r, one(incY)))
	on.getVector(y, r, rows, incY)
}

// Sger is A += α·x·yᵀ.
func (i *BLAS) Sger(m, n int, alpha float32, x []float32, incX int, y []float32, incY int, a []float32, lda int) {
	la, lx, ly := matrix(m, n, lda), reach(m, incX), reach(n, incY)
	if float64(m)*float64(n) < i.LeastVector || !finite(float64(alpha)) || la > len(a) || lx > len(x) || ly > len(y) {
		i.Implementation.Sger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p, q, r := on.vector(x, m, incX), on.vector(y, n, incY), on.put(a, m, n, lda)
	on.must(i.dev.Sger(n, m, alpha, q, one(incY), p, one(incX), r, n))
	on.get(a, r, m, n, lda)
}

// Sdot is x·y.
func (i *BLAS) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	lx, ly := reach(n, incX), reach(n, incY)
	if float64(n) < i.LeastVector || lx > len(x) || ly > len(y) {
		return i.Implementation.Sdot(n, x, incX, y, incY)
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p, q, out := on.vector(x, n, incX), on.vector(y, n, incY), on.room(1)
	on.must(i.dev.Sdot(n, p, one(incX), q, one(incY), out))
	return on.number(out)
}

// Snrm2 is √Σx².
func (i *BLAS) Snrm2(n int, x []float32, incX int) float32 {
	lx := reach(n, incX)
	if float64(n) < i.LeastVector || incX < 1 || lx > len(x) {
		return i.Implementation.Snrm2(n, x, incX)
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p, out := on.vector(x, n, incX), on.room(1)
	on.must(i.dev.Snrm2(n, p, 1, out))
	return on.number(out)
}

// Sasum is Σ|x|.
func (i *BLAS) Sasum(n int, x []float32, incX int) float32 {
	lx := reach(n, incX)
	if float64(n) < i.LeastVector || incX < 1 || lx > len(x) {
		return i.Implementation.Sasum(n, x, incX)
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p, out := on.vector(x, n, incX), on.room(1)
	on.must(i.dev.Sasum(n, p, 1, out))
	return on.number(out)
}

// Isamax is the index of the element of the largest magnitude.
func (i *BLAS) Isamax(n int, x []float32, incX int) int {
	lx := reach(n, incX)
	if float64(n) < i.LeastVector || incX < 1 || lx > len(x) {
		return i.Implementation.Isamax(n, x, incX)
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p, out := on.vector(x, n, incX), on.room(1)
	on.must(i.dev.Isamax(n, p, 1, out))
	return int(on.index(out))
}

// Sswap exchanges x and y.
func (i *BLAS) Sswap(n int, x []float32, incX int, y []float32, incY int) {
	lx, ly := reach(n, incX), reach(n, incY)
	if float64(n) < i.LeastVector || lx > len(x) || ly > len(y) {
		i.Implementation.Sswap(n, x, incX, y, incY)
		return
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p, q := on.vector(x, n, incX), on.vector(y, n, incY)
	on.must(i.dev.Sswap(n, p, one(incX), q, one(incY)))
	on.getVector(x, p, n, incX)
	on.getVector(y, q, n, incY)
}

// Scopy copies x to y.
func (i *BLAS) Scopy(n int, x []float32, incX int, y []float32, incY int) {
	lx, ly := reach(n, incX), reach(n, incY)
	if float64(n) < i.LeastVector || lx > len(x) || ly > len(y) {
		i.Implementation.Scopy(n, x, incX, y, incY)
		return
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p, q := on.vector(x, n, incX), on.vector(y, n, incY)
	on.must(i.dev.Scopy(n, p, one(incX), q, one(incY)))
	on.getVector(y, q, n, incY)
}

// Saxpy is y += α·x.
func (i *BLAS) Saxpy(n int, alpha float32, x []float32, incX int, y []float32, incY int) {
	lx, ly := reach(n, incX), reach(n, incY)
	if float64(n) < i.LeastVector || !finite(float64(alpha)) || lx > len(x) || ly > len(y) {
		i.Implementation.Saxpy(n, alpha, x, incX, y, incY)
		return
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p, q := on.vector(x, n, incX), on.vector(y, n, incY)
	on.must(i.dev.Saxpy(n, alpha, p, one(incX), q, one(incY)))
	on.getVector(y, q, n, incY)
}

// Sscal is x = α·x.
func (i *BLAS) Sscal(n int, alpha float32, x []float32, incX int) {
	lx := reach(n, incX)
	if float64(n) < i.LeastVector || incX < 1 || !finite(float64(alpha)) || lx > len(x) {
		i.Implementation.Sscal(n, alpha, x, incX)
		return
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p := on.vector(x, n, incX)
	on.must(i.dev.Sscal(n, alpha, p, 1))
	on.getVector(x, p, n, incX)
}

// Strsm solves op(A)·X = α·B, or X·op(A) = α·B, for X, which replaces B. In column-major order A is on the other
// side, and its other triangle counts.
func (i *BLAS) Strsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int) {
	order, side, uplo := m, rawptr.Right, rawptr.Lower
	if s == blas.Right {
		order, side = n, rawptr.Left
	}
	if ul == blas.Lower {
		uplo = rawptr.Upper
	}
	la, lb := matrix(order, order, lda), matrix(m, n, ldb)
	if float64(order)*float64(m)*float64(n) < i.LeastProduct32 || !known(tA) || !triangular(s, ul, d) || !finite(float64(alpha)) || la > len(a) || lb > len(b) {
		i.Implementation.Strsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p, q := on.put(a, order, order, lda), on.put(b, m, n, ldb)
	on.must(i.dev.Strsm(side, uplo, rawptr.Transpose(tA), rawptr.Diag(d), n, m, alpha, p, order, q, n))
	on.get(b, q, m, n, ldb)
}
