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
	"fmt"
	"math"
	"runtime"
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
	// float32 and float64, and functions with triangular matrices, go to the device. New measures them with GEMM. They do not change after the first call.
	LeastProduct32, LeastProduct64 float64
	// LeastVector is the number of elements of vectors and matrices from which the other functions go
	// to the device. They take less time than their operands take to be copied, at any size, so New sets it to infinity.
	LeastVector float64
}

var (
	_ blas.Float32 = (*BLAS)(nil)
	_ blas.Float64 = (*BLAS)(nil)
)

// New returns a BLAS over an open backend. It measures from which size on products are faster on the device than by
// gonum, copies included, for a second or two. If they are not at any size up to 512³, all products stay gonum's.
// Errors: those of Capabilities, and of the products that are measured.
func New(dev rawptr.Backend) (made *BLAS, err error) {
	defer func() { // calls of BLAS panic with the errors of the device
		switch e := recover().(type) {
		case nil:
		case runtime.Error:
			panic(e)
		case error:
			made, err = nil, fmt.Errorf("gonumblas: new: %w", e)
		default:
			panic(e)
		}
	}()
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
	from := math.Inf(1)
	for _, n := range []int{512, 256, 128, 64} {
		x, y := make([]T, n*n), make([]T, n*n)
		for i := range x {
			x[i] = T(i%7) - 3
		}
		limit := fastest(func() { own(n, x, y) }, math.MaxInt64)
		if fastest(func() { device(n, x, y) }, limit) >= limit {
			break // A smaller one that seems to be faster is chance.
		}
		from = float64(n) * float64(n) * float64(n)
	}
	return from
}

// fastest returns the time of the fastest of three runs, or of one that takes twice a limit. A run before them compiles the kernels.
func fastest(run func(), limit time.Duration) time.Duration {
	run()
	best := time.Duration(math.MaxInt64)
	for range 3 {
		start := time.Now()
		run()
		if best = min(best, time.Since(start)); best/2 >= limit {
			break
		}
	}
	return best
}

// products64 and products32 report whether a product with m·n·k multiplications goes to the device. A triangle counts as a square.
func (i *BLAS) products64(m, n, k int) bool {
	return i.f64 && float64(m)*float64(n)*float64(k) >= i.LeastProduct64
}

func (i *BLAS) products32(m, n, k int) bool {
	return float64(m)*float64(n)*float64(k) >= i.LeastProduct32
}

// vectors64 and vectors32 report whether a function on vectors, or on a matrix of m × n elements and vectors, does.
func (i *BLAS) vectors64(m, n int) bool { return i.f64 && i.vectors32(m, n) }

func (i *BLAS) vectors32(m, n int) bool { return float64(m)*float64(n) >= i.LeastVector }
