package rawptr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/rawptr"
)

// real is F32 or F64.
type real interface{ float32 | float64 }

// level has the functions of BLAS of a type.
type level[T real] struct {
	epsilon          float64
	dot              func(n int, x rawptr.Ptr, incX int, y rawptr.Ptr, incY int, out rawptr.Ptr) error
	nrm2, asum, amax func(n int, x rawptr.Ptr, incX int, out rawptr.Ptr) error
	swap, copy       func(n int, x rawptr.Ptr, incX int, y rawptr.Ptr, incY int) error
	axpy             func(n int, alpha T, x rawptr.Ptr, incX int, y rawptr.Ptr, incY int) error
	scal             func(n int, alpha T, x rawptr.Ptr, incX int) error
	gemv             func(trans rawptr.Transpose, m, n int, alpha T, a rawptr.Ptr, lda int, x rawptr.Ptr, incX int, beta T, y rawptr.Ptr, incY int) error
	ger              func(m, n int, alpha T, x rawptr.Ptr, incX int, y rawptr.Ptr, incY int, a rawptr.Ptr, lda int) error
}

func level32(d rawptr.Backend) level[float32] {
	return level[float32]{0x1p-23, d.Sdot, d.Snrm2, d.Sasum, d.Isamax, d.Sswap, d.Scopy, d.Saxpy, d.Sscal, d.Sgemv, d.Sger}
}

func level64(d rawptr.Backend) level[float64] {
	return level[float64]{0x1p-52, d.Ddot, d.Dnrm2, d.Dasum, d.Idamax, d.Dswap, d.Dcopy, d.Daxpy, d.Dscal, d.Dgemv, d.Dger}
}

// place is where element i of a vector of BLAS lies.
func place(i, n, inc int) int {
	if inc < 0 {
		return (n - 1 - i) * -inc
	}
	return i * inc
}

// reach is how many elements a vector reaches over.
func reach(n, inc int) int {
	if n == 0 {
		return 0
	}
	return place(max(n-1, 0), n, max(inc, -inc)) + 1
}

func randoms[T real](r *rand.Rand, n int) []T {
	xs := make([]T, n)
	for i := range xs {
		xs[i] = T(2*r.Float64() - 1)
	}
	return xs
}

