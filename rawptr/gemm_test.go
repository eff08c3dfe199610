package rawptr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/rawptr"
	"github.com/lathe-gpu/lathe/tensor"
)

// matrices are the numbers of a product.
type matrices struct {
	transA, transB      rawptr.Transpose
	m, n, k             int
	lda, ldb, ldc       int
	alpha, beta         float64
	strideA, strideB, z int // z is the stride of C
	batch               int
}

// stored are the rows and columns of a matrix as it lies.
func stored(t rawptr.Transpose, rows, cols int) (int, int) {
	if t == rawptr.NoTrans {
		return rows, cols
	}
	return cols, rows
}

// span is how many elements a batch of matrices reaches over.
func span(rows, cols, ld, stride, batch int) int {
	if rows*cols*batch == 0 {
		return 0
	}
	return (batch-1)*stride + (cols-1)*ld + rows
}

// product is the result of a product in float64, and the sum of the magnitudes of the terms of each
// element. Elements that are not of a matrix stay. An element whose size is below 0 is one of them.
func (v matrices) product(a, b, c []float64) (want, size []float64) {
	want, size = append([]float64(nil), c...), make([]float64, len(c))
	for i := range size {
		size[i] = -1
	}
	at := func(x []float64, t rawptr.Transpose, base, ld, i, j int) float64 {
		if t != rawptr.NoTrans {
			i, j = j, i
		}
		return x[base+i+j*ld]
	}
	for z := range v.batch {
		for j := range v.n {
			for i := range v.m {
				sum, terms := 0.0, 0.0
				if v.alpha != 0 {
					for k := range v.k {
						term := v.alpha * at(a, v.transA, z*v.strideA, v.lda, i, k) * at(b, v.transB, z*v.strideB, v.ldb, k, j)
						sum, terms = sum+term, terms+math.Abs(term)
					}
				}
				to := z*v.z + i + j*v.ldc
				if v.beta != 0 {
					sum, terms = sum+v.beta*c[to], terms+math.Abs(v.beta*c[to])
				}
				want[to], size[to] = sum, terms
			}
		}
	}
	return want, size
}

// precision is a kind of product.
type precision struct {
	name    string
	dtype   tensor.DType
	epsilon float64
	run     func(d rawptr.Backend, v matrices, a, b, c rawptr.Ptr) error
}

var precisions = []precision{
	{"f64", tensor.F64, 1e-14, func(d rawptr.Backend, v matrices, a, b, c rawptr.Ptr) error {
		if v.batch == 1 {
			return d.Gemm(v.transA, v.transB, v.m, v.n, v.k, v.alpha, a, v.lda, b, v.ldb, v.beta, c, v.ldc)
		}
		return d.BatchedGemm(v.transA, v.transB, v.m, v.n, v.k, v.alpha, a, v.lda, v.strideA, b, v.ldb, v.strideB, v.beta, c, v.ldc, v.z, v.batch)
	}},
	{"f32", tensor.F32, 4e-6, func(d rawptr.Backend, v matrices, a, b, c rawptr.Ptr) error {
		if v.batch == 1 {
			return d.GemmF32(v.transA, v.transB, v.m, v.n, v.k, float32(v.alpha), a, v.lda, b, v.ldb, float32(v.beta), c, v.ldc)
		}
		return d.BatchedGemmF32(v.transA, v.transB, v.m, v.n, v.k, float32(v.alpha), a, v.lda, v.strideA, b, v.ldb, v.strideB, float32(v.beta), c, v.ldc, v.z, v.batch)
	}},
	{"f16", tensor.F16, 1e-3, mixed(tensor.F16)},
	{"bf16", tensor.BF16, 8e-3, mixed(tensor.BF16)},
}

