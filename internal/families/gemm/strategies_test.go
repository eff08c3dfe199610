package gemm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/planner"
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
		byBlock: {"blas/matmul_panel.f32.block"}, byNarrow: {"blas/matmul_panel.f32.narrow"},
	}
	seen := map[string]bool{} // kernels
	shapes := [][3]int{{512, 512, 512}, {512, 64, 512}, {64, 64, 8192}, {16, 128, 64}, {9, 33, 16}, {40, 20, 64}, {1, 64, 64}, {1, 4096, 512}, {512, 4, 512}}
	for i, s := range append(shapes, shapes...) {
		target := target
		if i >= len(shapes) { // a workgroup of these kernels is a subgroup
			target.SubgroupSize = 8
		}
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

// TestShuffles looks when products take kernels that need subgroups of eight.
func TestShuffles(t *testing.T) {
	for _, c := range []struct {
		what     string
		d        tensor.DType
		m, n     int
		subgroup uint32
		turned   bool
		kernel   string
	}{
		{"large", tensor.F32, 512, 512, 8, false, "blas/matmul_panel.f32.block"},
		{"few columns", tensor.F32, 64, 12, 8, false, "blas/matmul_panel.f32.narrow"},
		{"as many as a tile", tensor.F32, 64, 32, 8, false, "blas/matmul_panel.f32.narrow"},
		{"one more", tensor.F32, 64, 33, 8, false, "blas/matmul_panel.f32.block"},
		{"few rows", tensor.F32, 8, 64, 8, false, "blas/matmul_panel.f32"},
		{"packed", tensor.F16, 64, 64, 8, false, "blas/matmul_panel.f32.block"},
		{"f64", tensor.F64, 64, 64, 8, false, "blas/matmul_panel.f64.tall"},
		{"transposed in place", tensor.F32, 64, 128, 8, true, "blas/matmul_panel.f32.wide"},
		{"no promise of subgroups", tensor.F32, 64, 128, 0, false, "blas/matmul_panel.f32.wide"},
		{"subgroups of four", tensor.F32, 64, 128, 4, false, "blas/matmul_panel.f32.wide"},
		{"subgroups of sixteen", tensor.F32, 64, 128, 16, false, "blas/matmul_panel.f32.wide"},
	} {
		target := &spec.Target{
			CPU: true, MaxBinding: 1 << 30, MaxTexels: 1 << 26, OffsetAlign: 16, TexelAlign: 16, TexelBuffers: true,
			MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024, SubgroupSize: c.subgroup, F64: true,
		}
		in := []tensor.Desc{tensor.Contiguous(c.d, c.m, 512), tensor.Contiguous(c.d, 512, c.n)}
		if c.turned {
			in[0] = tensor.Contiguous(c.d, 512, c.m)
		}
		p, _, _ := transposes{a: c.turned}.product(target, &spec.Plan{}, in, tensor.Contiguous(c.d, c.m, c.n))
		if got := p.tile().kernel; got != c.kernel {
			t.Errorf("%s: %s (want %s)", c.what, got, c.kernel)
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
		for _, shape := range [][3]int{{65, 3, 16}, {100, 8, 7}, {63, 13, 8}, {9, 300, 64}, {64, 12, 8}} {
			for _, strategy := range []string{"", byPanel, byTall, byDot, byShared} {
				target := &spec.Target{
					CPU: true, MaxBinding: size, MaxTexels: size / 16, OffsetAlign: 32, TexelAlign: 32, TexelBuffers: true,
					MaxGroups: [3]uint32{50, 50, 50}, MaxInvocations: 128, MaxSharedBytes: 4096, Strategy: strategy,
				}
				for _, d := range []tensor.DType{tensor.BF16, tensor.F32} {
					for _, turned := range []bool{false, true} {
						what := fmt.Sprintf("%v of %v by %q in bindings of %d bytes, transposed %v", shape, d, strategy, size, turned)
						in := []tensor.Desc{tensor.Contiguous(d, shape[0], shape[2]), tensor.Contiguous(d, shape[2], shape[1])}
						if turned {
							in[0] = tensor.Contiguous(d, shape[2], shape[0])
						}
						plan := &spec.Plan{}
						g, to, _ := transposes{a: turned}.product(target, plan, in, tensor.Contiguous(d, shape[0], shape[1]))
						if err := g.addTo(to, nil); err != nil {
							t.Errorf("%s: %v", what, err)
						}
						for i, s := range plan.Steps {
							if slices.Contains(s.Groups[:], 0) {
								t.Errorf("%s: step %d, %s, has no workgroups", what, i, s.Name())
							}
						}
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

// TestTurned plans products whose first operand is transposed. Kernels read it in place if it consists of whole texels. Regions that
// begin within a texel, and bindings that are too small, need a packed copy.
func TestTurned(t *testing.T) {
	for _, c := range []struct {
		what      string
		d         tensor.DType
		m, n, k   int
		row, base int // of the operand; row is m if it is 0
		from      int // first row of the result
		size      int64
		kernel    string
		packsA    bool
	}{
		{what: "large", d: tensor.F32, m: 512, n: 512, k: 512, kernel: "blas/matmul_panel.f32.wide.turned"},
		{what: "tall", d: tensor.F32, m: 512, n: 64, k: 512, kernel: "blas/matmul_panel.f32.tall.turned"},
		{what: "small", d: tensor.F32, m: 30, n: 36, k: 36, row: 32, kernel: "blas/matmul_panel.f32.turned"},
		{what: "tall of f64", d: tensor.F64, m: 510, n: 64, k: 512, kernel: "blas/matmul_panel.f64.tall.turned"},
		{what: "large of f64", d: tensor.F64, m: 512, n: 512, k: 512, kernel: "blas/matmul_panel.f64.wide", packsA: true},
		{what: "bf16", d: tensor.BF16, m: 64, n: 64, k: 64, kernel: "blas/matmul_panel.f32", packsA: true},
		{what: "rows that begin within a texel", d: tensor.F32, m: 30, n: 36, k: 36, kernel: "blas/matmul_panel.f32", packsA: true},
		{what: "k that is no multiple of 4", d: tensor.F32, m: 32, n: 36, k: 35, kernel: "blas/matmul_panel.f32", packsA: true},
		{what: "base within a texel", d: tensor.F32, m: 32, n: 36, k: 36, base: 2, row: 36, kernel: "blas/matmul_panel.f32", packsA: true},
		{what: "region from a texel", d: tensor.F32, m: 32, n: 36, k: 36, from: 8, kernel: "blas/matmul_panel.f32.turned"},
		{what: "region from within a texel", d: tensor.F32, m: 32, n: 36, k: 36, from: 5, kernel: "blas/matmul_panel.f32", packsA: true},
		{what: "small bindings", d: tensor.F32, m: 64, n: 40, k: 64, row: 1024, size: 16 << 10, kernel: "blas/matmul_panel.f32", packsA: true},
	} {
		size := c.size
		if size == 0 {
			size = 1 << 30
		}
		target := &spec.Target{
			CPU: true, MaxBinding: size, MaxTexels: 1 << 26, OffsetAlign: 16, TexelAlign: 16, TexelBuffers: true,
			MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024,
		}
		a := planner.Operand{Ref: spec.In(0), DType: c.d, Base: c.base, Strides: []int{0, 0, 1, 0, max(c.row, c.m)}}
		b := planner.Operand{Ref: spec.In(1), DType: c.d, Strides: []int{0, 0, 0, 1, (c.n + 7) / 8 * 8}}
		plan := &spec.Plan{}
		g := newProduct(target, plan, []int{1, 1, c.m, c.n, c.k}, a, b)
		g.parts = 1
		all := planner.RegionOf(g.shape)
		all.From[g.dimM()], all.N[g.dimM()] = c.from, c.m-c.from
		to := planner.Operand{Ref: spec.Out(0), DType: g.accumulator(), Strides: []int{0, 0, c.n, 1, 0}}
		if err := g.addRegion(all, to, nil, false); err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		packs := false
		for _, s := range plan.Steps {
			_, pack := s.Params.(packParams)
			packs = packs || pack && s.Bind[0].Buf == a.Ref
		}
		if last := plan.Steps[len(plan.Steps)-1].Name(); last != c.kernel || packs != c.packsA {
			t.Errorf("%s: kernel %s, packs A %v (want %s, %v)", c.what, last, packs, c.kernel, c.packsA)
		}
	}
}