// testLevel compares the functions with loops over numbers of the host.
func testLevel[T real](t *testing.T, d rawptr.Backend, f level[T]) {
	r := rand.New(rand.NewPCG(27, 28))
	size := rawptr.Ptr(4)
	if f.epsilon < 1e-10 {
		size = 8
	}
	incs := []int{1, 2, 3, -1, -2}
	for round := range 60 {
		n := []int{0, 1, 2, 7, 33, 300}[r.IntN(6)]
		incX, incY := incs[r.IntN(len(incs))], incs[r.IntN(len(incs))]
		xs, ys := randoms[T](r, reach(n, incX)+2), randoms[T](r, reach(n, incY)+2)
		alpha := []T{0, 1, -1, 0.7}[r.IntN(4)]
		at := func(v []T, i, inc int) float64 { return float64(v[1+place(i, n, inc)]) }
		// check runs one function on new copies of both vectors, with guards on either side.
		check := func(name string, run func(x, y, out rawptr.Ptr) error, want func(wx, wy []T) float64) {
			t.Helper()
			what := fmt.Sprintf("round %d: %s of %d, increments %d and %d, α %v", round, name, n, incX, incY, alpha)
			x, y, out := put(t, d, xs), put(t, d, ys), put(t, d, []T{77, 77, 77})
			if err := run(x+size, y+size, out+size); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			wx, wy := append([]T(nil), xs...), append([]T(nil), ys...)
			number := want(wx, wy)
			for name, v := range map[string][2][]T{"x": {get[T](t, d, x, len(xs)), wx}, "y": {get[T](t, d, y, len(ys)), wy}} {
				for i, got := range v[0] {
					if !(math.Abs(float64(got-v[1][i])) <= 4*f.epsilon) {
						t.Fatalf("%s: %s: element %d is %v (want %v)", what, name, i, got, v[1][i])
					}
				}
			}
			result := get[T](t, d, out, 3)
			got := float64(result[1])
			if name == "amax" {
				got = float64(get[int32](t, d, out+size, 1)[0])
			}
			if !(math.Abs(got-number) <= 8*f.epsilon*float64(n+8)) || result[0] != 77 || result[2] != 77 {
				t.Fatalf("%s: got %v in %v (want %v)", what, got, result, number)
			}
			free(t, d, x, y, out)
		}
		check("dot", func(x, y, out rawptr.Ptr) error { return f.dot(n, x, incX, y, incY, out) }, func(_, _ []T) (sum float64) {
			for i := range n {
				sum += at(xs, i, incX) * at(ys, i, incY)
			}
			return sum
		})
		check("swap", func(x, y, _ rawptr.Ptr) error { return f.swap(n, x, incX, y, incY) }, func(wx, wy []T) float64 {
			for i := range n {
				a, b := &wx[1+place(i, n, incX)], &wy[1+place(i, n, incY)]
				*a, *b = *b, *a
			}
			return 77
		})
		check("copy", func(x, y, _ rawptr.Ptr) error { return f.copy(n, x, incX, y, incY) }, func(_, wy []T) float64 {
			for i := range n {
				wy[1+place(i, n, incY)] = T(at(xs, i, incX))
			}
			return 77
		})
		check("axpy", func(x, y, _ rawptr.Ptr) error { return f.axpy(n, alpha, x, incX, y, incY) }, func(_, wy []T) float64 {
			for i := range n {
				wy[1+place(i, n, incY)] += T(float64(alpha) * at(xs, i, incX))
			}
			return 77
		})
		incX = max(incX, -incX)
		xs = randoms[T](r, reach(n, incX)+2)
		check("scal", func(x, _, _ rawptr.Ptr) error { return f.scal(n, alpha, x, incX) }, func(wx, _ []T) float64 {
			for i := range n {
				wx[1+i*incX] *= alpha
			}
			return 77
		})
		check("asum", func(x, _, out rawptr.Ptr) error { return f.asum(n, x, incX, out) }, func(_, _ []T) (sum float64) {
			for i := range n {
				sum += math.Abs(at(xs, i, incX))
			}
			return sum
		})
		check("nrm2", func(x, _, out rawptr.Ptr) error { return f.nrm2(n, x, incX, out) }, func(_, _ []T) (sum float64) {
			for i := range n {
				sum += at(xs, i, incX) * at(xs, i, incX)
			}
			return math.Sqrt(sum)
		})
		check("amax", func(x, _, out rawptr.Ptr) error { return f.amax(n, x, incX, out) }, func(_, _ []T) float64 {
			best := -1
			for i := range n {
				if best < 0 || math.Abs(at(xs, i, incX)) > math.Abs(at(xs, best, incX)) {
					best = i
				}
			}
			return float64(best)
		})
	}
	for round := range 60 {
		m, n := r.IntN(30), r.IntN(30)
		incX, incY := incs[r.IntN(len(incs))], incs[r.IntN(len(incs))]
		alpha, beta := []T{0, 1, -1, 0.7}[r.IntN(4)], []T{0, 1, -1, 0.7}[r.IntN(4)]
		trans := transposes[r.IntN(3)]
		rows, cols := stored(trans, m, n)
		lda := max(m, 1) + r.IntN(3)
		as, xs, ys := randoms[T](r, lda*n+m+1), randoms[T](r, reach(max(m, n), incX)), randoms[T](r, reach(max(m, n), incY))
		what := fmt.Sprintf("round %d: %c %d×%d, increments %d and %d, α %v, β %v", round, trans, m, n, incX, incY, alpha, beta)
		a, x, y := put(t, d, as), put(t, d, xs), put(t, d, ys)
		if err := f.gemv(trans, m, n, alpha, a, lda, x, incX, beta, y, incY); err != nil {
			t.Fatalf("gemv, %s: %v", what, err)
		}
		want := append([]T(nil), ys...)
		if cols == 0 {
			rows = 0 // BLAS returns at once.
		}
		for i := range rows {
			sum := 0.0
			for k := range cols {
				at := i + k*lda
				if trans != rawptr.NoTrans {
					at = k + i*lda
				}
				sum += float64(as[at]) * float64(xs[place(k, cols, incX)])
			}
			to := &want[place(i, rows, incY)]
			*to = T(float64(alpha)*sum + float64(beta)*float64(*to))
		}
		for i, got := range get[T](t, d, y, len(ys)) {
			if math.Abs(float64(got-want[i])) > f.epsilon*40 {
				t.Fatalf("gemv, %s: element %d is %v (want %v)", what, i, got, want[i])
			}
		}
		if err := f.ger(m, n, alpha, x, incX, y, incY, a, lda); err != nil {
			t.Fatalf("ger, %s: %v", what, err)
		}
		ys = get[T](t, d, y, len(ys))
		for i := range m {
			for k := range n {
				as[i+k*lda] += T(float64(alpha) * float64(xs[place(i, m, incX)]) * float64(ys[place(k, n, incY)]))
			}
		}
		for i, got := range get[T](t, d, a, len(as)) {
			if math.Abs(float64(got-as[i])) > f.epsilon*40 {
				t.Fatalf("ger, %s: element %d is %v (want %v)", what, i, got, as[i])
			}
		}
		free(t, d, a, x, y)
	}
}