func mixed(dtype tensor.DType) func(d rawptr.Backend, v matrices, a, b, c rawptr.Ptr) error {
	return func(d rawptr.Backend, v matrices, a, b, c rawptr.Ptr) error {
		if v.batch == 1 {
			return d.GemmMixed(dtype, v.transA, v.transB, v.m, v.n, v.k, float32(v.alpha), a, v.lda, b, v.ldb, float32(v.beta), c, v.ldc)
		}
		return d.BatchedGemmMixed(dtype, v.transA, v.transB, v.m, v.n, v.k, float32(v.alpha), a, v.lda, v.strideA, b, v.ldb, v.strideB, float32(v.beta), c, v.ldc, v.z, v.batch)
	}
}

// host is a list of random numbers that a dtype can hold.
func host(r *rand.Rand, dtype tensor.DType, n int) *tensor.Host {
	h := tensor.NewHost(tensor.Contiguous(dtype, n))
	x := make([]float64, n)
	for i := range x {
		x[i] = 2*r.Float64() - 1
	}
	h.SetFloats(x)
	return h
}

// putHost copies a host's numbers to an address that lies inside an allocation.
func putHost(t testing.TB, d rawptr.Backend, h *tensor.Host) (base, p rawptr.Ptr) {
	t.Helper()
	const before = 24
	base = alloc(t, d, before+len(h.Data)+8)
	if err := d.CopyHtoD(t.Context(), base+before, h.Data); err != nil {
		t.Fatal(err)
	}
	return base, base + before
}

// check runs a product on random numbers, and compares the result.
func (p precision) check(t *testing.T, d rawptr.Backend, r *rand.Rand, v matrices) {
	t.Helper()
	what := fmt.Sprintf("%s %c%c %+v", p.name, v.transA, v.transB, v)
	ra, ca := stored(v.transA, v.m, v.k)
	rb, cb := stored(v.transB, v.k, v.n)
	ha, hb := host(r, p.dtype, span(ra, ca, v.lda, v.strideA, v.batch)), host(r, p.dtype, span(rb, cb, v.ldb, v.strideB, v.batch))
	hc := host(r, p.dtype, span(v.m, v.n, v.ldc, v.z, v.batch))
	baseA, a := putHost(t, d, ha)
	baseB, b := putHost(t, d, hb)
	baseC, c := putHost(t, d, hc)
	if err := p.run(d, v, a, b, c); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got := tensor.NewHost(hc.Desc)
	if err := d.CopyDtoH(t.Context(), got.Data, c); err != nil {
		t.Fatal(err)
	}
	want, size := v.product(ha.Floats(), hb.Floats(), hc.Floats())
	for i, x := range got.Floats() {
		switch {
		case size[i] < 0 && x != want[i]:
			t.Errorf("%s: element %d lies between the columns, and was changed from %v to %v", what, i, want[i], x)
		case size[i] >= 0 && !(math.Abs(x-want[i]) <= p.epsilon*(size[i]+1e-3)):
			t.Errorf("%s: element %d is %v (want %v)", what, i, x, want[i])
		default:
			continue
		}
		break
	}
	free(t, d, baseA, baseB, baseC)
}

var transposes = []rawptr.Transpose{rawptr.NoTrans, rawptr.Trans, rawptr.ConjTrans}

// supports reports whether a device has the dtype.
func supports(t testing.TB, d rawptr.Backend, dtype tensor.DType) bool {
	t.Helper()
	c, err := d.Capabilities()
	if err != nil {
		t.Fatal(err)
	}
	return dtype != tensor.F64 || c.F64
}

