package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// packBudget is the largest size of each temporary buffer of a product on a CPU driver, in bytes.
const packBudget = 16 << 20

// kernelKind is the kind of the kernels that compute a product.
type kernelKind uint8

const (
	// panelKind kernels are for CPU drivers. Each invocation computes a tile in registers,
	// and reads texel buffers.
	panelKind kernelKind = iota
	// dotKind kernels are for CPU drivers too. One side of the result is at most a few
	// vectors wide.
	dotKind
	// sharedKind kernels read tiles into memory that a workgroup shares.
	sharedKind
)

// product plans C = A·B or C += A·B. The index space consists of two or more batch
// dimensions, m, n and k. Operands have a stride for each of them, which is 0 where the
// operand does not vary.
type product struct {
	t    *spec.Target
	plan *spec.Plan
	// shape is the size of each dimension of the index space.
	shape []int
	a, b  planner.Operand
	kind  kernelKind
	// parts is the number of parts of k that are computed at the same time. Their results
	// are part elements apart in C. If it is more than 1, a region has one index of the outer batch.
	parts, part int
	// packedAt are the indices of the scratch buffers for packed operands, counted from 1.
	// 0 means that there is no buffer yet.
	packedAt [2]int
	// unread is a buffer to bind where a kernel reads nothing.
	unread spec.Ref
	// run is the length of a part along k. 0 means that k is divided evenly.
	run int
	// filled says that the first operand is filled with zeros along k up to whole texels.
	filled bool
	// far says that C may be a temporary buffer that is larger than a binding.
	far bool
	// reads is the dtype of the operand that a kernel may read in 16 bits. The other
	// operand has that of the arithmetic.
	reads tensor.DType
}

// newProduct chooses the kernels for a product. The shape consists of the batch
// dimensions, m, n and k, and so do the strides of a and b.
func newProduct(t *spec.Target, plan *spec.Plan, shape []int, a, b planner.Operand) *product {
	g := &product{t: t, plan: plan, shape: shape, a: a, b: b, parts: 1}
	g.reads = g.accumulator()
	m, n, k := g.size(g.dimM()), g.size(g.dimN()), g.size(g.dimK())
	switch kb, nb := b.Strides[g.dimK()], b.Strides[g.dimN()]; {
	case !planner.HasTexels(t, planner.SmallGroup) || t.Strategy == byShared || t.Strategy == byLarge || t.Strategy == byMatrix:
		g.kind = sharedKind
	case slices.Contains(panels, t.Strategy):
	case t.Strategy == byDot:
		g.kind = dotKind
	case !planner.UsesTexels(t, planner.SmallGroup):
		g.kind = sharedKind
	case n <= 8 && m >= n || m <= 8 && kb == 1 && nb != 1 && n > m:
		g.kind = dotKind
	}
	if g.kind != sharedKind {
		g.a.Strides, g.b.Strides = slices.Clone(a.Strides), slices.Clone(b.Strides)
		for d, n := range shape[:g.dimK()] {
			if n == 1 { // The stride of a dimension of size 1 does not matter.
				g.a.Strides[d], g.b.Strides[d] = 0, 0
			}
		}
		g.reads = g.directDType()
	}
	if g.kind != sharedKind {
		// Four columns of an operand must fit a binding if it is packed. If it is not
		// packed, the smallest chunk must fit.
		x, y := g.sides()
		for _, s := range []side{x, y} {
			col := s.dim
			if s.alongK || s.turned {
				col = g.dimK()
			}
			reach := int64(min(g.size(col), 4)-1) * int64(s.Strides[col])
			if !s.pack && !s.turned { // A chunk has at most eight indices of k, and at most eight columns.
				reach = int64(min(k, 8)-1)*int64(s.Strides[g.dimK()]) + int64(min(g.size(s.dim), 8)-1)*int64(s.Strides[s.dim])
			}
			if reach >= (planner.MaxSpan(t, true)-planner.WindowAlign(t))/int64(s.DType.Size()) {
				g.kind = sharedKind
			}
		}
	}
	groups := int64(planner.CeilDiv(m, g.tile().rows)) * int64(planner.CeilDiv(n, g.tile().cols))
	if g.swapped() {
		groups = int64(planner.CeilDiv(n, g.tile().rows)) * int64(planner.CeilDiv(m, g.tile().cols))
	}
	for _, d := range shape[:g.dimM()] {
		groups *= int64(d)
	}
	enough, least := int64(16), 1024
	if g.kind == sharedKind && !t.CPU {
		enough, least = 512, 256
	}
	if groups > 0 && groups < enough && t.Strategy != byWhole {
		g.parts = max(min(int(enough/groups), k/least, int(t.MaxGroups[2])), 1)
	}
	if g.kind == panelKind && g.usesRows() && g.usesLong() && t.Strategy != byWhole {
		g.parts = max(g.parts, min(g.longSlices(), int(t.MaxGroups[2])))
	}
	for g.parts > 1 && !g.partsFit() {
		g.parts--
	}
	return g
}

