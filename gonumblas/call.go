package gonumblas

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"

	"github.com/lathe-gpu/lathe/rawptr"
)

// float is what a BLAS computes with.
type float interface{ float32 | float64 }

// call is a call on the device. Its methods panic if the device returns an error.
type call[T float] struct {
	dev  rawptr.Backend
	used []rawptr.Ptr
}

// newCall starts a call. The caller defers end.
func newCall[T float](dev rawptr.Backend) *call[T] { return &call[T]{dev: dev} }

// end frees the memory of the call. It fails on a closed device only, whose memory is gone.
func (c *call[T]) end() {
	for _, p := range c.used {
		_ = c.dev.Free(p)
	}
}

func (c *call[T]) must(err error) {
	if err != nil {
		panic(fmt.Errorf("gonumblas: %w", err))
	}
}

// size is the size of an element in bytes.
func size[T float]() int { return binary.Size(T(0)) }

// room allocates n elements.
func (c *call[T]) room(n int) rawptr.Ptr {
	p, err := c.dev.Alloc(int64(max(n, 1) * size[T]()))
	c.must(err)
	c.used = append(c.used, p)
	return p
}

// put copies a matrix in row-major order to the device, without the gaps between its rows. What lies there may be another matrix,
// which another goroutine writes to.
func (c *call[T]) put(xs []T, rows, cols, ld int) rawptr.Ptr {
	n := rows * cols
	var dense []T
	if ld == cols || rows == 1 {
		dense = xs[:n]
	} else {
		dense = make([]T, 0, n)
		for i := range rows {
			dense = append(dense, xs[i*ld:i*ld+cols]...)
		}
	}
	p := c.room(n)
	b, err := binary.Append(make([]byte, 0, n*size[T]()), binary.LittleEndian, dense)
	c.must(err)
	c.must(c.dev.CopyHtoD(context.Background(), p, b))
	return p
}

// get copies such a matrix back, and nothing else.
func (c *call[T]) get(xs []T, p rawptr.Ptr, rows, cols, ld int) {
	n := rows * cols
	b := make([]byte, n*size[T]())
	c.must(c.dev.CopyDtoH(context.Background(), b, p))
	if ld == cols || rows == 1 {
		c.decode(xs[:n], b)
		return
	}
	dense := make([]T, n)
	c.decode(dense, b)
	for i := range rows {
		copy(xs[i*ld:i*ld+cols], dense[i*cols:])
	}
}

// decode makes numbers of the bytes of the device.
func (c *call[T]) decode(xs []T, b []byte) {
	_, err := binary.Decode(b, binary.LittleEndian, xs)
	c.must(err)
}

// putTriangle is put for a triangle of a square matrix. What the other one has on the device are zeros: another
// goroutine may write to it.
func (c *call[T]) putTriangle(xs []T, ul blas.Uplo, n, ld int) rawptr.Ptr {
	full := make([]T, n*n)
	for i := range n {
		from, to := columns(ul, i, n)
		copy(full[i*n+from:i*n+to], xs[i*ld+from:i*ld+to])
	}
	return c.put(full, n, n, n)
}

// getTriangle copies such a triangle back, and nothing else.
func (c *call[T]) getTriangle(xs []T, p rawptr.Ptr, ul blas.Uplo, n, ld int) {
	full := make([]T, n*n)
	c.get(full, p, n, n, n)
	for i := range n {
		from, to := columns(ul, i, n)
		copy(xs[i*ld+from:i*ld+to], full[i*n+from:i*n+to])
	}
}

// columns returns which elements of a row belong to a triangle.
func columns(ul blas.Uplo, row, n int) (from, to int) {
	if ul == blas.Upper {
		return row, n
	}
	return 0, row + 1
}

// vector is put for n elements, inc apart, in the order of their addresses.
func (c *call[T]) vector(xs []T, n, inc int) rawptr.Ptr { return c.put(xs, n, 1, max(inc, -inc)) }

// getVector is get for such elements.
func (c *call[T]) getVector(xs []T, p rawptr.Ptr, n, inc int) { c.get(xs, p, n, 1, max(inc, -inc)) }

// one is the increment of a vector that vector has copied.
func one(inc int) int {
	if inc < 0 {
		return -1
	}
	return 1
}

// number reads one element.
func (c *call[T]) number(p rawptr.Ptr) T {
	var x [1]T
	c.get(x[:], p, 1, 1, 1)
	return x[0]
}

// index reads an index.
func (c *call[T]) index(p rawptr.Ptr) int32 {
	b := make([]byte, 4)
	c.must(c.dev.CopyDtoH(context.Background(), b, p))
	return int32(binary.LittleEndian.Uint32(b))
}

// finite reports whether all of these are numbers.
func finite[T float](xs ...T) bool {
	for _, x := range xs {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// reach is the number of elements that a vector reaches over. It is above the length of any slice for arguments
// that are illegal.
func reach(n, inc int) int {
	if inc < 0 {
		inc = -inc
	}
	if n <= 0 || inc <= 0 || n > math.MaxInt32 || inc > math.MaxInt32 {
		return math.MaxInt
	}
	return (n-1)*inc + 1
}

// matrix is reach for a matrix of rows in row-major order.
func matrix(rows, cols, ld int) int {
	if rows <= 0 || cols <= 0 || ld < cols || rows > math.MaxInt32 || ld > math.MaxInt32 {
		return math.MaxInt
	}
	return (rows-1)*ld + cols
}

// flip is the form of a matrix in row-major order as one in column-major order.
func flip(t blas.Transpose) rawptr.Transpose {
	if t == blas.NoTrans {
		return rawptr.Trans
	}
	return rawptr.NoTrans
}

// known reports whether these are forms of a matrix.
func known(ts ...blas.Transpose) bool {
	for _, t := range ts {
		if t != blas.NoTrans && t != blas.Trans && t != blas.ConjTrans {
			return false
		}
	}
	return true
}

// triangular reports whether these are a side, a triangle and a diagonal.
func triangular(s blas.Side, ul blas.Uplo, d blas.Diag) bool {
	return (s == blas.Left || s == blas.Right) && (ul == blas.Upper || ul == blas.Lower) && (d == blas.NonUnit || d == blas.Unit)
}

// turn is the triangle of a matrix in row-major order as one in column-major order.
func turn(ul blas.Uplo) rawptr.Uplo {
	if ul == blas.Lower {
		return rawptr.Upper
	}
	return rawptr.Lower
}

// turned returns the order of a triangular matrix beside one of m × n, and on which side it is in column-major order.
func turned(s blas.Side, m, n int) (order int, side rawptr.Side) {
	if s == blas.Right {
		return n, rawptr.Left
	}
	return m, rawptr.Right
}