func TestGemm(t *testing.T) {
	d := open(t)
	factors := []float64{0, 1, -1, 0.5}
	for _, p := range precisions {
		t.Run(p.name, func(t *testing.T) {
			if !supports(t, d, p.dtype) {
				wantError(t, "without float64", d.Gemm('N', 'N', 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1), errs.ErrUnsupported)
				return
			}
			r := rand.New(rand.NewPCG(18, uint64(p.dtype)))
			for _, ta := range transposes {
				for _, tb := range transposes {
					for _, alpha := range factors {
						v := matrices{transA: ta, transB: tb, m: 1 + r.IntN(20), n: 1 + r.IntN(20), k: r.IntN(20), alpha: alpha, beta: factors[r.IntN(4)], batch: 1}
						ra, _ := stored(ta, v.m, v.k)
						rb, _ := stored(tb, v.k, v.n)
						v.lda, v.ldb, v.ldc = max(ra, 1)+r.IntN(4), max(rb, 1)+r.IntN(4), v.m+r.IntN(4)
						p.check(t, d, r, v)
						v.batch = 2 + r.IntN(4)
						sa, sb, sc := span(ra, max(v.m, v.k), v.lda, 0, 1), span(rb, max(v.n, v.k), v.ldb, 0, 1), v.n*v.ldc
						v.strideA, v.strideB, v.z = r.IntN(2)*(sa+r.IntN(3)), r.IntN(2)*(sb+r.IntN(3)), sc+r.IntN(3)
						p.check(t, d, r, v)
					}
				}
			}
			p.check(t, d, r, matrices{transA: 'N', transB: 'T', m: 129, n: 65, k: 67, lda: 130, ldb: 66, ldc: 131, alpha: 1, beta: 1, batch: 1})
		})
	}
}

// NaN in C does not survive where β is 0, and NaN in A and B does not come through where α is 0.
func TestGemmUnread(t *testing.T) {
	d := open(t)
	nan := float32(math.NaN())
	a, b := put(t, d, []float32{1, 2, 3, 4}), put(t, d, []float32{5, 6, 7, 8})
	bad := put(t, d, []float32{nan, nan, nan, nan})
	if err := d.GemmF32('N', 'N', 2, 2, 2, 1, a, 2, b, 2, 0, bad, 2); err != nil {
		t.Fatal(err)
	}
	want := []float32{23, 34, 31, 46}
	check := func(what string, p rawptr.Ptr) {
		t.Helper()
		for i, x := range get[float32](t, d, p, 4) {
			if x != want[i] {
				t.Errorf("%s: element %d is %v (want %v)", what, i, x, want[i])
			}
		}
	}
	check("β = 0", bad)
	nans := put(t, d, []float32{nan, nan, nan, nan})
	if err := d.GemmF32('N', 'T', 2, 2, 2, 0, nans, 2, nans, 2, 2, a, 2); err != nil {
		t.Fatal(err)
	}
	want = []float32{2, 4, 6, 8}
	check("α = 0", a)
	// Without k the addresses of A and B do not matter.
	if err := d.GemmF32('T', 'N', 2, 2, 0, 3, 1, 1, 2, 1, 0.5, a, 2); err != nil {
		t.Fatal(err)
	}
	want = []float32{1, 2, 3, 4}
	check("k = 0", a)
	if err := d.GemmF32('T', 'N', 2, 2, 0, 3, 1, 1, 2, 1, 0, nans, 2); err != nil {
		t.Fatal(err)
	}
	want = make([]float32, 4)
	check("k = 0, β = 0", nans)
}

// A and B may be one matrix, and all three may be blocks of one matrix, as in an elimination.
func TestGemmAliases(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(19, 20))
	const n, half = 20, 11
	h := host(r, tensor.F32, n*n)
	x := h.Floats()
	base := put(t, d, make([]float32, n*n))
	if err := d.CopyHtoD(t.Context(), base, h.Data); err != nil {
		t.Fatal(err)
	}
	element := func(i, j int) rawptr.Ptr { return base + rawptr.Ptr(4*(i+j*n)) }
	// X22 −= X21·X12, whose ranges of addresses overlap.
	if err := d.GemmF32('N', 'N', n-half, n-half, half, -1, element(half, 0), n, element(0, half), n, 1, element(half, half), n); err != nil {
		t.Fatal(err)
	}
	v := matrices{transA: 'N', transB: 'N', m: n - half, n: n - half, k: half, lda: n, ldb: n, ldc: n, alpha: -1, beta: 1, batch: 1}
	part, size := v.product(x[half:], x[half*n:], x[half+half*n:])
	want := append(append([]float64(nil), x[:half+half*n]...), part...)
	for i, got := range get[float32](t, d, base, n*n) {
		terms := 0.0
		if at := i - half - half*n; at >= 0 && size[at] >= 0 {
			terms = size[at]
		}
		if !near(got, want[i], terms) || terms == 0 && float64(got) != want[i] {
			t.Fatalf("element %d is %v (want %v)", i, got, want[i])
		}
	}
	// A·Aᵀ of one matrix, and a product over its own factor.
	a := put(t, d, []float32{1, 2, 3, 4})
	c := put(t, d, make([]float32, 4))
	for _, to := range []rawptr.Ptr{c, a} {
		if err := d.GemmF32('N', 'T', 2, 2, 2, 1, a, 2, a, 2, 0, to, 2); err != nil {
			t.Fatal(err)
		}
		for i, x := range get[float32](t, d, to, 4) {
			if want := []float32{10, 14, 14, 20}[i]; x != want {
				t.Errorf("A·Aᵀ: element %d is %v (want %v)", i, x, want)
			}
		}
	}
}