func TestVectors(t *testing.T) {
	d := open(t)
	t.Run("f32", func(t *testing.T) { testLevel(t, d, level32(d)) })
	t.Run("f64", func(t *testing.T) {
		if c, err := d.Capabilities(); err != nil || !c.F64 {
			wantError(t, "Ddot", d.Ddot(0, 1, 1, 1, 1, 1), errs.ErrUnsupported)
			return
		}
		testLevel(t, d, level64(d))
	})
}

// Squares of large and of small numbers neither overflow nor vanish, and what is no number comes through.
func TestNorm(t *testing.T) {
	d := open(t)
	out := alloc(t, d, 4)
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x    []float32
		want float64
	}{
		{[]float32{3e30, 4e30}, 5e30}, {[]float32{3e-30, -4e-30}, 5e-30}, {[]float32{0, 0, 0}, 0}, {[]float32{1, float32(inf)}, inf},
		{[]float32{float32(-inf), 1, float32(inf)}, inf}, {[]float32{1, float32(nan), 2}, nan}, {[]float32{-7}, 7}, {[]float32{math.MaxFloat32}, math.MaxFloat32},
	} {
		x := put(t, d, c.x)
		if err := d.Snrm2(len(c.x), x, 1, out); err != nil {
			t.Fatal(err)
		}
		got := float64(get[float32](t, d, out, 1)[0])
		if got != c.want && !(math.Abs(got-c.want) <= 1e-6*c.want) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("the norm of %v is %v (want %v)", c.x, got, c.want)
		}
		free(t, d, x)
	}
}

