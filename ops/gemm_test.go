package ops_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestGemmLaunches counts the launches of batched products: one, and at most one that ends them.
func TestGemmLaunches(t *testing.T) {
	target := spec.Target{
		MaxBinding: 1 << 27, OffsetAlign: 64, TexelAlign: 64, F64: true,
		MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 256, MaxSharedBytes: 16 << 10,
	}
	for _, c := range []struct {
		name    string
		call    ops.Gemm
		dtype   tensor.DType
		a, b, c []int
		want    []string
	}{
		{"a product alone", ops.Gemm{Alpha: 1, Beta: spec.Given(0.0)}, tensor.F32, []int{64, 64, 64}, []int{64, 64, 64}, []int{64, 64, 64}, []string{"blas/matmul.f32"}},
		{"scaled", ops.Gemm{Alpha: 0.7, Beta: 1}, tensor.F32, []int{64, 64, 64}, []int{64, 64, 64}, []int{64, 64, 64}, []string{"blas/matmul.f32", "blas/gemm_finish_packs.f32"}},
		{"rounded", ops.Gemm{Alpha: 1, TransA: true, Beta: 1}, tensor.F16, []int{64, 64, 64}, []int{64, 64}, []int{64, 64, 64}, []string{"blas/matmul.f16", "blas/gemm_finish_packs.f16"}},
		{"parts of k", ops.Gemm{Alpha: 1, TransB: true, Beta: 1}, tensor.F32, []int{3, 8, 4096}, []int{3, 8, 4096}, []int{3, 8, 8}, []string{"blas/matmul.f32", "blas/gemm_finish_packs.f32"}},
		{"parts of k, rounded", ops.Gemm{Alpha: 1, TransB: true, Beta: 1}, tensor.F16, []int{3, 8, 4096}, []int{3, 8, 4096}, []int{3, 8, 8}, []string{"blas/matmul.f16", "blas/gemm_finish_packs.f16"}},
		{"a batch of two levels", ops.Gemm{Alpha: 1, Beta: 1}, tensor.F64, []int{3, 1, 40, 8}, []int{5, 8, 40}, []int{40}, []string{"blas/matmul.f64", "blas/gemm_finish.f64"}},
		{"no product", ops.Gemm{Alpha: spec.Given(0.0), Beta: 1}, tensor.F32, []int{64, 64, 64}, []int{64, 64, 64}, []int{64, 64, 64}, []string{"blas/gemm_finish_packs.f32"}},
	} {
		call, err := spec.Resolve(c.call)
		if err != nil {
			t.Fatal(err)
		}
		in := []tensor.Desc{tensor.Contiguous(c.dtype, c.a...), tensor.Contiguous(c.dtype, c.b...), tensor.Contiguous(c.dtype, c.c...)}
		out, err := call.Spec().Shape(call, in)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := call.Spec().Plan(call, &target, in, out)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range plan.Steps {
			got = append(got, s.Name())
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s: launches %v, want %v", c.name, got, c.want)
		}
	}
}

// TestGemmFactors tries factors that are no numbers of the dtype.
func TestGemmFactors(t *testing.T) {
	shape := func(c ops.Gemm, d tensor.DType) error {
		x := tensor.Contiguous(d, 2, 2)
		_, err := c.Spec().Shape(&c, []tensor.Desc{x, x, x})
		return err
	}
	if err := shape(ops.Gemm{Alpha: 1e300, Beta: 1}, tensor.F32); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("alpha 1e300 of f32: got %v, want ErrInvalidArgument", err)
	}
	if err := shape(ops.Gemm{Alpha: 1, Beta: -1e39}, tensor.F16); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("beta -1e39 of f16: got %v, want ErrInvalidArgument", err)
	}
	if err := shape(ops.Gemm{Alpha: 1e300, Beta: -1e39}, tensor.F64); err != nil {
		t.Errorf("f64: %v", err)
	}
}

