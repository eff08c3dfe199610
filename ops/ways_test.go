package ops

import (
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestGemmWays plans products by each of their ways, and wants the kernels that
// the way is named after.
func TestGemmWays(t *testing.T) {
	target := spec.Target{
		CPU: true, MaxBinding: 1 << 30, MaxTexels: 1 << 26, OffsetAlign: 16, TexelAlign: 16, TexelBuffers: true,
		MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024,
	}
	kernels := map[string]string{
		byPanel: "blas/matmul_panel.f32", byWide: "blas/matmul_panel.f32.wide", byTall: "blas/matmul_panel.f32.tall",
		byRow: "blas/matmul_panel.f32.row", byDot: "blas/matmul_dot.f32",
	}
	seen := map[string]bool{}
	for _, s := range [][3]int{{512, 512, 512}, {512, 64, 512}, {64, 64, 8192}, {16, 128, 64}, {9, 33, 16}, {1, 64, 64}} {
		a, b := tensor.Contiguous(tensor.F32, s[0], s[2]), tensor.Contiguous(tensor.F32, s[2], s[1])
		out := tensor.Contiguous(tensor.F32, s[0], s[1])
		by := func(way string) *product {
			own := target
			own.Variant = way
			p, err := newProduct(MatMul{}, &own, &spec.Plan{}, []tensor.Desc{a, b}, out)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		for i, way := range gemmWays(by("").gemm) {
			p, what := by(way), fmt.Sprintf("%v by %s", s, way)
			if way == byWhole {
				if p.parts != 1 {
					t.Errorf("%s: %d parts of k (want 1)", what, p.parts)
				}
				continue
			}
			seen[way] = true
			if got := p.tile().kernel; p.way() != way || got != kernels[way] {
				t.Errorf("%s: %s, which is the way %s (want %s)", what, got, p.way(), kernels[way])
			}
			if own := by("").tile().kernel; i == 0 && own != kernels[way] {
				t.Errorf("%v: %s is not the first way, %s", s, own, way)
			}
		}
	}
	if len(seen) != len(kernels) {
		t.Errorf("tried the ways %v (want those of %v)", seen, kernels)
	}
}
