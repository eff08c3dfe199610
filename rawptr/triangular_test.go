package rawptr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/rawptr"
)

// testTriangular multiplies by triangular matrices: solutions, and wants α·B, or α·B, and wants products.
func testTriangular[T real](t *testing.T, d rawptr.Backend, epsilon float64, solved bool, call func(side rawptr.Side, uplo rawptr.Uplo, trans rawptr.Transpose, diag rawptr.Diag, m, n int, alpha T, a rawptr.Ptr, lda int, b rawptr.Ptr, ldb int) error) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, side := range []rawptr.Side{rawptr.Left, rawptr.Right} {
		for _, uplo := range []rawptr.Uplo{rawptr.Upper, rawptr.Lower} {
			for _, trans := range transposes {
				for _, diag := range []rawptr.Diag{rawptr.NonUnit, rawptr.Unit} {
					for _, alpha := range []T{0, 1, 0.7} {
						m, n := 1+r.IntN(40), 1+r.IntN(40)
						order := m
						if side == rawptr.Right {
							order = n
						}
						lda, ldb := order+r.IntN(3), m+r.IntN(3)
						what := fmt.Sprintf("%c%c%c%c %d×%d α %v", side, uplo, trans, diag, m, n, alpha)
						as, bs := randoms[T](r, lda*order), randoms[T](r, ldb*n)
						// op(A) has ones or more on its diagonal. What does not count is NaN.
						full := make([]float64, order*order)
						for i := range order {
							for j := range order {
								x := &as[i+j*lda]
								*x /= T(order)
								switch {
								case i == j && diag == rawptr.Unit, i < j && uplo == rawptr.Lower, i > j && uplo == rawptr.Upper:
									*x = T(math.NaN())
								case i == j:
									*x += 2
								}
								v := float64(*x)
								switch {
								case i == j && diag == rawptr.Unit:
									v = 1
								case math.IsNaN(v):
									v = 0
								}
								if trans == rawptr.NoTrans {
									full[i+j*order] = v
								} else {
									full[j+i*order] = v
								}
							}
						}
						a, b := put(t, d, as), put(t, d, bs)
						if err := call(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb); err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						xs := get[T](t, d, b, len(bs))
						if !solved { // What went in is the factor, and what came out the product.
							xs, bs = bs, xs
						}
						for i := range ldb {
							for j := range n {
								got := float64(xs[i+j*ldb])
								want := float64(bs[i+j*ldb])
								if i < m {
									got = 0
									if solved {
										want *= float64(alpha)
									}
									for k := range order {
										if side == rawptr.Left {
											got += full[i+k*order] * float64(xs[k+j*ldb])
										} else {
											got += float64(xs[i+k*ldb]) * full[k+j*order]
										}
									}
								}
								if i < m && !solved {
									got *= float64(alpha)
								}
								if !(math.Abs(got-want) <= epsilon*100) || i >= m && got != want {
									t.Fatalf("%s: element %d, %d is %v (want %v)", what, i, j, got, want)
								}
							}
						}
						free(t, d, a, b)
					}
				}
			}
		}
	}
}

func TestTriangular(t *testing.T) {
	d := open(t)
	testTriangular(t, d, 0x1p-23, true, d.Strsm)
	testTriangular(t, d, 0x1p-23, false, d.Strmm)
	if c, err := d.Capabilities(); err == nil && c.F64 {
		testTriangular(t, d, 0x1p-52, true, d.Dtrsm)
		testTriangular(t, d, 0x1p-52, false, d.Dtrmm)
	}
	rec := recorder(t)
	p, q := alloc(t, rec, 8*16), alloc(t, rec, 8*16)
	rec.quiet(t, func() {
		for name, err := range map[string]error{
			"side": rec.Dtrsm('X', 'U', 'N', 'N', 2, 2, 1, p, 2, q, 2), "uplo": rec.Dtrsm('L', 'X', 'N', 'N', 2, 2, 1, p, 2, q, 2), "trans": rec.Dtrsm('L', 'U', 'X', 'N', 2, 2, 1, p, 2, q, 2),
			"diag": rec.Dtrsm('L', 'U', 'N', 'X', 2, 2, 1, p, 2, q, 2), "m": rec.Dtrsm('L', 'U', 'N', 'N', -2, 2, 1, p, 2, q, 2), "lda": rec.Dtrsm('R', 'U', 'N', 'N', 2, 3, 1, p, 2, q, 2),
			"ldb": rec.Dtrsm('L', 'U', 'N', 'N', 3, 2, 1, p, 3, q, 2), "alpha": rec.Dtrsm('L', 'U', 'N', 'N', 2, 2, math.NaN(), p, 2, q, 2), "range": rec.Dtrsm('L', 'U', 'N', 'N', 5, 1, 1, p, 5, q, 5),
		} {
			wantInvalid(t, name, err)
		}
		wantInvalid(t, "trmm", rec.Dtrmm('L', 'X', 'N', 'N', 2, 2, 1, p, 2, q, 2))
		if err := rec.Strmm('L', 'U', 'N', 'N', 0, 2, 1, 1, 1, 2, 1); err != nil {
			t.Errorf("no rows: %v", err)
		}
		if err := rec.Strsm('L', 'U', 'N', 'N', 0, 2, 1, 1, 1, 2, 1); err != nil {
			t.Errorf("no rows: %v", err)
		}
	})
}
