package gonumblas

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/blas/testblas"
	"gonum.org/v1/gonum/mat"

	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/rawptr"
)

// device is the device that is chosen on this machine.
func device(t *testing.T) rawptr.Backend {
	t.Helper()
	d := rawptr.New()
	err := d.Init(t.Context())
	testkit.Opened(t, err)
	return testkit.Device(t, d, err)
}

// all is a BLAS that sends every call to the device.
func all(t *testing.T) *BLAS {
	t.Helper()
	d := device(t)
	c, err := d.Capabilities()
	if err != nil {
		t.Fatal(err)
	}
	return &BLAS{dev: d, f64: c.F64}
}

// gonum's own suite passes on the device.
func TestSuite(t *testing.T) {
	b := all(t)
	testkit.Ability(t, b.f64, b.dev.Name(), "float64")
	counted := &counting{Backend: b.dev}
	b.dev = counted
	for name, test := range map[string]func(t *testing.T){
		"Dgemm": func(t *testing.T) { testblas.TestDgemm(t, b) },
		"Dgemv": func(t *testing.T) { testblas.DgemvTest(t, b) },
		"Dsyrk": func(t *testing.T) { testblas.DsyrkTest(t, b) },
		"Dtrmm": func(t *testing.T) { testblas.DtrmmTest(t, b) },
		"Dtrsm": func(t *testing.T) { testblas.DtrsmTest(t, b) },
		"Dger":  func(t *testing.T) { testblas.DgerTest(t, b) },
		"Ddot":  func(t *testing.T) { testblas.DdotTest(t, b) }, "Dnrm2": func(t *testing.T) { testblas.Dnrm2Test(t, b) },
		"Dasum": func(t *testing.T) { testblas.DasumTest(t, b) }, "Idamax": func(t *testing.T) { testblas.IdamaxTest(t, b) },
		"Dswap": func(t *testing.T) { testblas.DswapTest(t, b) }, "Dcopy": func(t *testing.T) { testblas.DcopyTest(t, b) },
		"Daxpy": func(t *testing.T) { testblas.DaxpyTest(t, b) }, "Dscal": func(t *testing.T) { testblas.DscalTest(t, b) },
	} {
		counted.n = 0
		t.Run(name, test)
		if counted.n < 3 {
			t.Errorf("%s: only %d calls went to the device", name, counted.n)
		}
	}
}

// counting counts allocations, of which each call on the device makes some.
type counting struct {
	rawptr.Backend
	n int
}

func (c *counting) Alloc(bytes int64) (rawptr.Ptr, error) {
	c.n++
	return c.Backend.Alloc(bytes)
}

