// Package rawptr compares the BLAS of lathe's package rawptr with gonum's.
package rawptr

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/rawptr"
)

// float is what gonum and the devices compute with.
type float interface{ float32 | float64 }

// blasOf has the products of a type.
type blasOf[T float] struct {
	epsilon float64
	gonum   func(ta, tb blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	device  func(ta, tb rawptr.Transpose, m, n, k int, alpha T, a rawptr.Ptr, lda int, b rawptr.Ptr, ldb int, beta T, c rawptr.Ptr, ldc int) error
	batched func(ta, tb rawptr.Transpose, m, n, k int, alpha T, a rawptr.Ptr, lda, strideA int, b rawptr.Ptr, ldb, strideB int, beta T, c rawptr.Ptr, ldc, strideC, batch int) error
}

// open opens the device that is chosen on this machine.
func open(t *testing.T) *rawptr.Device {
	t.Helper()
	d := rawptr.New()
	err := d.Init(t.Context())
	testkit.Opened(t, err)
	return testkit.Device(t, d, err)
}

func bytesOf[T float](xs []T) []byte {
	b := make([]byte, 0, len(xs)*binary.Size(T(0)))
	b, _ = binary.Append(b, binary.LittleEndian, xs) // of numbers it does not fail
	return b
}

// buffer is memory that is allocated once for many products.
type buffer[T float] struct {
	d *rawptr.Device
	p rawptr.Ptr
	n int
}

func newBuffer[T float](t *testing.T, d *rawptr.Device, n int) *buffer[T] {
	t.Helper()
	p, err := d.Alloc(int64(n * binary.Size(T(0))))
	if err != nil {
		t.Fatal(err)
	}
	return &buffer[T]{d, p, n}
}

// put copies numbers to the start of the buffer.
func (b *buffer[T]) put(t *testing.T, xs []T) {
	t.Helper()
	if err := b.d.CopyHtoD(t.Context(), b.p, bytesOf(xs)); err != nil {
		t.Fatal(err)
	}
}

// get reads numbers from the start of the buffer.
func (b *buffer[T]) get(t *testing.T, n int) []T {
	t.Helper()
	raw := make([]byte, n*binary.Size(T(0)))
	if err := b.d.CopyDtoH(t.Context(), raw, b.p); err != nil {
		t.Fatal(err)
	}
	xs := make([]T, n)
	if _, err := binary.Decode(raw, binary.LittleEndian, xs); err != nil {
		t.Fatal(err)
	}
	return xs
}

// sizes are those of a matrix: rows and columns as they are stored, and the leading dimension.
type sizes struct{ rows, cols, ld int }

func sizesOf(r *rand.Rand, trans rawptr.Transpose, rows, cols int) sizes {
	if trans != rawptr.NoTrans {
		rows, cols = cols, rows
	}
	return sizes{rows, cols, max(rows, 1) + 1 + r.IntN(3)} // larger than it must be
}

// length is the number of elements that a column-major matrix needs in gonum's eyes.
func (s sizes) length() int { return s.ld*max(s.cols, 1) + s.rows }

func random[T float](r *rand.Rand, n int) []T {
	xs := make([]T, n)
	for i := range xs {
		xs[i] = T(2*r.Float64() - 1)
	}
	return xs
}

var transposes = []rawptr.Transpose{rawptr.NoTrans, rawptr.Trans, rawptr.ConjTrans}

// conforms compares products of all transposes, factors, and sizes around those of the kernels. gonum is
// row-major: what it sees as Cᵀ = op(B)ᵀ·op(A)ᵀ is the product in column-major order.
func conforms[T float](t *testing.T, d *rawptr.Device, f blasOf[T]) {
	tile, err := d.RecommendedTile(1024, 1024, 1024)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(testlevel.Seed(t), 1))
	dims := []int{0, 1, 2, 13}
	ms := append(dims[:len(dims):len(dims)], tile.M-1, tile.M, tile.M+1)
	ns := append(dims[:len(dims):len(dims)], tile.N-1, tile.N, tile.N+1)
	ks := append(dims[:len(dims):len(dims)], 31, 33)
	factors := []T{0, 1, -1, 0.7}
	most := 1
	for _, n := range [][]int{ms, ns, ks} {
		for _, x := range n {
			most = max(most, x)
		}
	}
	a, b, c := newBuffer[T](t, d, (most+4)*(most+2)), newBuffer[T](t, d, (most+4)*(most+2)), newBuffer[T](t, d, (most+4)*(most+2))
	try := func(ta, tb rawptr.Transpose, alpha, beta T, m, n, k int) {
		t.Helper()
		what := fmt.Sprintf("%c%c %d×%d×%d α %v β %v", ta, tb, m, n, k, alpha, beta)
		sa, sb, sc := sizesOf(r, ta, m, k), sizesOf(r, tb, k, n), sizesOf(r, rawptr.NoTrans, m, n)
		xa, xb, xc := random[T](r, sa.length()), random[T](r, sb.length()), random[T](r, sc.length())
		if beta == 0 { // It is not read.
			for i := range xc {
				xc[i] = T(math.NaN())
			}
		}
		pb := b.p
		if aliased := ta == tb && m == k && k == n; aliased {
			xb, sb, pb = xa, sa, a.p
		}
		a.put(t, xa)
		if pb != a.p {
			b.put(t, xb)
		}
		c.put(t, xc)
		if err := f.device(ta, tb, m, n, k, alpha, a.p, sa.ld, pb, sb.ld, beta, c.p, sc.ld); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got := c.get(t, len(xc))
		f.gonum(blas.Transpose(tb), blas.Transpose(ta), n, m, k, alpha, xb, sb.ld, xa, sa.ld, beta, xc, sc.ld)
		for i, want := range xc {
			inside := i%sc.ld < m && i/sc.ld < n
			x, y := float64(got[i]), float64(want)
			switch {
			case !inside && (x == y || math.IsNaN(x) && math.IsNaN(y)):
			case !inside:
				t.Fatalf("%s: element %d is not of C, and was changed from %v to %v", what, i, y, x)
			case !(math.Abs(x-y) <= 4*f.epsilon*float64(k+4)):
				t.Fatalf("%s: element %d is %v, gonum has %v", what, i, x, y)
			}
		}
	}
	for _, ta := range transposes {
		for _, tb := range transposes {
			for _, alpha := range factors {
				for _, beta := range factors {
					for _, m := range ms {
						for _, n := range ns {
							for _, k := range ks {
								try(ta, tb, alpha, beta, m, n, k)
							}
						}
					}
				}
			}
		}
	}
}

