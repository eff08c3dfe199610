package ops_test

import (
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// Products on GPUs are made by the kernel that the device and the sizes call for.
func TestGPUTiles(t *testing.T) {
	small, big := [3]int{100, 100, 100}, [3]int{4096, 4096, 512}
	keep := func(*gpu.Info) {}
	for _, c := range []struct {
		name     string
		d        tensor.DType
		shape    [3]int // m, n, k
		strategy string
		change   func(*gpu.Info)
		want     string
	}{
		{"large tiles", tensor.F32, big, "", keep, "blas/matmul.f32.large"},
		{"too few of them", tensor.F32, small, "", keep, "blas/matmul.f32"},
		{"small ones asked for", tensor.F32, big, "shared", keep, "blas/matmul.f32"},
		{"large ones asked for", tensor.BF16, small, "large", keep, "blas/matmul.bf16.large"},
		{"small workgroups", tensor.F32, big, "", func(i *gpu.Info) { i.Limits.MaxInvocations = 128 }, "blas/matmul.f32"},
		{"double precision", tensor.F64, big, "", keep, "blas/matmul.f64"},
		{"matrices", tensor.F16, big, "", keep, "blas/matmul_coop.f16.m16.s32"},
		{"too few multiply-adds for them", tensor.F16, small, "", keep, "blas/matmul.f16"},
		{"asked for", tensor.F16, small, "matrix", keep, "blas/matmul_coop.f16.m16.s32"},
		{"matrices by wide subgroups", tensor.F16, big, "", func(i *gpu.Info) { i.Features.SubgroupSize = 64 }, "blas/matmul_coop.f16.m16.s64"},
		{"no matrices", tensor.F16, big, "", func(i *gpu.Info) { i.Features.Matrix = [3]uint32{} }, "blas/matmul.f16.large"},
		{"matrices of another shape", tensor.F16, big, "", func(i *gpu.Info) { i.Features.Matrix = [3]uint32{16, 8, 16} }, "blas/matmul.f16.large"},
		{"no half precision", tensor.F16, big, "", func(i *gpu.Info) { i.Features.F16 = false }, "blas/matmul.f16.large"},
		{"no whole subgroups", tensor.F16, big, "", func(i *gpu.Info) { i.Features.FullSubgroups = false }, "blas/matmul.f16.large"},
		{"a vector", tensor.F16, [3]int{4096, 1, 4096}, "", keep, "blas/matmul_vector.f16"},
		{"a vector, by tiles", tensor.F16, [3]int{4096, 1, 4096}, "shared", keep, "blas/matmul.f16"},
		{"a vector by a matrix", tensor.F32, [3]int{1, 4096, 4096}, "", keep, "blas/matmul_vector.f32.across"},
		{"matrices are not for bf16", tensor.BF16, big, "matrix", keep, "blas/matmul.bf16.large"},
	} {
		info := null.DefaultInfo()
		info.Kind = gpu.Discrete
		c.change(&info)
		target := exec.TargetOf(&info)
		target.Strategy = c.strategy
		a, b := tensor.Contiguous(c.d, c.shape[0], c.shape[2]), tensor.Contiguous(c.d, c.shape[2], c.shape[1])
		got := ""
		for _, s := range planned(t, &target, ops.MatMul{}, a, b) {
			if strings.HasPrefix(s.Name(), "blas/matmul.") || strings.HasPrefix(s.Name(), "blas/matmul_vector.") || strings.HasPrefix(s.Name(), "blas/matmul_coop.") {
				got = s.Name()
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