// partsFit reports whether bindings hold the smallest chunk of each operand that is not
// packed: eight indices of k for each part, and at most eight columns.
func (g *product) partsFit() bool {
	if g.kind == sharedKind {
		return true
	}
	x, y := g.sides()
	for _, s := range []side{x, y} {
		reach := int64(min(g.size(g.dimK()), 8*g.parts)-1)*int64(s.Strides[g.dimK()]) + int64(min(g.size(s.dim), 8)-1)*int64(s.Strides[s.dim])
		if !s.pack && !s.turned && reach >= (planner.MaxSpan(g.t, true)-planner.WindowAlign(g.t))/int64(s.DType.Size()) {
			return false
		}
	}
	return true
}

// These are the dimensions of the index space. inner and outer are the last two batch
// dimensions.

func (g *product) dimM() int        { return len(g.shape) - 3 }
func (g *product) dimN() int        { return len(g.shape) - 2 }
func (g *product) dimK() int        { return len(g.shape) - 1 }
func (g *product) inner() int       { return len(g.shape) - 4 }
func (g *product) outer() int       { return len(g.shape) - 5 }
func (g *product) size(dim int) int { return g.shape[dim] }

// swapped reports whether the rows of the kernel are the columns of C.
func (g *product) swapped() bool {
	if g.lanes() == lanesTurned {
		return true
	}
	if form, turned := g.vector(); form != noVector {
		return turned
	}
	return g.kind == dotKind && !(g.size(g.dimN()) <= 8 && g.size(g.dimM()) >= g.size(g.dimN()))
}

// tile is a kernel, and the size of the part of C that one workgroup of it computes.
type tile struct {
	// kernel is the name of the kernel.
	kernel string
	// rows and cols are the size in elements. rows is 0 if there is no kernel.
	rows, cols int
}

// tile returns the kernel that suits the product, the device and the strategy.
func (g *product) tile() tile {
	switch {
	case g.kind == dotKind && min(g.size(g.dimM()), g.size(g.dimN())) == 1 && max(g.size(g.dimM()), g.size(g.dimN())) > 8:
		return tile{"blas/matmul_dot." + g.reads.String() + ".one", 64, 1}
	case g.kind == dotKind:
		return tile{"blas/matmul_dot." + g.reads.String(), 8, 4}
	case g.kind == sharedKind:
		return g.sharedTile()
	}
	m, n, k := g.size(g.dimM()), g.size(g.dimN()), g.size(g.dimK())
	free := !slices.Contains(panels, g.t.Strategy)
	switch {
	case g.t.Strategy == byPanel:
	case g.usesRows() && g.usesLong():
		return tile{"blas/matmul_panel." + g.reads.String() + ".long", 1, g.longPanel()}
	case g.usesRows():
		return g.panelTile("row", 1, 64)
	case g.shuffles() && (g.t.Strategy == byNarrow || free && m > 8 && n <= 32):
		return g.panelTile("narrow", 16, 32)
	case g.shuffles() && (g.t.Strategy == byBlock || free && m > 8):
		return g.panelTile("block", 16, 64)
	// The largest tiles are slow to compile. They are for large products.
	case g.t.Strategy == byWide || g.t.Strategy != byTall && m > 32 && n > 64 && int64(m)*int64(n)*int64(k) >= 1<<21:
		return g.panelTile("wide", 16, 128)
	case g.t.Strategy == byTall || m > 32 && n > 32 && int64(m)*int64(n)*int64(k) >= 1<<21:
		return g.panelTile("tall", 32, 64)
	}
	return g.panelTile("", 8, 64)
}

// panelTile is a tile of rows by cols elements, or half as many columns in F64, which have the same size.
func (g *product) panelTile(variant string, rows, cols int) tile {
	kernel := "blas/matmul_panel." + g.reads.String()
	if variant != "" {
		kernel += "." + variant
	}
	if g.accumulator() == tensor.F64 {
		cols /= 2
	}
	return tile{kernel, rows, cols}
}

