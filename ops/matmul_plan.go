package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	// gemmBudget bounds each temporary buffer of a product, in bytes.
	gemmBudget = 16 << 20
	// gemmRun is how many products a sum takes one after the other in f32: sums
	// of such runs are added in turn, so that the error of long k stays small.
	gemmRun = 4096
)

// gemmParams is the push-constant block of lib/gemm.glsl.
type gemmParams struct {
	M, N, K, KAll, KStep                 uint32
	ABase, ARow, ACol, AInner, AOuter    uint32
	BBase, BRow, BCol, BInner, BOuter    uint32
	CBase, CRow, CCol, CInner, COuter    uint32
	Inner, Z, Accumulate, Bias, BiasBase uint32
}

// finishParams is the push-constant block of matmul_finish.
type finishParams struct{ Base, Count, Runs, RunStep, Packs, N, Row, Parts, Part, Bias, BiasBase uint32 }

var (
	panelKernels = []spec.Kernel{
		{Name: "blas/matmul_panel.f32", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f32.add", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f32.row", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f32.row.add", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f16.row", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f16.row.add", Params: gemmParams{}},
		{Name: "blas/matmul_panel.bf16.row", Params: gemmParams{}},
		{Name: "blas/matmul_panel.bf16.row.add", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f32.long", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f32.long.add", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f16.long", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f16.long.add", Params: gemmParams{}},
		{Name: "blas/matmul_panel.bf16.long", Params: gemmParams{}},
		{Name: "blas/matmul_panel.bf16.long.add", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f32.tall", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f32.tall.add", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f32.wide", Params: gemmParams{}},
		{Name: "blas/matmul_panel.f32.wide.add", Params: gemmParams{}},
		{Name: "blas/matmul_dot.f32", Params: gemmParams{}},
		{Name: "blas/matmul_dot.f16", Params: gemmParams{}},
		{Name: "blas/matmul_dot.bf16", Params: gemmParams{}},
		{Name: "blas/matmul_dot.f32.one", Params: gemmParams{}},
		{Name: "blas/matmul_dot.f16.one", Params: gemmParams{}},
		{Name: "blas/matmul_dot.bf16.one", Params: gemmParams{}},
		{Name: "blas/matmul_pack.f32", Params: gemmPackParams{}},
		{Name: "blas/matmul_pack.f16", Params: gemmPackParams{}},
		{Name: "blas/matmul_pack.bf16", Params: gemmPackParams{}},
		{Name: "blas/matmul_pack.f16.flat", Params: gemmPackParams{}},
		{Name: "blas/matmul_pack.bf16.flat", Params: gemmPackParams{}},
	}
	gemmKernels = slices.Concat(panelKernels,
		dtypeVariants("blas/matmul", gemmParams{}, floats, nil),
		sharedVariants("f16.wide", "bf16.wide", "f32.large", "f16.large", "bf16.large", "f16.wide.large", "bf16.wide.large"),
		[]spec.Kernel{{Name: "blas/matmul_coop.f16.m16.s32", Params: gemmParams{}}, {Name: "blas/matmul_coop.f16.m16.s64", Params: gemmParams{}}, {Name: "blas/matmul_coop.f16.m8.s8", Params: gemmParams{}}},
		dtypeVariants("blas/matmul_finish", finishParams{}, floats, func(d tensor.DType) bool { return d != tensor.F64 }),
		[]spec.Kernel{
			{Name: "blas/matmul_finish.f32.flat", Params: finishParams{}}, {Name: "blas/matmul_finish.f16.flat", Params: finishParams{}},
			{Name: "blas/matmul_finish.bf16.flat", Params: finishParams{}},
		})
)

// sharedVariants names kernels of gemmShared.
func sharedVariants(names ...string) []spec.Kernel {
	var ks []spec.Kernel
	for _, n := range names {
		ks = append(ks, spec.Kernel{Name: "blas/matmul." + n, Params: gemmParams{}})
	}
	return ks
}

// gemmMode is a family of kernels.
type gemmMode uint8

const (
	gemmPanel  gemmMode = iota // CPU: register tiles over texel buffers
	gemmDot                    // CPU: one side is at most a few vectors
	gemmShared                 // tiles in shared memory
)

// gemmMatrix is an operand of a product: its steps are along the batch dimensions, m, n
// and k, 0 where it does not vary. base is the element at index 0 of all.
type gemmMatrix struct {
	strided
	base int64
}

// gemm plans C = A·B or C += A·B over an index space of batch dimensions (two at
// least), m, n and k.
type gemm struct {
	t     *spec.Target
	plan  *spec.Plan
	shape []int
	a, b  gemmMatrix
	mode  gemmMode
	// parts is how many parts of k are made side by side; their products lie
	// part elements apart in C. The batch is then a single one.
	parts, part int
	packed      [2]int // scratch buffers of packed operands, counted from 1
	nothing     spec.Ref
	run         int          // if not 0, the length of a part
	filled      bool         // the first operand is filled up with zeros along k to whole texels
	reads       tensor.DType // of the operand that may lie in 16 bits; the other one is f32
}

// newGemm chooses how to make a product. The steps of a, b and of whatever C
// will be are along shape: batch dimensions, m, n, k.
func newGemm(t *spec.Target, plan *spec.Plan, shape []int, a, b gemmMatrix) *gemm {
	g := &gemm{t: t, plan: plan, shape: shape, a: a, b: b, parts: 1, reads: tensor.F32}
	m, n, k := g.size(g.dimM()), g.size(g.dimN()), g.size(g.dimK())
	switch kb, nb := b.steps[g.dimK()], b.steps[g.dimN()]; {
	case a.dtype == tensor.F64 || !hasTexels(t, smallGroup) || t.Strategy == byShared || t.Strategy == byLarge || t.Strategy == byMatrix:
		g.mode = gemmShared
	case t.Strategy == byPanel || t.Strategy == byWide || t.Strategy == byTall || t.Strategy == byRow:
	case t.Strategy == byDot:
		g.mode = gemmDot
	case !usesTexels(t, smallGroup):
		g.mode = gemmShared
	case n <= 8 && m >= n || m <= 8 && kb == 1 && nb != 1 && n > m:
		g.mode = gemmDot
	}
	if g.mode != gemmShared {
		g.a.steps, g.b.steps = slices.Clone(a.steps), slices.Clone(b.steps)
		for d, n := range shape[:g.dimK()] {
			if n == 1 { // nothing is stepped over
				g.a.steps[d], g.b.steps[d] = 0, 0
			}
		}
		g.reads = g.narrow()
	}
	if g.mode != gemmShared {
		// Four columns of an operand must fit a binding to be packed, and the least
		// piece of one that is not.
		x, y := g.sides()
		for _, s := range []side{x, y} {
			col := s.dim
			if s.alone {
				col = g.dimK()
			}
			reach := int64(min(g.size(col), 4)-1) * int64(s.steps[col])
			if !s.pack { // pieces of k are of eight, of columns of eight at most
				reach = int64(min(k, 8)-1)*int64(s.steps[g.dimK()]) + int64(min(g.size(s.dim), 8)-1)*int64(s.steps[s.dim])
			}
			if reach >= (maxSpan(t, true)-windowAlign(t))/int64(s.dtype.Size()) {
				g.mode = gemmShared
			}
		}
	}
	groups := int64(ceilDiv(m, g.tile().rows)) * int64(ceilDiv(n, g.tile().cols))
	if g.swapped() {
		groups = int64(ceilDiv(n, g.tile().rows)) * int64(ceilDiv(m, g.tile().cols))
	}
	for _, d := range shape[:g.dimM()] {
		groups *= int64(d)
	}
	enough, least := int64(16), 1024
	if g.mode == gemmShared && !t.CPU {
		enough, least = 512, 256
	}
	if groups > 0 && groups < enough && t.Strategy != byWhole {
		g.parts = max(min(int(enough/groups), k/least, int(t.MaxGroups[2])), 1)
	}
	if g.mode == gemmPanel && g.byRow() && g.long() && t.Strategy != byWhole {
		g.parts = max(g.parts, min(g.slices(), int(t.MaxGroups[2])))
	}
	for g.parts > 1 && !g.partsFit() {
		g.parts--
	}
	return g
}

// partsFit reports whether bindings hold the least piece of the operands that are read
// where they lie: eight steps of k for each part, and of columns eight at most.
func (g *gemm) partsFit() bool {
	if g.mode == gemmShared {
		return true
	}
	x, y := g.sides()
	for _, s := range []side{x, y} {
		reach := int64(min(g.size(g.dimK()), 8*g.parts)-1)*int64(s.steps[g.dimK()]) + int64(min(g.size(s.dim), 8)-1)*int64(s.steps[s.dim])
		if !s.pack && reach >= (maxSpan(g.t, true)-windowAlign(g.t))/int64(s.dtype.Size()) {
			return false
		}
	}
	return true
}

func (g *gemm) dimM() int        { return len(g.shape) - 3 }
func (g *gemm) dimN() int        { return len(g.shape) - 2 }
func (g *gemm) dimK() int        { return len(g.shape) - 1 }
func (g *gemm) inner() int       { return len(g.shape) - 4 }
func (g *gemm) outer() int       { return len(g.shape) - 5 }
func (g *gemm) size(dim int) int { return g.shape[dim] }

// swapped reports whether the kernel's rows are C's columns.
func (g *gemm) swapped() bool {
	return g.mode == gemmDot && !(g.size(g.dimN()) <= 8 && g.size(g.dimM()) >= g.size(g.dimN()))
}

// gemmTile is a kernel and the part of C that a workgroup of it makes.
type gemmTile struct {
	kernel     string
	rows, cols int
}

func (g *gemm) tile() gemmTile {
	switch {
	case g.mode == gemmDot && min(g.size(g.dimM()), g.size(g.dimN())) == 1 && max(g.size(g.dimM()), g.size(g.dimN())) > 8:
		return gemmTile{"blas/matmul_dot." + g.reads.String() + ".one", 64, 1}
	case g.mode == gemmDot:
		return gemmTile{"blas/matmul_dot." + g.reads.String(), 8, 4}
	case g.mode == gemmShared:
		return g.sharedTile()
	}
	m, n, k := g.size(g.dimM()), g.size(g.dimN()), g.size(g.dimK())
	switch {
	case g.t.Strategy == byPanel:
	case g.byRow() && g.long():
		return gemmTile{"blas/matmul_panel." + g.reads.String() + ".long", 1, 512}
	case g.byRow():
		return gemmTile{"blas/matmul_panel." + g.reads.String() + ".row", 1, 64}
	// The widest tiles take longest to compile.
	case g.t.Strategy == byWide || g.t.Strategy != byTall && m > 32 && n > 64 && int64(m)*int64(n)*int64(k) >= 1<<21:
		return gemmTile{"blas/matmul_panel.f32.wide", 16, 128}
	case g.t.Strategy == byTall || m > 32 && n > 32 && int64(m)*int64(n)*int64(k) >= 1<<21:
		return gemmTile{"blas/matmul_panel.f32.tall", 32, 64}
	}
	return gemmTile{"blas/matmul_panel.f32", 8, 64}
}

// sharedTile is tile for the kernels that share memory.
func (g *gemm) sharedTile() gemmTile {
	d := g.a.dtype
	if d == tensor.F64 {
		return gemmTile{"blas/matmul.f64", 32, 32}
	}
	if tile := g.matrixTile(); tile.rows > 0 && g.matrices() {
		return tile
	}
	name := "blas/matmul." + g.b.dtype.String()
	if d != g.b.dtype {
		name += ".wide"
	}
	if g.large() {
		return gemmTile{name + ".large", 128, 128}
	}
	return gemmTile{name, 64, 64}
}

// matrixTile is the kernel of cooperative matrices for the device, none if there is
// none: of rows = 0.
func (g *gemm) matrixTile() gemmTile {
	t := g.t
	if g.a.dtype != tensor.F16 || g.b.dtype != tensor.F16 {
		return gemmTile{}
	}
	for _, k := range []struct {
		edge, lanes uint32
		tile        gemmTile
	}{
		{16, 32, gemmTile{"blas/matmul_coop.f16.m16.s32", 128, 128}},
		{16, 64, gemmTile{"blas/matmul_coop.f16.m16.s64", 128, 128}},
		{8, 8, gemmTile{"blas/matmul_coop.f16.m8.s8", 32, 32}},
	} {
		if t.Matrix == [3]uint32{k.edge, k.edge, k.edge} && t.SubgroupSize == k.lanes && t.MaxInvocations >= 4*k.lanes && t.MaxSharedBytes >= 32<<10 {
			return k.tile
		}
	}
	return gemmTile{}
}

// matrices reports whether to take it.
func (g *gemm) matrices() bool {
	switch g.t.Strategy {
	case byMatrix:
		return true
	case byShared, byLarge:
		return false
	}
	return !g.t.CPU && min(g.size(g.dimM()), g.size(g.dimN())) > 16
}

// takesLarge reports whether workgroups may be as large as the larger tiles want
// them: 256 invocations and 16 KiB.
func (g *gemm) takesLarge() bool {
	return g.a.dtype != tensor.F64 && g.t.MaxInvocations >= 256 && g.t.MaxSharedBytes >= 16<<10
}

// large reports whether to take them: where enough of them are left to keep a
// device busy, since each element loaded is used twice as often.
func (g *gemm) large() bool {
	if !g.takesLarge() || g.t.Strategy == byShared {
		return false
	}
	groups := int64(ceilDiv(g.size(g.dimM()), 128)) * int64(ceilDiv(g.size(g.dimN()), 128))
	for _, d := range g.shape[:g.dimM()] {
		groups *= int64(d)
	}
	return g.t.Strategy == byLarge || !g.t.CPU && groups >= 128
}

// cell is the dtype products are made in.
func (g *gemm) cell() tensor.DType {
	if g.a.dtype == tensor.F64 {
		return tensor.F64
	}
	return tensor.F32
}

// takes reports whether the kernels can write C, with such a bias or none.
func (g *gemm) takes(c gemmMatrix, bias *gemmMatrix) bool {
	switch {
	case c.dtype != g.cell() || g.parts > 1:
		return false
	case g.mode == gemmPanel:
		return c.whole(g.dimN()) && g.size(g.dimN())%4 == 0
	case g.mode == gemmDot:
		return bias == nil
	}
	return true
}

// scratch adds a temporary buffer of the plan.
func (g *gemm) scratch(bytes int64) spec.Ref {
	g.plan.Scratch = append(g.plan.Scratch, bytes)
	return spec.Scratch(len(g.plan.Scratch) - 1)
}

// into plans out = A·B + bias for a contiguous out of any dtype, whose steps are
// along the batch dimensions, m and n.
func (g *gemm) into(out gemmMatrix, bias *gemmMatrix) error {
	all := box{make([]int, len(g.shape)), slices.Clone(g.shape)}
	if slices.Contains(g.shape[:g.dimK()], 0) {
		return nil
	}
	if g.takes(out, bias) {
		return g.region(all, out, bias, false)
	}
	// By way of a temporary buffer: whole matrices, or whole rows of one, or a
	// piece of a row, as many as fit.
	span := maxSpan(g.t, g.mode != gemmShared)
	room := (min(span, gemmBudget) - windowAlign(g.t)) / int64(g.cell().Size()*g.parts)
	n, m := g.size(g.dimN()), g.size(g.dimM())
	wide := ceilDiv(n, 4) * 4
	rows, cols, matrices := m, n, 1
	switch {
	case int64(wide)*min(int64(m), 64) > room:
		// Pieces of as many rows as the result's window holds, if not too many.
		reach := (span - windowAlign(g.t)) / int64(out.dtype.Size())
		rows = int(min(int64(m), 256, max((reach-room/256)/int64(n), 1)))
		cols = min(int(room/int64(rows))/8*8, n)
		wide = ceilDiv(cols, 4) * 4
	case int64(wide)*int64(m) > room:
		rows = int(room / int64(wide))
	case g.parts == 1:
		matrices = max(int(min(room/(int64(wide)*int64(m)), int64(g.size(g.inner())))), 1)
	}
	part := matrices * rows * wide
	parts := g.scratch(int64(part) * int64(g.parts*g.cell().Size()))
	if g.parts > 1 {
		g.part = rows * wide
	}
	step := slices.Clone(g.shape)
	for d := range g.outer() + 1 {
		step[d] = 1
	}
	step[g.inner()], step[g.dimM()], step[g.dimN()] = matrices, rows, cols
	return tiles(all, step, func(b box) error {
		c := gemmMatrix{strided: strided{ref: parts, dtype: g.cell(), steps: make([]int, len(g.shape))}}
		c.steps[g.inner()], c.steps[g.dimM()], c.steps[g.dimN()] = rows*wide, wide, 1
		for d, from := range b.from {
			c.base -= int64(from) * int64(c.steps[d])
		}
		if err := g.region(b, c, nil, false); err != nil {
			return err
		}
		return g.finish(b, parts, part, wide, out, bias)
	})
}

// tiles calls f with the boxes of at most step indices that tile b, in order.
func tiles(b box, step []int, f func(box) error) error {
	at := slices.Clone(b.from)
	for {
		t := box{slices.Clone(at), make([]int, len(at))}
		for d := range at {
			t.n[d] = min(step[d], b.from[d]+b.n[d]-at[d])
		}
		if err := f(t); err != nil {
			return err
		}
		d := len(at) - 1
		for ; d >= 0; d-- {
			if at[d] += max(step[d], 1); at[d] < b.from[d]+b.n[d] {
				break
			}
			at[d] = b.from[d]
		}
		if d < 0 {
			return nil
		}
	}
}

// finish plans the sum of the parts of the box, with the bias, to the output.
func (g *gemm) finish(b box, parts spec.Ref, part, wide int, out gemmMatrix, bias *gemmMatrix) error {
	first := out.base
	count := int64(1)
	for d := range g.dimK() {
		first += int64(b.from[d]) * int64(out.steps[d])
		count *= int64(b.n[d])
	}
	n, m := g.dimN(), g.dimM()
	runs := int64(1)
	if b.n[n] < g.size(n) {
		runs, count = int64(b.n[m]), int64(b.n[n])
	}
	size := int64(out.dtype.Size())
	offset := first * size / windowAlign(g.t) * windowAlign(g.t)
	reach := (runs-1)*int64(g.size(n)) + count
	p := finishParams{
		Base: uint32((first*size - offset) / size), Count: uint32(count), Runs: uint32(runs), RunStep: uint32(g.size(n)),
		Packs: uint32(ceilDiv(count*size, 16) + 1),
		N:     uint32(b.n[n]), Row: uint32(wide), Parts: uint32(g.parts), Part: uint32(part),
	}
	s := spec.Step{Kernel: "blas/matmul_finish." + out.dtype.String(), Bind: []spec.Bind{{Buf: parts}, {Buf: parts}, {}}}
	if bias != nil {
		p.Bias = 1
		s.Bind[1], p.BiasBase = bias.bound(g.t, b)
	}
	if g.mode != gemmShared {
		s.Kernel += ".texel"
		if pack := perTexel(out.dtype); g.size(n)%pack == 0 && b.n[n]%pack == 0 && p.Base%uint32(pack) == 0 && p.BiasBase%uint32(pack) == 0 {
			s.Kernel = "blas/matmul_finish." + out.dtype.String() + ".flat"
			p.Packs = uint32(count / int64(pack))
		}
	}
	s.Bind[2] = spec.Bind{Buf: out.ref, Offset: offset, Size: (first*size - offset + reach*size + 15) &^ 15}
	s.Params = p
	var err error
	s.Groups, err = grid(g.t, ceilDiv(runs*int64(p.Packs), smallGroup))
	g.plan.Steps = append(g.plan.Steps, s)
	return err
}

// bound is window for an operand with a base.
func (o gemmMatrix) bound(t *spec.Target, b box) (spec.Bind, uint32) {
	first := o.base
	for d, from := range b.from {
		first += int64(from) * int64(o.steps[d])
	}
	size := int64(o.dtype.Size())
	offset := first * size / windowAlign(t) * windowAlign(t)
	end := (first + o.extent(b)) * size
	return spec.Bind{Buf: o.ref, Offset: offset, Size: (end - offset + 15) &^ 15}, uint32((first*size - offset) / size)
}
