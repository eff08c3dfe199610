package rawptr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/rawptr"
)

// testSyrk compares a triangle with sums in float64. The other one, and what lies between the columns, keeps its bits. A may be a part of C.
func testSyrk[T real](t *testing.T, d rawptr.Backend, epsilon float64, syrk func(uplo rawptr.Uplo, trans rawptr.Transpose, n, k int, alpha T, a rawptr.Ptr, lda int, beta T, c rawptr.Ptr, ldc int) error) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, uplo := range []rawptr.Uplo{rawptr.Upper, rawptr.Lower} {
		for _, trans := range transposes {
			for _, factors := range [][2]T{{1, 0}, {0.7, 1}, {0, 0.7}, {-1, -0.5}, {0, 1}} {
				for _, inside := range []bool{false, true} {
					n := 1 + r.IntN(70)
					k, alpha, beta := r.IntN(n+1), factors[0], factors[1]
					rows, cols := n, k
					if trans != rawptr.NoTrans {
						rows, cols = k, n
					}
					lda, ldc := max(rows, 1)+r.IntN(3), n+r.IntN(3)
					as, cs := randoms[T](r, lda*max(cols, 1)), randoms[T](r, ldc*n)
					c := put(t, d, cs)
					a, as, lda := overlapping(t, d, inside, c, cs, ldc, as, lda)
					what := fmt.Sprintf("%c%c %d, %d, α %v, β %v, inside %v", uplo, trans, n, k, alpha, beta, inside)
					if err := syrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					got := get[T](t, d, c, len(cs))
					for at, x := range got {
						i, j := at%ldc, at/ldc
						want := float64(cs[at])
						counts := i < n && (i <= j && uplo == rawptr.Upper || i >= j && uplo == rawptr.Lower)
						if counts {
							want *= float64(beta)
							for l := range k {
								u, v := i+l*lda, j+l*lda
								if trans != rawptr.NoTrans {
									u, v = l+i*lda, l+j*lda
								}
								want += float64(alpha) * float64(as[u]) * float64(as[v])
							}
						}
						if diff := math.Abs(float64(x) - want); !(diff <= epsilon*100) || !counts && diff != 0 {
							t.Fatalf("%s: element %d, %d is %v (want %v)", what, i, j, x, want)
						}
					}
					free(t, d, c)
					if !inside {
						free(t, d, a)
					}
				}
			}
		}
	}
}

// overlapping returns where A is: in C, whose numbers it then has, or elsewhere.
func overlapping[T real](t *testing.T, d rawptr.Backend, inside bool, c rawptr.Ptr, cs []T, ldc int, as []T, lda int) (rawptr.Ptr, []T, int) {
	t.Helper()
	if inside {
		return c, cs, ldc
	}
	return put(t, d, as), as, lda
}

func TestSyrk(t *testing.T) {
	d := open(t)
	testSyrk(t, d, 0x1p-23, d.Ssyrk)
	if c, err := d.Capabilities(); err == nil && c.F64 {
		testSyrk(t, d, 0x1p-52, d.Dsyrk)
	}
	rec := recorder(t)
	p, q := alloc(t, rec, 8*16), alloc(t, rec, 8*16)
	rec.quiet(t, func() {
		for name, err := range map[string]error{
			"uplo": rec.Dsyrk('X', 'N', 2, 2, 1, p, 2, 0, q, 2), "trans": rec.Dsyrk('U', 'X', 2, 2, 1, p, 2, 0, q, 2), "n": rec.Dsyrk('U', 'N', -2, 2, 1, p, 2, 0, q, 2), "k": rec.Dsyrk('U', 'N', 2, -2, 1, p, 2, 0, q, 2),
			"lda": rec.Dsyrk('U', 'T', 2, 3, 1, p, 2, 0, q, 2), "ldc": rec.Dsyrk('U', 'N', 3, 2, 1, p, 3, 0, q, 2), "alpha": rec.Dsyrk('U', 'N', 2, 2, math.NaN(), p, 2, 0, q, 2), "beta": rec.Dsyrk('U', 'N', 2, 2, 1, p, 2, math.Inf(1), q, 2),
			"range": rec.Dsyrk('U', 'N', 5, 1, 1, p, 5, 0, q, 5),
		} {
			wantInvalid(t, name, err)
		}
		if err := rec.Ssyrk('U', 'N', 0, 2, 1, 1, 1, 1, 2, 1); err != nil {
			t.Errorf("no rows: %v", err)
		}
		if err := rec.Ssyrk('U', 'N', 2, 2, 0, p, 2, 1, q, 2); err != nil {
			t.Errorf("no change: %v", err)
		}
	})
}