// TestGemmOfBLAS tries all transposes and factors as the tests of BLAS do: matrices in column-major order whose columns are
// farther apart than they must be, the result in the place of c, NaN where nothing may be read, and memory between
// the columns that must stay as it is.
func TestGemmOfBLAS(t *testing.T) {
	testlevel.Turn(t, 5)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range []tensor.DType{tensor.F32, tensor.F64, tensor.F16} {
		// Sums of so few products of multiples of 1/8 are exact, and so is all that follows but factors of 0.7.
		epsilon := map[tensor.DType]float64{tensor.F32: 1e-6, tensor.F64: 1e-15, tensor.F16: 2e-3}[d]
		onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
			for _, size := range [][3]int{{1, 1, 1}, {2, 3, 1}, {7, 13, 5}, {65, 31, 9}, {3, 5, 0}, {64, 8, 16}, {1, 17, 4}, {9, 1, 3}} {
				for turned := range 4 {
					testGemmOfBLAS(t, dev, r, d, size, turned&1 != 0, turned&2 != 0, epsilon, rng)
					if t.Failed() {
						t.Fatal(d, size, turned)
					}
				}
			}
		})
	}
}

// columnMajor returns a matrix in column-major order, whose columns are apart elements apart, from an element that no
// binding begins with. The elements are multiples of 1/8, and the memory around them has another number.
func columnMajor(d tensor.DType, rows, columns, apart int, rng *rand.Rand) (memory *tensor.Host, first int, desc tensor.Desc) {
	first = 3
	memory = tensor.NewHost(tensor.Contiguous(d, first+apart*max(columns, 1)))
	v := make([]float64, memory.Elems())
	for i := range v {
		v[i] = 77
	}
	for j := range columns {
		for i := range rows {
			v[first+j*apart+i] = float64(rng.IntN(17)-8) / 8
		}
	}
	memory.SetFloats(v)
	return memory, first, tensor.Desc{DType: d, Shape: []int{rows, columns}, Strides: []int{1, apart}}
}

func testGemmOfBLAS(t *testing.T, dev gpu.Device, r *exec.Runner, d tensor.DType, size [3]int, transA, transB bool, epsilon float64, rng *rand.Rand) {
	m, n, k := size[0], size[1], size[2]
	shape := func(turned bool, rows, columns int) (int, int) {
		if turned {
			return columns, rows
		}
		return rows, columns
	}
	ar, ac := shape(transA, m, k)
	br, bc := shape(transB, k, n)
	a, a0, da := columnMajor(d, ar, ac, ar+3, rng)
	b, b0, db := columnMajor(d, br, bc, br+1, rng)
	factors := []float64{spec.Given(0.0), 1, -1, 0.7}
	for _, alpha := range factors {
		for _, beta := range factors {
			c, c0, dc := columnMajor(d, m, n, m+2, rng)
			av, bv, cv := a.Floats(), b.Floats(), c.Floats()
			want := slices.Clone(cv)
			for i := range m {
				for j := range n {
					sum := 0.0
					for p := range k {
						x, y := i*da.Strides[0]+p*da.Strides[1], p*db.Strides[0]+j*db.Strides[1]
						if transA {
							x = p*da.Strides[0] + i*da.Strides[1]
						}
						if transB {
							y = j*db.Strides[0] + p*db.Strides[1]
						}
						sum += av[a0+x] * bv[b0+y]
					}
					at := c0 + i + j*dc.Strides[1]
					want[at] = alpha*sum + beta*cv[at]
					if beta == 0 {
						want[at], cv[at] = alpha*sum, math.NaN()
					}
				}
			}
			if alpha == 0 {
				for i := range av {
					av[i] = math.NaN()
				}
			}
			c.SetFloats(cv)
			unread := tensor.NewHost(a.Desc)
			unread.SetFloats(av)
			bytes := int64(d.Size())
			operand := func(h *tensor.Host, first int, desc tensor.Desc) exec.Operand {
				return exec.Operand{Buffer: testgpu.Load(t, dev, h.Data), Offset: int64(first) * bytes, Desc: desc}
			}
			to := operand(c, c0, dc)
			call := ops.Gemm{Alpha: alpha, Beta: beta, TransA: transA, TransB: transB}
			if err := r.Run(t.Context(), call, []exec.Operand{operand(unread, a0, da), operand(b, b0, db), to}, []exec.Operand{to}); err != nil {
				t.Fatal(err)
			}
			if err := r.Read(t.Context(), to.Buffer, 0, c.Data); err != nil {
				t.Fatal(err)
			}
			for i, v := range c.Floats() {
				if !(math.Abs(v-want[i]) <= epsilon*(4+math.Abs(want[i]))) || want[i] == 77 && v != 77 {
					t.Errorf("%+v: element %d of memory: got %v, want %v", call, i, v, want[i])
				}
			}
		}
	}
}