// The functions of float32 are those of gonum.
func TestFloat32(t *testing.T) {
	b, g := all(t), gonum.Implementation{}
	r := rand.New(rand.NewPCG(testlevel.Seed(t), 3))
	random := func(n int) []float32 {
		xs := make([]float32, n)
		for i := range xs {
			xs[i] = 2*r.Float32() - 1
		}
		return xs
	}
	near := func(what string, got, want []float32) {
		t.Helper()
		for i := range got {
			if !(math.Abs(float64(got[i]-want[i])) <= 2e-5) {
				t.Fatalf("%s: element %d is %v, gonum has %v", what, i, got[i], want[i])
			}
		}
	}
	clone := func(xs []float32) []float32 { return append([]float32(nil), xs...) }
	for round := range 40 {
		m, n, k := 1+r.IntN(30), 1+r.IntN(30), 1+r.IntN(30)
		incX, incY := []int{1, 2, -1, -3}[r.IntN(4)], []int{1, 2, -1, -3}[r.IntN(4)]
		tA, tB := []blas.Transpose{'N', 'T', 'C'}[r.IntN(3)], []blas.Transpose{'N', 'T', 'C'}[r.IntN(3)]
		lda, ldb, ldc := max(m, n, k)+r.IntN(3), max(m, n, k)+r.IntN(3), n+r.IntN(3)
		a, c, d := random(lda*(max(m, n, k)+1)), random(ldb*(max(m, n, k)+1)), random(ldc*(m+1))
		x, y := random(100), random(100)
		what := func(name string) string { return fmt.Sprintf("round %d: %s %d, %d, %d", round, name, m, n, k) }
		got, want := clone(d), clone(d)
		b.Sgemm(tA, tB, m, n, k, 0.7, a, lda, c, ldb, -1, got, ldc)
		g.Sgemm(tA, tB, m, n, k, 0.7, a, lda, c, ldb, -1, want, ldc)
		near(what("sgemm"), got, want)
		side, ul, diag := []blas.Side{'L', 'R'}[r.IntN(2)], []blas.Uplo{'U', 'L'}[r.IntN(2)], []blas.Diag{'U', 'N'}[r.IntN(2)]
		got, want = clone(d), clone(d)
		b.Strmm(side, ul, tA, diag, m, n, 0.7, a, lda, got, ldc)
		g.Strmm(side, ul, tA, diag, m, n, 0.7, a, lda, want, ldc)
		near(what("strmm"), got, want)
		got = random(lda * max(m, k))
		want = clone(got)
		b.Ssyrk(ul, tA, m, k, 0.7, c, ldb, -1, got, lda)
		g.Ssyrk(ul, tA, m, k, 0.7, c, ldb, -1, want, lda)
		near(what("ssyrk"), got, want)
		got, want = clone(y), clone(y)
		b.Sgemv(tA, m, n, 0.7, a, lda, x, incX, -1, got, incY)
		g.Sgemv(tA, m, n, 0.7, a, lda, x, incX, -1, want, incY)
		near(what("sgemv"), got, want)
		got, want = clone(d), clone(d)
		// Sger of gonum 0.17 reads wrong elements where an increment is negative; Dger does not.
		b.Sger(m, n, 0.7, x, max(incX, -incX), y, max(incY, -incY), got, ldc)
		g.Sger(m, n, 0.7, x, max(incX, -incX), y, max(incY, -incY), want, ldc)
		near(what("sger"), got, want)
		near(what("sdot"), []float32{b.Sdot(n, x, incX, y, incY)}, []float32{g.Sdot(n, x, incX, y, incY)})
		one := max(incX, -incX)
		near(what("snrm2"), []float32{b.Snrm2(n, x, one), b.Sasum(n, x, one), float32(b.Isamax(n, x, one))}, []float32{g.Snrm2(n, x, one), g.Sasum(n, x, one), float32(g.Isamax(n, x, one))})
		gx, gy, wx, wy := clone(x), clone(y), clone(x), clone(y)
		b.Sswap(n, gx, incX, gy, incY)
		g.Sswap(n, wx, incX, wy, incY)
		b.Sscal(n, 0.7, gx, one)
		g.Sscal(n, 0.7, wx, one)
		b.Saxpy(n, 0.7, gx, incX, gy, incY)
		g.Saxpy(n, 0.7, wx, incX, wy, incY)
		b.Scopy(m, gy, incX, gx, incY)
		g.Scopy(m, wy, incX, wx, incY)
		near(what("vectors"), append(gx, gy...), append(wx, wy...))
	}
}

// A program of gonum that multiplies matrices needs no change.
func TestUse(t *testing.T) {
	b := all(t)
	blas64.Use(b)
	defer blas64.Use(gonum.Implementation{})
	x := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	var y mat.Dense
	y.Mul(x, x.T())
	if want := mat.NewDense(2, 2, []float64{5, 11, 11, 25}); !mat.EqualApprox(&y, want, 1e-12) {
		t.Errorf("x·xᵀ is %v", mat.Formatted(&y))
	}
}