func TestSgemm(t *testing.T) {
	d := open(t)
	conforms(t, d, blasOf[float32]{epsilon: 0x1p-23, gonum: gonum.Implementation{}.Sgemm, device: d.GemmF32})
}

func TestDgemm(t *testing.T) {
	d := open(t)
	c, err := d.Capabilities()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Ability(t, c.F64, c.Device.Name, "float64")
	conforms(t, d, blasOf[float64]{epsilon: 0x1p-52, gonum: gonum.Implementation{}.Dgemm, device: d.Gemm})
}

// batches compares a batch with single products.
func batches[T float](t *testing.T, d *rawptr.Device, f blasOf[T]) {
	r := rand.New(rand.NewPCG(testlevel.Seed(t), 2))
	for round := range 40 {
		ta, tb := transposes[r.IntN(3)], transposes[r.IntN(3)]
		m, n, k, batch := 1+r.IntN(40), 1+r.IntN(40), r.IntN(40), 1+r.IntN(6)
		sa, sb, sc := sizesOf(r, ta, m, k), sizesOf(r, tb, k, n), sizesOf(r, rawptr.NoTrans, m, n)
		strideA, strideB, strideC := sa.length()*r.IntN(2), sb.length()*r.IntN(2), sc.length()
		xa, xb, xc := random[T](r, batch*sa.length()), random[T](r, batch*sb.length()), random[T](r, batch*sc.length())
		a, b, c := newBuffer[T](t, d, len(xa)), newBuffer[T](t, d, len(xb)), newBuffer[T](t, d, len(xc))
		a.put(t, xa)
		b.put(t, xb)
		c.put(t, xc)
		if err := f.batched(ta, tb, m, n, k, 0.7, a.p, sa.ld, strideA, b.p, sb.ld, strideB, -1, c.p, sc.ld, strideC, batch); err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			f.gonum(blas.Transpose(tb), blas.Transpose(ta), n, m, k, 0.7, xb[i*strideB:], sb.ld, xa[i*strideA:], sa.ld, -1, xc[i*strideC:], sc.ld)
		}
		for i, x := range c.get(t, len(xc)) {
			if !(math.Abs(float64(x-xc[i])) <= 4*f.epsilon*float64(k+4)) {
				t.Fatalf("round %d, %c%c %d of %d×%d×%d: element %d is %v, gonum has %v", round, ta, tb, batch, m, n, k, i, x, xc[i])
			}
		}
		for _, p := range []rawptr.Ptr{a.p, b.p, c.p} {
			if err := d.Free(p); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestBatches(t *testing.T) {
	d := open(t)
	batches(t, d, blasOf[float32]{epsilon: 0x1p-23, gonum: gonum.Implementation{}.Sgemm, batched: d.BatchedGemmF32})
	if c, err := d.Capabilities(); err == nil && c.F64 {
		batches(t, d, blasOf[float64]{epsilon: 0x1p-52, gonum: gonum.Implementation{}.Dgemm, batched: d.BatchedGemm})
	}
}
