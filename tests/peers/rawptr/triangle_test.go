package rawptr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/rawptr"
)

// triangles has the functions of a type that read or write triangles.
type triangles[T float] struct {
	epsilon    float64
	gonumSyrk  func(ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int)
	gonumTrmm  func(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int)
	deviceSyrk func(ul rawptr.Uplo, t rawptr.Transpose, n, k int, alpha T, a rawptr.Ptr, lda int, beta T, c rawptr.Ptr, ldc int) error
	deviceTrmm func(s rawptr.Side, ul rawptr.Uplo, t rawptr.Transpose, d rawptr.Diag, m, n int, alpha T, a rawptr.Ptr, lda int, b rawptr.Ptr, ldb int) error
}

// other is the other one of two values.
func other[T comparable](x, a, b T) T {
	if x == a {
		return b
	}
	return a
}

// near compares all elements. Errors are those of sums of terms products.
func near[T float](t *testing.T, what string, epsilon float64, terms int, got, want []T) {
	t.Helper()
	for i, x := range want {
		if diff := math.Abs(float64(got[i] - x)); !(diff <= 4*epsilon*float64(terms+4)) {
			t.Fatalf("%s: element %d is %v, gonum has %v", what, i, got[i], x)
		}
	}
}

// compare compares all forms, at sizes around those of blocks. gonum is row-major: it sees the transposes, so sides and triangles are the other
// ones.
func (f triangles[T]) compare(t *testing.T, d *rawptr.Device) {
	const most = 140
	r := rand.New(rand.NewPCG(testlevel.Seed(t), 5))
	a, b := newBuffer[T](t, d, most*most), newBuffer[T](t, d, most*most)
	sizes := []int{1, 2, 13, 31, 32, 33, 63, 65, 96, 127, 129}
	factors := []T{0, 1, -1, 0.7}
	any := func(of []int) int { return of[r.IntN(len(of))] }
	for _, uplo := range []rawptr.Uplo{rawptr.Upper, rawptr.Lower} {
		for _, trans := range transposes {
			for _, alpha := range factors {
				for _, beta := range factors {
					n, k := any(sizes), any(sizes)
					rows, cols := n, k
					if trans != rawptr.NoTrans {
						rows, cols = k, n
					}
					lda, ldc := rows+1+r.IntN(3), n+1+r.IntN(3)
					xa, xc := random[T](r, lda*cols), random[T](r, ldc*n)
					a.put(t, xa)
					b.put(t, xc)
					if err := f.deviceSyrk(uplo, trans, n, k, alpha, a.p, lda, beta, b.p, ldc); err != nil {
						t.Fatal(err)
					}
					f.gonumSyrk(blas.Uplo(other(uplo, rawptr.Upper, rawptr.Lower)), blas.Transpose(other(trans, rawptr.NoTrans, rawptr.Trans)), n, k, alpha, xa, lda, beta, xc, ldc)
					near(t, fmt.Sprintf("syrk %c%c %d, %d, α %v, β %v", uplo, trans, n, k, alpha, beta), f.epsilon, k, b.get(t, len(xc)), xc)
				}
				for _, side := range []rawptr.Side{rawptr.Left, rawptr.Right} {
					for _, diag := range []rawptr.Diag{rawptr.NonUnit, rawptr.Unit} {
						m, n := any(sizes), any(sizes)
						order := m
						if side == rawptr.Right {
							order = n
						}
						lda, ldb := order+1+r.IntN(3), m+1+r.IntN(3)
						xa, xb := random[T](r, lda*order), random[T](r, ldb*n)
						a.put(t, xa)
						b.put(t, xb)
						if err := f.deviceTrmm(side, uplo, trans, diag, m, n, alpha, a.p, lda, b.p, ldb); err != nil {
							t.Fatal(err)
						}
						f.gonumTrmm(blas.Side(other(side, rawptr.Left, rawptr.Right)), blas.Uplo(other(uplo, rawptr.Upper, rawptr.Lower)), blas.Transpose(trans), blas.Diag(diag), n, m, alpha, xa, lda, xb, ldb)
						near(t, fmt.Sprintf("trmm %c%c%c%c %d×%d α %v", side, uplo, trans, diag, m, n, alpha), f.epsilon, order, b.get(t, len(xb)), xb)
					}
				}
			}
		}
	}
}

func TestTriangles(t *testing.T) {
	d, g := open(t), gonum.Implementation{}
	triangles[float32]{0x1p-23, g.Ssyrk, g.Strmm, d.Ssyrk, d.Strmm}.compare(t, d)
	if c, err := d.Capabilities(); err == nil && c.F64 {
		triangles[float64]{0x1p-52, g.Dsyrk, g.Dtrmm, d.Dsyrk, d.Dtrmm}.compare(t, d)
	}
}