// sharedTile is tile for sharedKind.
func (g *product) sharedTile() tile {
	d := g.a.DType
	if form, turned := g.vector(); form != noVector {
		return g.vectorTile(form, turned)
	}
	if d == tensor.F64 {
		return tile{"blas/matmul.f64", 32, 32}
	}
	if tile := g.matrixTile(); tile.rows > 0 && g.usesMatrices() {
		return tile
	}
	if form := g.lanes(); form != noLanes {
		return g.lanesKernel(form)
	}
	name := "blas/matmul." + g.b.DType.String()
	if d != g.b.DType {
		name += ".wide"
	}
	if g.usesLarge() {
		return tile{name + ".large", 128, 128}
	}
	return tile{name, 64, 64}
}

// HasLarge reports whether the device allows the workgroups of the larger tiles. They
// have 256 invocations and 16 KiB of shared memory.
func HasLarge(t *spec.Target) bool { return t.MaxInvocations >= 256 && t.MaxSharedBytes >= 16<<10 }

// hasLarge reports whether there are larger tiles for the product.
func (g *product) hasLarge() bool { return g.a.DType != tensor.F64 && HasLarge(g.t) }

// usesLarge reports whether to use the larger tiles. They use each loaded element twice
// as often, but there must be enough of them to keep a device busy.
func (g *product) usesLarge() bool {
	if !g.hasLarge() || g.t.Strategy == byShared {
		return false
	}
	groups := int64(planner.CeilDiv(g.size(g.dimM()), 128)) * int64(planner.CeilDiv(g.size(g.dimN()), 128))
	for _, d := range g.shape[:g.dimM()] {
		groups *= int64(d)
	}
	return g.t.Strategy == byLarge || !g.t.CPU && groups >= 128
}

// accumulator returns the dtype in which products are computed.
func (g *product) accumulator() tensor.DType {
	if g.a.DType == tensor.F64 {
		return tensor.F64
	}
	return tensor.F32
}

// canWrite reports whether the kernels can write to c and add the bias, which may be nil.
func (g *product) canWrite(c planner.Operand, bias *planner.Operand) bool {
	switch {
	case c.DType != g.accumulator() || g.parts > 1:
		return false
	case g.kind == panelKind:
		return inTexels(c, g.dimN()) && g.size(g.dimN())%4 == 0
	case g.kind == dotKind, g.lanes() == lanesTurned:
		return bias == nil
	}
	return true
}

// addTo appends the steps for out = A·B + bias. out is contiguous and may have any dtype.
// Its strides are along the batch dimensions, m and n.
func (g *product) addTo(out planner.Operand, bias *planner.Operand) error {
	if slices.Contains(g.shape[:g.dimK()], 0) {
		return nil
	}
	return g.addPart(planner.RegionOf(g.shape), out, bias)
}

// addPart is addTo for a region of the index space, which is not empty.
func (g *product) addPart(all planner.Region, out planner.Operand, bias *planner.Operand) error {
	if g.canWrite(out, bias) {
		return g.addRegion(all, out, bias, false)
	}
	reach := (planner.MaxSpan(g.t, g.kind != sharedKind) - planner.WindowAlign(g.t)) / int64(out.DType.Size())
	return g.addChunks(all, planner.ScratchBudget(g.t, packBudget), reach, func(b planner.Region, c chunk) error { return g.addFinish(b, c, out, bias) })
}

// chunk is a region of C in a temporary buffer: whole matrices one after the other, or rows of one
// matrix. If k has parts, each of them has the region.
type chunk struct {
	// parts is the buffer, in the dtype of the accumulators.
	parts spec.Ref
	// part is the number of elements from part to part, and wide that from row to row.
	part, wide int
}

