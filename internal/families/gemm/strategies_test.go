package gemm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestStrategies plans products with each of their strategies. The kernels must be those
// that the strategy is named after.
func TestStrategies(t *testing.T) {
	target := spec.Target{
		CPU: true, MaxBinding: 1 << 30, MaxTexels: 1 << 26, OffsetAlign: 16, TexelAlign: 16, TexelBuffers: true,
		MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024,
	}
	kernels := map[string][]string{
		byPanel: {"blas/matmul_panel.f32"}, byWide: {"blas/matmul_panel.f32.wide"}, byTall: {"blas/matmul_panel.f32.tall"},
		byRow: {"blas/matmul_panel.f32.row", "blas/matmul_panel.f32.long"}, byDot: {"blas/matmul_dot.f32", "blas/matmul_dot.f32.one"},
	}
	seen := map[string]bool{} // kernels
	for _, s := range [][3]int{{512, 512, 512}, {512, 64, 512}, {64, 64, 8192}, {16, 128, 64}, {9, 33, 16}, {1, 64, 64}, {1, 4096, 512}, {512, 4, 512}} {
		a, b := tensor.Contiguous(tensor.F32, s[0], s[2]), tensor.Contiguous(tensor.F32, s[2], s[1])
		out := tensor.Contiguous(tensor.F32, s[0], s[1])
		by := func(strategy string) *product {
			own := target
			own.Strategy = strategy
			p, _, _ := transposes{}.product(&own, &spec.Plan{}, []tensor.Desc{a, b}, out)
			return p
		}
		for i, strategy := range by("").strategies() {
			p, what := by(strategy), fmt.Sprintf("%v by %s", s, strategy)
			if strategy == byWhole {
				if p.parts != 1 {
					t.Errorf("%s: %d parts of k (want 1)", what, p.parts)
				}
				continue
			}
			got := p.tile().kernel
			seen[got] = true
			if p.strategy() != strategy || !slices.Contains(kernels[strategy], got) {
				t.Errorf("%s: %s, which is the strategy %s (want one of %s)", what, got, p.strategy(), kernels[strategy])
			}
			if own := by("").tile().kernel; i == 0 && !slices.Contains(kernels[strategy], own) {
				t.Errorf("%v: %s is not the first strategy, %s", s, own, strategy)
			}
		}
	}
	for strategy, all := range kernels {
		for _, k := range all {
			if !seen[k] {
				t.Errorf("%s: %s was not tried", strategy, k)
			}
		}
	}
}

// TestNarrowOperands plans products of a vector and a matrix whose elements have 16 bits.
// The kernel must read the matrix in place, unless its rows are not whole texels.
func TestNarrowOperands(t *testing.T) {
	target := &spec.Target{
		CPU: true, MaxBinding: 1 << 30, MaxTexels: 1 << 26, OffsetAlign: 16, TexelAlign: 16, TexelBuffers: true,
		MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024,
	}
	for _, c := range []struct {
		m, n, k int
		reads   tensor.DType
		kernel  string
	}{
		{512, 1, 512, tensor.F16, "blas/matmul_dot.f16.one"},
		{512, 4, 512, tensor.F16, "blas/matmul_dot.f16"},
		{512, 1, 516, tensor.F32, "blas/matmul_dot.f32.one"},
		{1, 64, 512, tensor.F16, "blas/matmul_panel.f16.row"},
		{1, 4096, 512, tensor.F16, "blas/matmul_panel.f16.long"},
		{1, 4096, 514, tensor.F32, "blas/matmul_panel.f32.long"},
		{1, 4100, 512, tensor.F32, "blas/matmul_panel.f32.long"},
		{512, 512, 512, tensor.F32, "blas/matmul_panel.f32.wide"},
	} {
		in := []tensor.Desc{tensor.Contiguous(tensor.F16, c.m, c.k), tensor.Contiguous(tensor.F16, c.k, c.n)}
		out := tensor.Contiguous(tensor.F16, c.m, c.n)
		plan := &spec.Plan{}
		p, to, _ := transposes{}.product(target, plan, in, out)
		if got := p.tile().kernel; got != c.kernel {
			t.Errorf("[%d,%d,%d]: %s (want %s)", c.m, c.n, c.k, got, c.kernel)
		}
		if err := p.addTo(to, nil); err != nil {
			t.Fatal(err)
		}
		packed := int64(0)
		for _, s := range plan.Steps {
			if q, ok := s.Params.(packParams); ok {
				packed += int64(q.Count) * 4
			}
		}
		whole := packed >= int64(c.k)*int64(max(c.m, c.n))
		if whole != (c.reads == tensor.F32) {
			t.Errorf("[%d,%d,%d]: %d elements are packed", c.m, c.n, c.k, packed)
		}
	}
}

// TestShortBindings plans products whose rows are longer than bindings of a few hundred
// elements. The result then consists of chunks of rows. No launch may be empty.
func TestShortBindings(t *testing.T) {
	for _, size := range []int64{1 << 10, 2 << 10, 4 << 10} {
		for _, shape := range [][3]int{{65, 3, 16}, {100, 8, 7}, {63, 13, 8}, {9, 300, 64}} {
			for _, strategy := range []string{"", byPanel, byTall, byDot, byShared} {
				target := &spec.Target{
					CPU: true, MaxBinding: size, MaxTexels: size / 16, OffsetAlign: 32, TexelAlign: 32, TexelBuffers: true,
					MaxGroups: [3]uint32{50, 50, 50}, MaxInvocations: 128, MaxSharedBytes: 4096, Strategy: strategy,
				}
				in := []tensor.Desc{tensor.Contiguous(tensor.BF16, shape[0], shape[2]), tensor.Contiguous(tensor.BF16, shape[2], shape[1])}
				out := tensor.Contiguous(tensor.BF16, shape[0], shape[1])
				plan := &spec.Plan{}
				g, to, _ := transposes{}.product(target, plan, in, out)
				if err := g.addTo(to, nil); err != nil {
					t.Errorf("%v by %q in bindings of %d bytes: %v", shape, strategy, size, err)
				}
				for i, s := range plan.Steps {
					if slices.Contains(s.Groups[:], 0) {
						t.Errorf("%v by %q in bindings of %d bytes: step %d, %s, has no workgroups", shape, strategy, size, i, s.Name())
					}
				}
			}
		}
	}
}

// TestFarColumns plans products for lanes of vectors whose first operand is transposed, so that four of its columns are longer
// than a binding. They cannot be packed as vectors.
func TestFarColumns(t *testing.T) {
	target := &spec.Target{
		CPU: true, HostVectors: true, MaxBinding: 1 << 19, OffsetAlign: 256, TexelAlign: 256, SubgroupSize: 4,
		MaxGroups: [3]uint32{50, 50, 50}, MaxInvocations: 128, MaxSharedBytes: 16 << 10,
	}
	for _, d := range []tensor.DType{tensor.F32, tensor.BF16} {
		for _, shape := range [][3]int{{65537, 25, 5}, {65537, 3, 4}, {131101, 5, 70}} {
			in := []tensor.Desc{tensor.Contiguous(d, shape[2], shape[0]), tensor.Contiguous(d, shape[2], shape[1])}
			plan := &spec.Plan{}
			g, to, _ := transposes{a: true}.product(target, plan, in, tensor.Contiguous(d, shape[0], shape[1]))
			if err := g.addTo(to, nil); err != nil {
				t.Errorf("%v of %v: %v", shape, d, err)
			}
		}
	}
}