// Vectors may be interleaved, and be one vector.
func TestInterleavedVectors(t *testing.T) {
	d := open(t)
	p := put(t, d, []float32{1, 10, 2, 20, 3, 30})
	steps := []struct {
		name string
		run  func() error
		want []float32
	}{
		{"axpy", func() error { return d.Saxpy(3, 2, p, 2, p+4, 2) }, []float32{1, 12, 2, 24, 3, 36}},
		{"swap", func() error { return d.Sswap(3, p, 2, p+4, 2) }, []float32{12, 1, 24, 2, 36, 3}},
		{"copy", func() error { return d.Scopy(3, p, 2, p+4, -2) }, []float32{12, 36, 24, 24, 36, 12}},
		{"to itself", func() error { return d.Scopy(6, p, 1, p, 1) }, []float32{12, 36, 24, 24, 36, 12}},
		{"turned", func() error { return d.Scopy(6, p, 1, p, -1) }, []float32{12, 36, 24, 24, 36, 12}},
		{"twice itself", func() error { return d.Saxpy(3, 1, p, 1, p, 1) }, []float32{24, 72, 48, 24, 36, 12}},
		{"ger over its vectors", func() error { return d.Sger(2, 1, 1, p, 1, p, 1, p, 2) }, []float32{24 + 24*24, 72 + 72*24, 48, 24, 36, 12}},
	}
	for _, s := range steps {
		if err := s.run(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		for i, x := range get[float32](t, d, p, 6) {
			if x != s.want[i] {
				t.Errorf("%s: element %d is %v (want %v)", s.name, i, x, s.want[i])
			}
		}
	}
}

func TestVectorErrors(t *testing.T) {
	rec := recorder(t)
	d := rec.Device
	f := level64(d)
	p, q := alloc(t, d, 8*10), alloc(t, d, 8*10)
	nan := math.NaN()
	rec.quiet(t, func() {
		for name, err := range map[string]error{
			"n": f.dot(-1, p, 1, p, 1, q), "inc": f.dot(2, p, 0, p, 1, q), "another inc": f.dot(2, p, 1, p, 0, q), "range": f.dot(6, p, 2, p, 1, q), "range below": f.dot(6, p, -2, p, 1, q), "the result inside": f.dot(6, p, 1, p, 1, p+8),
			"least inc": f.dot(2, p, math.MinInt, p, 1, q), "large inc": f.dot(2, p, math.MaxInt, p, 1, q), "large n": f.dot(math.MaxInt, p, 1, p, 1, q), "the result": f.dot(2, p, 1, p, 1, 5),
			"nrm2, inc": f.nrm2(2, p, -1, q), "asum, range": f.asum(11, p, 1, q), "amax, inc": f.amax(2, p, 0, q), "amax, the result": f.amax(2, p, 1, p+1), "amax, inside": f.amax(2, p, 1, p+4),
			"swap, range": f.swap(11, p, 1, q, 1), "copy, address": f.copy(1, p, 1, 3, 1), "axpy, alpha": f.axpy(1, nan, p, 1, q, 1), "scal, alpha": f.scal(1, math.Inf(1), p, 1), "scal, inc": f.scal(1, 1, p, -1),
			"gemv, trans": f.gemv('X', 1, 1, 1, p, 1, p, 1, 1, q, 1), "gemv, lda": f.gemv('N', 3, 1, 1, p, 2, p, 1, 1, q, 1), "gemv, m": f.gemv('N', -3, 1, 1, p, 2, p, 1, 1, q, 1), "gemv, range": f.gemv('N', 3, 4, 1, p, 3, p, 1, 1, q, 1), "gemv, beta": f.gemv('T', 1, 1, 1, p, 1, p, 1, nan, q, 1),
			"ger, lda": f.ger(3, 1, 1, p, 1, p, 1, q, 2), "ger, n": f.ger(3, -1, 1, p, 1, p, 1, q, 3), "ger, range": f.ger(3, 4, 1, p, 1, p, 1, q, 3), "ger, alpha": f.ger(1, 1, nan, p, 1, p, 1, q, 1),
		} {
			wantInvalid(t, name, err)
		}
	})
	info := null.DefaultInfo()
	info.Features.F64 = false
	none := over(t, null.NewRecorder(&info))
	x := alloc(t, none, 64)
	for name, err := range map[string]error{
		"Ddot": none.Ddot(1, x, 1, x, 1, x+8), "Dnrm2": none.Dnrm2(1, x, 1, x+8), "Dasum": none.Dasum(1, x, 1, x+8), "Idamax": none.Idamax(1, x, 1, x+8), "Dswap": none.Dswap(1, x, 1, x+8, 1),
		"Dcopy": none.Dcopy(1, x, 1, x+8, 1), "Daxpy": none.Daxpy(1, 1, x, 1, x+8, 1), "Dscal": none.Dscal(1, 1, x, 1), "Dgemv": none.Dgemv('N', 1, 1, 1, x, 1, x, 1, 1, x+8, 1), "Dger": none.Dger(1, 1, 1, x, 1, x, 1, x+8, 1),
	} {
		wantError(t, name, err, errs.ErrUnsupported)
	}
}
