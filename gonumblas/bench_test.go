package gonumblas

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas"

	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/rawptr"
)

// benchmark is a function of BLAS on vectors of n elements, or on matrices of n × n. B is the BLAS of a type.
type benchmark[T float, B any] struct {
	name  string
	sizes []int
	// matrix says that there is a matrix a, and square that x and y are matrices too.
	matrix, square bool
	run            func(on B, n int, a, x, y []T)
}

// BenchmarkCalls measures calls on the device, the copies of their operands included, beside gonum's own. docs/performance-log.md has figures.
func BenchmarkCalls(b *testing.B) {
	d := rawptr.New()
	err := d.Init(b.Context())
	testkit.Opened(b, err)
	testkit.Device(b, d, err)
	c, err := d.Capabilities()
	if err != nil {
		b.Fatal(err)
	}
	device := &BLAS{dev: d, f64: c.F64}
	measure(b, "F32", blas.Float32(device), blas.Float32(device.Implementation), []benchmark[float32, blas.Float32]{
		{"gemm", products, true, true, func(on blas.Float32, n int, a, x, y []float32) { on.Sgemm('N', 'N', n, n, n, 1, a, n, x, n, 0, y, n) }},
		{"gemv", matrices, true, false, func(on blas.Float32, n int, a, x, y []float32) { on.Sgemv('N', n, n, 1, a, n, x, 1, 0, y, 1) }},
		{"dot", vectors, false, false, func(on blas.Float32, n int, _, x, y []float32) { on.Sdot(n, x, 1, y, 1) }},
		{"axpy", vectors, false, false, func(on blas.Float32, n int, _, x, y []float32) { on.Saxpy(n, 1, x, 1, y, 1) }},
	})
	measure(b, "F64", blas.Float64(device), blas.Float64(device.Implementation), []benchmark[float64, blas.Float64]{
		{"gemm", products, true, true, func(on blas.Float64, n int, a, x, y []float64) { on.Dgemm('N', 'N', n, n, n, 1, a, n, x, n, 0, y, n) }},
		{"gemv", matrices, true, false, func(on blas.Float64, n int, a, x, y []float64) { on.Dgemv('N', n, n, 1, a, n, x, 1, 0, y, 1) }},
		{"dot", vectors, false, false, func(on blas.Float64, n int, _, x, y []float64) { on.Ddot(n, x, 1, y, 1) }},
		{"axpy", vectors, false, false, func(on blas.Float64, n int, _, x, y []float64) { on.Daxpy(n, 1, x, 1, y, 1) }},
	})
}

var products, matrices, vectors = []int{64, 128, 256, 512, 1024}, []int{64, 512, 2048}, []int{1 << 10, 1 << 16, 1 << 20}

func measure[T float, B any](b *testing.B, dtype string, device, own B, of []benchmark[T, B]) {
	for _, f := range of {
		for _, n := range f.sizes {
			side := n
			if f.square {
				side = n * n
			}
			var a []T
			if f.matrix {
				a = make([]T, n*n)
			}
			x, y := make([]T, side), make([]T, side)
			for i := range x {
				x[i] = T(i%7) - 3
			}
			for i := range a {
				a[i] = T(i%5) - 2
			}
			for name, on := range map[string]B{"device": device, "gonum": own} {
				b.Run(fmt.Sprintf("%s/%s/%d/%s", f.name, dtype, n, name), func(b *testing.B) {
					f.run(on, n, a, x, y) // compiles the kernels
					for b.Loop() {
						f.run(on, n, a, x, y)
					}
				})
			}
		}
	}
}