// Small products and vectors stay gonum's.
func TestThreshold(t *testing.T) {
	b, err := New(device(t))
	if err != nil {
		t.Fatal(err)
	}
	counted := &counting{Backend: b.dev}
	b.dev = counted
	if b.LeastProduct32 < 64*64*64 || b.LeastProduct64 < 64*64*64 {
		t.Errorf("measured thresholds %v and %v", b.LeastProduct32, b.LeastProduct64)
	}
	x := []float64{1, 2, 3, 4}
	y := make([]float64, 4)
	b.Dgemm('N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, y, 2)
	if dot := b.Ddot(4, x, 1, x, 1); dot != 30 || y[0] != 7 || counted.n != 0 {
		t.Errorf("x·x is %v, x² is %v, and %d calls went to the device", dot, y, counted.n)
	}
	b.LeastProduct64 = 8
	b.Dgemm('N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, y, 2)
	if b.f64 && counted.n != 3 || y[3] != 22 {
		t.Errorf("x² is %v, with %d allocations on the device (want 3)", y, counted.n)
	}
}

// full is a backend that has no memory left.
type full struct{ rawptr.Backend }

func (full) Alloc(int64) (rawptr.Ptr, error) { return 0, errFull }

var errFull = errors.New("the device is full")

// New returns the error of a device with which nothing can be measured.
func TestNewFails(t *testing.T) {
	if b, err := New(full{device(t)}); b != nil || !errors.Is(err, errFull) {
		t.Errorf("got %v, %v; want the error of the device", b, err)
	}
}

// Goroutines that write to blocks of one matrix at the same time do not see each other: what lies between the rows of a block is
// neither read nor written. The race detector looks too.
func TestBlocks(t *testing.T) {
	b := all(t)
	testkit.Ability(t, b.f64, b.dev.Name(), "float64")
	const blocks, side = 8, 8
	r := rand.New(rand.NewPCG(5, 6))
	a := make([]float64, side*side)
	for i := range a {
		a[i] = r.Float64()
	}
	got, want := make([]float64, blocks*side*side), make([]float64, blocks*side*side)
	var running sync.WaitGroup
	for g := range blocks {
		running.Go(func() {
			for range 20 {
				b.Dgemm(blas.NoTrans, blas.NoTrans, side, side, side, 1, a, side, a, side, 0.5, got[g*side:], blocks*side)
				b.Daxpy(side, 0.5, a, side, got[g*side:], blocks*side)
				b.Dsyrk(blas.Upper, blas.NoTrans, side, side, -0.5, a, side, 0.5, got[g*side:], blocks*side)
			}
		})
	}
	running.Wait()
	for g := range blocks {
		for range 20 {
			b.Implementation.Dgemm(blas.NoTrans, blas.NoTrans, side, side, side, 1, a, side, a, side, 0.5, want[g*side:], blocks*side)
			b.Implementation.Daxpy(side, 0.5, a, side, want[g*side:], blocks*side)
			b.Implementation.Dsyrk(blas.Upper, blas.NoTrans, side, side, -0.5, a, side, 0.5, want[g*side:], blocks*side)
		}
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// Goroutines that compute the two triangles of one matrix do not see each other either.
func TestTwoTriangles(t *testing.T) {
	b := all(t)
	testkit.Ability(t, b.f64, b.dev.Name(), "float64")
	const n = 12
	r := rand.New(rand.NewPCG(7, 8))
	a := make([]float64, n*n)
	for i := range a {
		a[i] = r.Float64()
	}
	c := make([]float64, (n+1)*(n+1))
	var running sync.WaitGroup
	// One is above the diagonal, and one has it and what is below.
	running.Go(func() { b.Dsyrk(blas.Upper, blas.NoTrans, n, n, 1, a, n, 0, c[1:], n+1) })
	running.Go(func() { b.Dsyrk(blas.Lower, blas.Trans, n, n, 1, a, n, 0, c, n+1) })
	running.Wait()
	for i := range n {
		for j := range n {
			var below, above float64
			for k := range n {
				below, above = below+a[k*n+i]*a[k*n+j], above+a[i*n+k]*a[j*n+k]
			}
			if j <= i && math.Abs(c[i*(n+1)+j]-below) > 1e-12 || j >= i && math.Abs(c[i*(n+1)+j+1]-above) > 1e-12 {
				t.Errorf("elements %d, %d are %v and %v, want %v and %v", i, j, c[i*(n+1)+j], c[i*(n+1)+j+1], below, above)
			}
		}
	}
}
