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
	x, y, z := on.put(a, la), on.put(b, lb), on.put(c, lc)
	on.must(i.dev.GemmF32(rawptr.Transpose(tB), rawptr.Transpose(tA), n, m, k, alpha, y, ldb, x, lda, beta, z, ldc))
	on.get(c, z, lc)
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
	p, q, r := on.put(a, la), on.put(x, lx), on.put(y, ly)
	on.must(i.dev.Sgemv(flip(tA), n, m, alpha, p, lda, q, incX, beta, r, incY))
	on.get(y, r, ly)
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
	p, q, r := on.put(x, lx), on.put(y, ly), on.put(a, la)
	on.must(i.dev.Sger(n, m, alpha, q, incY, p, incX, r, lda))
	on.get(a, r, la)
}

// Sdot is x·y.
func (i *BLAS) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	lx, ly := reach(n, incX), reach(n, incY)
	if float64(n) < i.LeastVector || lx > len(x) || ly > len(y) {
		return i.Implementation.Sdot(n, x, incX, y, incY)
	}
	on := newCall[float32](i.dev)
	defer on.end()
	p, q, out := on.put(x, lx), on.put(y, ly), on.room(1)
	on.must(i.dev.Sdot(n, p, incX, q, incY, out))
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
	p, out := on.put(x, lx), on.room(1)
	on.must(i.dev.Snrm2(n, p, incX, out))
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
	p, out := on.put(x, lx), on.room(1)
	on.must(i.dev.Sasum(n, p, incX, out))
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
	p, out := on.put(x, lx), on.room(1)
	on.must(i.dev.Isamax(n, p, incX, out))
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
	p, q := on.put(x, lx), on.put(y, ly)
	on.must(i.dev.Sswap(n, p, incX, q, incY))
	on.get(x, p, lx)
	on.get(y, q, ly)
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
	p, q := on.put(x, lx), on.put(y, ly)
	on.must(i.dev.Scopy(n, p, incX, q, incY))
	on.get(y, q, ly)
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
	p, q := on.put(x, lx), on.put(y, ly)
	on.must(i.dev.Saxpy(n, alpha, p, incX, q, incY))
	on.get(y, q, ly)
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
	p := on.put(x, lx)
	on.must(i.dev.Sscal(n, alpha, p, incX))
	on.get(x, p, lx)
}
