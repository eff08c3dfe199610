package contraction

import (
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPlans checks which kernels plans launch: what a kernel can read or write by its strides is not copied, and there are no launches
// for each index of a batch.
func TestPlans(t *testing.T) {
	gemm.Kernels()
	spirv.LinkMath()
	spirv.LinkMove()
	spirv.LinkReduce()
	gpu := &spec.Target{
		MaxBinding: 1 << 30, MaxTexels: 1 << 26, OffsetAlign: 16, TexelAlign: 16, MaxGroups: [3]uint32{65535, 65535, 65535},
		MaxInvocations: 1024, MaxSharedBytes: 48 << 10, MaxBindings: 8, F64: true,
	}
	vector := *gpu
	vector.CPU, vector.HostVectors, vector.SubgroupSize = true, true, 4
	for _, c := range []struct {
		equation string
		d        tensor.DType
		in       [][]int
		want     string // the kernels, without their folder and variants
	}{
		{"ij,jk->ik", tensor.F32, [][]int{{64, 32}, {32, 48}}, "matmul"},
		{"ij,jk->ki", tensor.F32, [][]int{{64, 32}, {32, 48}}, "matmul"},
		{"ji,kj->ik", tensor.F16, [][]int{{32, 64}, {48, 32}}, "matmul"},
		{"bhqd,bhkd->bhqk", tensor.F32, [][]int{{20, 30, 16, 8}, {20, 30, 24, 8}}, "matmul"},
		{"bqhd,bkhd->bhqk", tensor.F32, [][]int{{20, 16, 30, 8}, {20, 24, 30, 8}}, "matmul"},
		{"bhqk,bkhd->bqhd", tensor.F32, [][]int{{20, 30, 16, 24}, {20, 24, 30, 8}}, "matmul"},
		{"bhqk,bkhd->bqhd", tensor.F16, [][]int{{20, 30, 16, 24}, {20, 24, 30, 8}}, "matmul cast"}, // F32 is written by strides
		{"abij,bjk->abik", tensor.F32, [][]int{{9, 10, 16, 24}, {10, 24, 8}}, "matmul"},
		{"iij,jk->ik", tensor.F32, [][]int{{40, 40, 16}, {16, 40}}, "matmul"},
		{"ijk,kjl->il", tensor.F32, [][]int{{40, 8, 16}, {16, 8, 40}}, "copy matmul"}, // j and k are no single dimension of both
		{"ij->ji", tensor.F32, [][]int{{64, 32}}, "copy"},
		{"iji->ij", tensor.F32, [][]int{{16, 32, 16}}, "copy"},
		{"ijk->ik", tensor.F32, [][]int{{16, 32, 17}}, "reduce_sum"},
		{"ijk->k", tensor.BF16, [][]int{{16, 32, 17}}, "reduce_sum reduce_narrow"},
		{"ii->", tensor.F32, [][]int{{32, 32}}, "copy reduce_sum"},
		{"i,j->ji", tensor.F32, [][]int{{64}, {32}}, "mul"},
		{"ij,ji->ij", tensor.F16, [][]int{{64, 32}, {32, 64}}, "mul"},
		{"ij,kl->ik", tensor.F32, [][]int{{64, 32}, {32, 64}}, "reduce_sum mul"},
		{"bn,anm,bm->ba", tensor.F32, [][]int{{16, 24}, {40, 24, 32}, {16, 32}}, "mul matmul"}, // the product bnm costs the least
		{"i,j,k->ijk", tensor.F16, [][]int{{16}, {24}, {40}}, "cast mul cast mul cast"},        // the first product is kept in F32
		{"ij,jk->ik", tensor.F32, [][]int{{64, 0}, {0, 48}}, "fill"},
		{"ij,jk->ik", tensor.F32, [][]int{{0, 4}, {4, 48}}, ""},
	} {
		for name, target := range map[string]*spec.Target{"gpu": gpu, "vectors": &vector} {
			var in []tensor.Desc
			for _, s := range c.in {
				in = append(in, tensor.Contiguous(c.d, s...))
			}
			x, err := newSpace(c.equation, in)
			if err != nil {
				t.Fatal(err)
			}
			w := builder{space: x, t: target, plan: &spec.Plan{}}
			if out := tensor.Contiguous(c.d, x.shape(x.out)...); out.Elems() > 0 {
				if err := w.add(out); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, s := range w.plan.Steps {
				_, kernel, _ := strings.Cut(s.Name(), "/")
				kernel, _, _ = strings.Cut(kernel, ".")
				if strings.HasPrefix(kernel, "matmul") {
					kernel = "matmul"
				}
				if kernel, _, _ = strings.Cut(kernel, "_strided"); strings.HasPrefix(kernel, "copy") {
					kernel = "copy"
				}
				if len(got) == 0 || got[len(got)-1] != kernel {
					got = append(got, kernel)
				}
			}
			if list := strings.Join(got, " "); list != c.want || len(w.plan.Steps) > 12 {
				t.Errorf("%s of %v on %s: %s in %d steps, want %s", c.equation, in, name, list, len(w.plan.Steps), c.want)
			}
		}
	}
}
