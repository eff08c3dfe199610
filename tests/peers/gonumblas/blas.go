// Package gonumblas lets gonum's BLAS run on a device of Lathe. A BLAS takes slices of the host, as
// blas.Float32 and blas.Float64 say, and sends calls that are large enough to the device:
//
//	impl, err := gonumblas.New(dev)
//	blas64.Use(impl)
//
// All other calls are gonum's own: small ones, those with illegal arguments, which panic there, those whose factors
// are not finite, functions that package rawptr does not have, and float64 on devices without it.
package gonumblas

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/lathe-gpu/lathe/rawptr"
)

// BLAS is gonum's implementation, with a device for large calls. Any number of goroutines may use it. An error of
// the device is a panic, because BLAS returns none.
type BLAS struct {
	gonum.Implementation
	dev rawptr.Backend
	f64 bool

	// LeastProduct32 and LeastProduct64 are the numbers of multiplications from which products of matrices of
	// float32 and float64 go to the device. New measures them. They do not change after the first call.
	LeastProduct32, LeastProduct64 float64
	// LeastVector is the number of elements of vectors and matrices from which the other functions go
	// to the device. They take less time than their operands take to be copied, so New sets it to infinity.
	LeastVector float64
}

var (
	_ blas.Float32 = (*BLAS)(nil)
	_ blas.Float64 = (*BLAS)(nil)
)

// New returns a BLAS over an open backend. It measures from which size on products are faster on the device than by
// gonum, copies included, for a second or two. If they are not at any size up to 512³, all products stay gonum's.
// Errors: those of Capabilities.
func New(dev rawptr.Backend) (*BLAS, error) {
	c, err := dev.Capabilities()
	if err != nil {
		return nil, fmt.Errorf("gonumblas: new: %w", err)
	}
	b := &BLAS{dev: dev, f64: c.F64, LeastVector: math.Inf(1)}
	b.LeastProduct32 = least(func(n int, x, y []float32) { b.Sgemm('N', 'N', n, n, n, 1, x, n, x, n, 0, y, n) },
		func(n int, x, y []float32) { b.Implementation.Sgemm('N', 'N', n, n, n, 1, x, n, x, n, 0, y, n) })
	b.LeastProduct64 = math.Inf(1)
	if c.F64 {
		b.LeastProduct64 = 0
		b.LeastProduct64 = least(func(n int, x, y []float64) { b.Dgemm('N', 'N', n, n, n, 1, x, n, x, n, 0, y, n) },
			func(n int, x, y []float64) { b.Implementation.Dgemm('N', 'N', n, n, n, 1, x, n, x, n, 0, y, n) })
	}
	return b, nil
}

// least returns the number of multiplications from which a product on the device takes less time than gonum's.
func least[T float](device, own func(n int, x, y []T)) float64 {
	best := func(n int, run func(n int, x, y []T)) time.Duration {
		x, y := make([]T, n*n), make([]T, n*n)
		for i := range x {
			x[i] = T(i%7) - 3
		}
		run(n, x, y) // compiles the kernels
		fastest := time.Duration(math.MaxInt64)
		for range 3 {
			start := time.Now()
			run(n, x, y)
			fastest = min(fastest, time.Since(start))
		}
		return fastest
	}
	from := math.Inf(1)
	for _, n := range []int{512, 256, 128, 64} {
		if best(n, device) >= best(n, own) {
			break // A smaller one that seems to be faster is chance.
		}
		from = float64(n) * float64(n) * float64(n)
	}
	return from
}

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
	p := c.room(rows * cols)
	b := make([]byte, 0, rows*cols*size[T]())
	for i := range rows {
		var err error
		b, err = binary.Append(b, binary.LittleEndian, xs[i*ld:i*ld+cols])
		c.must(err)
	}
	c.must(c.dev.CopyHtoD(context.Background(), p, b))
	return p
}

// get copies such a matrix back, and nothing else.
func (c *call[T]) get(xs []T, p rawptr.Ptr, rows, cols, ld int) {
	row := cols * size[T]()
	b := make([]byte, rows*row)
	c.must(c.dev.CopyDtoH(context.Background(), b, p))
	for i := range rows {
		_, err := binary.Decode(b[i*row:(i+1)*row], binary.LittleEndian, xs[i*ld:i*ld+cols])
		c.must(err)
	}
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
func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
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