func TestGemmErrors(t *testing.T) {
	rec := recorder(t)
	d := rec.Device
	nan, inf := math.NaN(), math.Inf(1)
	p := alloc(t, d, 8*64)
	q := alloc(t, d, 8*64)
	good := matrices{transA: 'N', transB: 'N', m: 3, n: 4, k: 5, lda: 3, ldb: 5, ldc: 3, alpha: 1, beta: 1, batch: 2, strideA: 15, strideB: 20, z: 12}
	bad := map[string]func(v *matrices){
		"m": func(v *matrices) { v.m = -1 }, "n": func(v *matrices) { v.n = -1 }, "k": func(v *matrices) { v.k = -1 }, "batch": func(v *matrices) { v.batch = -1 },
		"lda": func(v *matrices) { v.lda = 2 }, "ldb": func(v *matrices) { v.ldb = 4 }, "ldc": func(v *matrices) { v.ldc = 2 }, "no ldc": func(v *matrices) { v.ldc = 0 },
		"lda of Aᵀ": func(v *matrices) { v.transA, v.lda = 'T', 4 }, "ldb of Bᵀ": func(v *matrices) { v.transB, v.ldb = 'C', 3 },
		"lda without rows": func(v *matrices) { v.m, v.lda = 0, 0 },
		"transA":           func(v *matrices) { v.transA = 0 }, "transB": func(v *matrices) { v.transB = 'n' },
		"alpha": func(v *matrices) { v.alpha = nan }, "beta": func(v *matrices) { v.beta = inf },
		"stride of A": func(v *matrices) { v.strideA = -1 }, "stride of C": func(v *matrices) { v.z = -1 },
		"range of A": func(v *matrices) { v.lda = 300 }, "range of B": func(v *matrices) { v.strideB = 300 }, "range of C": func(v *matrices) { v.z = 300 },
		"large lda": func(v *matrices) { v.lda = math.MaxInt }, "large m": func(v *matrices) { v.m, v.lda, v.ldc = math.MaxInt, math.MaxInt, math.MaxInt }, "large batch": func(v *matrices) { v.batch = math.MaxInt },
	}
	rec.quiet(t, func() {
		for _, kind := range precisions {
			for name, change := range bad {
				v := good
				change(&v)
				wantInvalid(t, kind.name+": "+name, kind.run(d, v, p, p, q))
			}
			wantInvalid(t, "matrices of C that overlap", kind.run(d, matrices{transA: 'N', transB: 'N', m: 3, n: 4, k: 5, lda: 3, ldb: 5, ldc: 3, alpha: 1, batch: 2, strideA: 15, strideB: 20, z: 6}, p, p, q))
			for _, at := range [][3]rawptr.Ptr{{0, p, q}, {p, 1, q}, {p, p, 2}, {p + 1, p, q}, {p, p, q + 1}, {p, p, p + 8*64}} {
				wantInvalid(t, fmt.Sprint(kind.name, " at ", at), kind.run(d, good, at[0], at[1], at[2]))
			}
			// What has no elements has no address that matters.
			none := good
			none.batch = 0
			if err := kind.run(d, none, 1, 2, 3); err != nil {
				t.Errorf("%s, no matrices: %v", kind.name, err)
			}
			none = good
			none.m = 0
			if err := kind.run(d, none, 1, p, 3); err != nil {
				t.Errorf("%s, no rows: %v", kind.name, err)
			}
			none = good
			none.n = 0
			if err := kind.run(d, none, p, 2, 3); err != nil {
				t.Errorf("%s, no columns: %v", kind.name, err)
			}
		}
		for _, dtype := range []tensor.DType{tensor.F32, tensor.F64, tensor.I32, 200} {
			wantInvalid(t, dtype.String(), d.GemmMixed(dtype, 'N', 'N', 1, 1, 1, 1, p, 1, p, 1, 0, q, 1))
		}
	})
}