// addChunks appends the steps for the products of a region, which go to a temporary buffer of at most
// budget bytes. The buffer holds whole matrices, or whole rows of one matrix, or chunks of rows, as many as
// fit. finish appends the launch that takes a chunk from there. reach is the number of elements of the
// result that it can bind.
func (g *product) addChunks(all planner.Region, budget, reach int64, finish func(b planner.Region, c chunk) error) error {
	span := planner.MaxSpan(g.t, g.kind != sharedKind)
	room := (min(span, budget) - planner.WindowAlign(g.t)) / int64(g.accumulator().Size()*g.parts)
	n, m := all.N[g.dimN()], all.N[g.dimM()]
	wide := planner.CeilDiv(n, 4) * 4
	rows, cols, matrices, outers := m, n, 1, 1
	switch {
	case int64(wide)*min(int64(m), 64) > room:
		// A chunk has as many rows as a binding of the result holds, but not too many.
		rows = int(min(int64(m), 256, max((reach-room/256)/int64(g.size(g.dimN())), 1), max(room/8, 1)))
		cols = min(int(room/int64(rows))/8*8, n)
		wide = planner.CeilDiv(cols, 4) * 4
	case int64(wide)*int64(m) > room:
		rows = int(room / int64(wide))
		if tile := g.tile().rows; g.kind == sharedKind && rows > tile {
			rows = rows / tile * tile
		}
	default:
		most := room / (int64(wide) * int64(m))
		matrices = max(int(min(most, int64(all.N[g.inner()]))), 1)
		if g.parts == 1 && matrices == all.N[g.inner()] { // Otherwise one of the levels of a grid counts the parts.
			outers = max(int(min(most/int64(matrices), int64(all.N[g.outer()]))), 1)
		}
	}
	if n < g.size(g.dimN()) { // The rows of a part are those of the result, which are longer.
		rows, matrices, outers = int(max(min(int64(rows), (reach-int64(cols))/int64(g.size(g.dimN()))+1), 1)), 1, 1
	}
	c := chunk{part: outers * matrices * rows * wide, wide: wide}
	c.parts = planner.AddScratch(g.plan, int64(c.part)*int64(g.parts*g.accumulator().Size()))
	if g.parts > 1 {
		g.part = c.part
	}
	step := slices.Clone(g.shape)
	for d := range g.outer() {
		step[d] = 1
	}
	step[g.outer()], step[g.inner()], step[g.dimM()], step[g.dimN()] = outers, matrices, rows, cols
	return planner.Tiles(all, step, func(b planner.Region) error {
		to := planner.Operand{Ref: c.parts, DType: g.accumulator(), Strides: make([]int, len(g.shape))}
		to.Strides[g.outer()], to.Strides[g.inner()] = b.N[g.inner()]*b.N[g.dimM()]*wide, b.N[g.dimM()]*wide
		to.Strides[g.dimM()], to.Strides[g.dimN()] = wide, 1
		for d, from := range b.From {
			to.Base -= from * to.Strides[d]
		}
		if err := g.addRegion(b, to, nil, false); err != nil {
			return err
		}
		return finish(b, c)
	})
}

// addFinish appends the launch that adds the parts of a region and the bias, and writes
// to the output.
func (g *product) addFinish(b planner.Region, c chunk, out planner.Operand, bias *planner.Operand) error {
	count := int64(1)
	for d := range g.dimK() {
		count *= int64(b.N[d])
	}
	n, m := g.dimN(), g.dimM()
	runs := int64(1)
	if b.N[n] < g.size(n) {
		runs, count = int64(b.N[m]), int64(b.N[n])
	}
	size := int64(out.DType.Size())
	reach := (runs-1)*int64(g.size(n)) + count
	to, first := planner.Window(g.t, out.Ref, int(size), out.First(b), reach)
	p := finishParams{
		Base: first, Count: uint32(count), Runs: uint32(runs), RunStep: uint32(g.size(n)),
		Packs: uint32(planner.CeilDiv(count*size, 16) + 1),
		N:     uint32(b.N[n]), Row: uint32(c.wide), Parts: uint32(g.parts), Part: uint32(c.part),
	}
	kernel := "blas/matmul_finish." + out.DType.String()
	s := spec.Step{Bind: []spec.Bind{{Buf: c.parts}, {Buf: c.parts}, to}}
	if bias != nil {
		p.Bias = 1
		s.Bind[1], p.BiasBase = bias.Window(g.t, b)
	}
	if g.kind != sharedKind && g.accumulator() != tensor.F64 {
		texel := kernel + ".texel"
		if pack := perTexel(out.DType); g.size(n)%pack == 0 && b.N[n]%pack == 0 && p.Base%uint32(pack) == 0 && p.BiasBase%uint32(pack) == 0 {
			texel = kernel + ".flat"
			p.Packs = uint32(count / int64(pack))
		}
		kernel = texel
	}
	s.Module, s.Params = spirv.Kernel(kernel), p
	var err error
	s.Groups, err = planner.Grid(g.t, planner.CeilDiv(runs*int64(p.Packs), planner.SmallGroup))
	g.plan.Steps = append(g.plan.Steps, s)
	return err
}