// The number of launches does not grow with the batch.
func TestBatchLaunches(t *testing.T) {
	for _, kind := range []gpu.Kind{gpu.Discrete, gpu.CPU} {
		info := null.DefaultInfo()
		info.Kind = kind
		dev := null.NewRecorder(&info)
		d := over(t, dev)
		for _, p := range precisions {
			const n = 64
			count := map[int]int{}
			for _, batch := range []int{2, 64} {
				v := matrices{transA: 'N', transB: 'T', m: n, n: n, k: n, lda: n, ldb: n, ldc: n, alpha: 0.5, beta: 0.5, batch: batch, strideA: n * n, strideB: n * n, z: n * n}
				a, b, c := alloc(t, d, 8*n*n*batch), alloc(t, d, 8*n*n*batch), alloc(t, d, 8*n*n*batch)
				dev.Forget()
				if err := p.run(d, v, a, b, c); err != nil {
					t.Fatal(err)
				}
				count[batch] = len(dev.Recorded())
			}
			if count[2] != count[64] || count[2] == 0 {
				t.Errorf("%v, %s: %d launches for 2 matrices, %d for 64", kind, p.name, count[2], count[64])
			}
		}
	}
}

// A device without float64 says so, and computes nothing in its place.
func TestNoFloat64(t *testing.T) {
	info := null.DefaultInfo()
	info.Features.F64 = false
	dev := null.NewRecorder(&info)
	d := over(t, dev)
	p, q := alloc(t, d, 64), alloc(t, d, 64)
	wantError(t, "Gemm", d.Gemm('N', 'N', 2, 2, 2, 1, p, 2, p, 2, 0, q, 2), errs.ErrUnsupported)
	wantError(t, "BatchedGemm", d.BatchedGemm('N', 'N', 1, 1, 1, 1, p, 1, 1, p, 1, 1, 0, q, 1, 1, 2), errs.ErrUnsupported)
	if n := len(dev.Recorded()); n > 0 {
		t.Errorf("%d launches", n)
	}
	if c, err := d.Capabilities(); err != nil || c.F64 {
		t.Errorf("capabilities: %v, %v", c.F64, err)
	}
	if err := d.GemmF32('N', 'N', 2, 2, 2, 1, p, 2, p, 2, 0, q, 2); err != nil {
		t.Error(err)
	}
}

func TestRecommendedTile(t *testing.T) {
	d := open(t)
	for _, s := range [][3]int{{1, 1, 1}, {1, 500, 3}, {1024, 1024, 1024}, {5, 3, 100_000}} {
		tile, err := d.RecommendedTile(s[0], s[1], s[2])
		if err != nil || tile.M < 1 || tile.M > s[0] || tile.N < 1 || tile.N > s[1] || tile.K < 1 || tile.K > s[2] {
			t.Errorf("%v: %+v, %v", s, tile, err)
		}
		if s[0] == 1024 && tile.M*tile.N < 16 {
			t.Errorf("a workgroup computes only %+v of a large product", tile)
		}
	}
	for _, s := range [][3]int{{0, 1, 1}, {1, -1, 1}, {1, 1, math.MaxInt}} {
		_, err := d.RecommendedTile(s[0], s[1], s[2])
		wantInvalid(t, fmt.Sprint(s), err)
	}
}
