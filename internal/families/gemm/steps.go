package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// side is an operand as a kernel reads it. It varies along k and along the rows or the
// columns of C. The kernel reads it in place, or a packed copy of it.
type side struct {
	planner.Operand
	// dim is the dimension of C along which the operand varies.
	dim int
	// alongK says that neighbours in a texel are neighbours along k. Otherwise they are
	// neighbours along dim.
	alongK bool
	// pack says that the kernel reads a packed copy, and panels that this is one of panels.
	pack, panels bool
	// turned says that the kernel reads the first operand in place, in texels of neighbours along dim. If
	// these cannot be bound, it is packed along k.
	turned bool
	// slot is 0 for the first operand of the product and 1 for the second.
	slot int
}

// sides returns the first and the second operand of the kernel, which may be swapped.
func (g *product) sides() (x, y side) {
	x = side{Operand: g.a, dim: g.dimM(), alongK: true, slot: 0}
	y = side{Operand: g.b, dim: g.dimN(), alongK: g.kind == dotKind, slot: 1}
	if g.swapped() {
		x, y = side{Operand: g.b, dim: g.dimN(), alongK: true, slot: 1}, side{Operand: g.a, dim: g.dimM(), alongK: true, slot: 0}
	}
	switch form := g.lanes(); {
	case g.kind != sharedKind:
		for _, s := range []*side{&x, &y} {
			s.pack = !g.isReadable(*s)
		}
		if x.pack && g.readsTurned(x) {
			x.pack, x.alongK, x.turned = false, false, true
		}
	case form == lanesTile:
		x.pack = x.DType != tensor.F32 || x.Strides[g.dimK()] != 1 && g.size(g.dimK()) > 1
		y.pack = g.packsPanels(y)
	case form != noLanes:
		y.alongK = true
	}
	return x, y
}

// packedSize returns the size of the packed copy of a side in region b: rows by cols
// elements. Rows consist of whole texels. k is filled up to whole texels in both
// directions.
func (g *product) packedSize(s side, b planner.Region) (rows, cols int) {
	k, d := planner.CeilDiv(b.N[g.dimK()], 4)*4, b.N[s.dim]
	if s.alongK {
		return d, k
	}
	if g.kind == sharedKind {
		return b.N[g.dimK()], planner.CeilDiv(d, panelColumns) * panelColumns
	}
	return k, planner.CeilDiv(d, 4) * 4
}

// packedStrides returns the strides of the packed copy of a side in region b, and its
// number of elements. Batch dimensions along which the side does not vary share one copy.
func (g *product) packedStrides(s side, b planner.Region) (strides []int, elems int) {
	strides = make([]int, len(g.shape))
	rows, cols := g.packedSize(s, b)
	elems = rows * cols
	if s.alongK {
		strides[s.dim], strides[g.dimK()] = cols, 1
	} else {
		strides[s.dim], strides[g.dimK()] = 1, cols
		if g.kind == sharedKind {
			strides[s.dim], strides[g.dimK()] = rows, panelColumns
		}
	}
	for _, d := range []int{g.inner(), g.outer()} {
		if s.Strides[d] != 0 && b.N[d] > 1 {
			strides[d] = elems
			elems *= b.N[d]
		}
	}
	return strides, elems
}

// addRegion appends the steps for a region of C, or for its parts. The kernels can write
// to c. If add is true, they add to it.
func (g *product) addRegion(all planner.Region, c planner.Operand, bias *planner.Operand, add bool) error {
	x, y := g.sides()
	k := g.dimK()
	step, err := g.chunks(all, x, y, c)
	if x.turned && (err != nil || g.isOfRows(bias) || all.From[x.dim]%perTexel(x.DType) != 0) {
		x.pack, x.alongK, x.turned = true, true, false
		step, err = g.chunks(all, x, y, c)
	}
	if err != nil {
		return err
	}
	// The loop over k is the middle one. So a packed y serves all rows, and each part of C
	// is complete soon.
	order := func(b planner.Region, dims []int, f func(planner.Region) error) error {
		part := slices.Clone(b.N)
		for _, d := range dims {
			part[d] = step[d]
		}
		return planner.Tiles(b, part, f)
	}
	var outside []int
	for d := range g.dimM() {
		outside = append(outside, d)
	}
	return order(all, append(outside, y.dim), func(b planner.Region) error {
		if b.N[k] == 0 {
			return order(b, []int{x.dim}, func(b planner.Region) error { return g.addLaunch(b, x, y, c, bias, add) })
		}
		return order(b, []int{k}, func(b planner.Region) error {
			cy, err := g.packSide(y, b)
			if err != nil {
				return err
			}
			return order(b, []int{x.dim}, func(b planner.Region) error {
				cx, err := g.packSide(x, b)
				if err != nil {
					return err
				}
				again := add || b.From[k] > all.From[k]
				own := bias
				if again {
					own = nil // The bias was added with the first chunk of k.
				}
				return g.addLaunch(b, cx, cy, c, own, again)
			})
		})
	})
}

// chunks returns how many indices of each dimension a launch for a part of the region gets, so that operands fit bindings.
func (g *product) chunks(all planner.Region, x, y side, c planner.Operand) ([]int, error) {
	step := slices.Clone(all.N)
	for d := range g.outer() {
		step[d] = 1
	}
	k := g.dimK()
	step[k] = max(min(all.N[k], g.parts*dotRun), 1)
	if err := g.shrink(step, x, y, c); err != nil {
		return nil, err
	}
	// The parts of the second chunk would not be those of the first one.
	if g.run > 0 && g.parts > 1 && step[k] < all.N[k] {
		return nil, &errs.LimitError{Name: "MaxBinding", Want: y.Extent(all) * int64(y.DType.Size()), Have: planner.MaxSpan(g.t, g.kind != sharedKind)}
	}
	return step, nil
}

// shrink reduces the chunk sizes in step until the elements that a chunk needs of each
// operand fit bindings and temporary buffers.
func (g *product) shrink(step []int, x, y side, c planner.Operand) error {
	span := planner.MaxSpan(g.t, g.kind != sharedKind)
	room := span - planner.WindowAlign(g.t)
	b := planner.Region{From: make([]int, len(step)), N: step}
	k := g.dimK()
	// halve halves the first of dims that can shrink. The size stays a multiple of the
	// units that suit the kernels, and then of smaller units, before the next dimension is
	// tried.
	halve := func(dims ...int) bool {
		for _, d := range dims {
			units := []int{1}
			switch {
			case d == k && g.kind == sharedKind:
				units = []int{8 * g.parts, g.parts}
			case d == k:
				units = []int{8 * g.parts}
			case d == g.dimM() && x.turned:
				units = []int{16, perTexel(x.DType)}
			case d == g.dimM():
				units = []int{16, 1}
			case d == g.dimN() && g.kind == panelKind:
				units = []int{128, perTexel(g.reads)}
			case d == g.dimN():
				units = []int{128, 1}
			}
			for _, unit := range units {
				if half := planner.CeilDiv(planner.CeilDiv(step[d], 2), unit) * unit; half < step[d] {
					step[d] = half
					return true
				}
			}
		}
		return false
	}
	for {
		again := false
		for _, s := range []side{x, y} {
			need, have := s.Extent(b)*int64(s.DType.Size()), room
			if s.pack {
				_, elems := g.packedStrides(s, b)
				need, have = int64(elems)*int64(g.accumulator().Size()), min(planner.ScratchBudget(g.t, packBudget), span)
			}
			if need <= have || b.N[k] == 0 {
				continue
			}
			var dims []int
			for _, d := range []int{g.outer(), g.inner()} {
				if s.Strides[d] != 0 {
					dims = append(dims, d)
				}
			}
			far := []int{k, s.dim}
			if s.pack && step[k] <= 1024*g.parts || !s.pack && s.Strides[s.dim] > s.Strides[k] {
				far = []int{s.dim, k}
			}
			if !halve(append(dims, far...)...) {
				return &errs.LimitError{Name: "MaxBinding", Want: need, Have: have}
			}
			again = true
		}
		if need := (c.Extent(b) + int64(g.parts-1)*int64(g.part)) * int64(c.DType.Size()); need > room && (g.far || c.Ref.Kind != spec.RefScratch) {
			if !halve(g.outer(), g.inner(), g.dimM(), g.dimN()) {
				return &errs.LimitError{Name: "MaxBinding", Want: need, Have: room}
			}
			again = true
		}
		if !again {
			return nil
		}
	}
}

// packSide appends the steps that pack the elements of a side for region b, if the side
// must be packed. It returns the side that the kernel then reads.
func (g *product) packSide(s side, b planner.Region) (side, error) {
	if !s.pack {
		return s, nil
	}
	strides, elems := g.packedStrides(s, b)
	if g.packedAt[s.slot] == 0 {
		g.packedAt[s.slot] = 1 + len(g.plan.Scratch)
		g.plan.Scratch = append(g.plan.Scratch, 0)
	}
	n := g.packedAt[s.slot] - 1
	bytes := int64(elems) * int64(g.accumulator().Size())
	g.plan.Scratch[n] = max(g.plan.Scratch[n], bytes)
	to := side{Operand: planner.Operand{Ref: spec.Scratch(n), DType: g.accumulator(), Strides: strides}, dim: s.dim, alongK: s.alongK, slot: s.slot}
	for d, from := range b.From {
		to.Base -= from * strides[d]
	}
	if g.kind == sharedKind && !s.alongK {
		to.panels = true
		return to, g.addPanels(s, to.Ref, b, strides, elems)
	}
	row, col := g.dimK(), s.dim
	if s.alongK {
		row, col = col, row
	}
	// The source has the dimensions outer, inner, row and column. It is split into regions
	// that can be bound.
	dims := []int{g.outer(), g.inner(), row, col}
	src, all := planner.Operand{Ref: s.Ref, DType: s.DType, Base: s.Base}, planner.Region{}
	var dst [4]int
	for i, d := range dims {
		src.Strides = append(src.Strides, s.Strides[d])
		all.From, all.N = append(all.From, b.From[d]), append(all.N, b.N[d])
		dst[i] = strides[d]
		if i < 2 && strides[d] == 0 { // All indices share one copy.
			all.N[i] = 1
		}
	}
	for d := range g.outer() {
		src.Base += b.From[d] * s.Strides[d]
	}
	rows, _ := g.packedSize(s, b)
	texel := perTexel(to.DType)
	origin := slices.Clone(all.From)
	err := planner.Split(g.t, planner.MaxSpan(g.t, g.kind != sharedKind), all, []planner.Operand{src}, 4, func(q planner.Region) error {
		p := packParams{
			Rows: uint32(q.N[2]), Cols: uint32(q.N[3]), Wide: uint32(planner.CeilDiv(q.N[3], 4) * 4 / texel),
			SrcOuter: uint32(src.Strides[0]), SrcInner: uint32(src.Strides[1]), SrcRow: uint32(src.Strides[2]), SrcCol: uint32(src.Strides[3]),
			DstOuter: uint32(dst[0] / texel), DstInner: uint32(dst[1] / texel), DstRow: uint32(dst[2] / texel), Inner: uint32(q.N[1]),
		}
		last := origin[2]+all.N[2] == q.From[2]+q.N[2]
		write := q.N[2]
		if last { // The kernel also writes the zeros after the last row.
			write = rows - (q.From[2] - origin[2])
		}
		p.Count = uint32(write) * p.Wide
		at := 0
		for i := range dst {
			at += (q.From[i] - origin[i]) * dst[i]
		}
		p.DstBase = uint32(at / texel)
		kernel := "blas/matmul_pack." + s.DType.String()
		if g.kind == sharedKind {
			kernel += ".words"
		} else if s.DType.Size() == 2 && write == q.N[2] && inTexels(src, 3) && q.N[3]%perTexel(s.DType) == 0 {
			kernel += ".flat"
		}
		var from spec.Bind
		from, p.SrcBase = src.Window(g.t, q)
		groups := planner.CeilDiv(p.Count, 256)
		gx := min(groups, g.t.MaxGroups[0])
		z := uint32(q.N[0] * q.N[1])
		for p.Z = 0; p.Z < z; p.Z += g.t.MaxGroups[2] {
			g.plan.Steps = append(g.plan.Steps, spec.Step{
				Module: spirv.Kernel(kernel), Params: p,
				Bind:   []spec.Bind{from, {Buf: to.Ref, Size: bytes}},
				Groups: [3]uint32{gx, planner.CeilDiv(groups, gx), min(z-p.Z, g.t.MaxGroups[2])},
			})
		}
		return nil
	})
	return to, err
}

// addLaunch appends the launches of the kernel for a region whose operands can be bound.
func (g *product) addLaunch(b planner.Region, x, y side, c planner.Operand, bias *planner.Operand, add bool) error {
	tile := g.tile()
	k, inner, outer := g.dimK(), g.inner(), g.outer()
	// These are the elements that the kernel accesses at once: in x, in y, along n, and in
	// C.
	ux, uy, un, uc := 1, 1, 1, 1
	if g.kind != sharedKind {
		ux, uy = perTexel(x.DType), perTexel(y.DType)
	}
	if g.kind == panelKind {
		un, uc = perTexel(g.reads), perTexel(g.accumulator())
	}
	in := func(v, unit int) uint32 { return uint32(planner.CeilDiv(v, unit)) }
	p := productParams{
		M: uint32(b.N[x.dim]), N: in(b.N[y.dim], un), K: in(b.N[k], ux), KAll: in(b.N[k], ux),
		ARow: in(x.Strides[x.dim], ux), ACol: uint32(x.Strides[k]), AInner: in(x.Strides[inner], ux), AOuter: in(x.Strides[outer], ux),
		BRow: in(y.Strides[k], uy), BCol: in(y.Strides[y.dim], uy), BInner: in(y.Strides[inner], uy), BOuter: in(y.Strides[outer], uy),
		CRow: in(c.Strides[x.dim], uc), CCol: uint32(c.Strides[y.dim]), CInner: in(c.Strides[inner], uc), COuter: in(c.Strides[outer], uc),
		Inner: uint32(b.N[inner]),
	}
	z := b.N[inner] * b.N[outer]
	if g.parts > 1 {
		part := planner.CeilDiv(planner.CeilDiv(b.N[k], g.parts), 8) * 8
		if g.run > 0 {
			part = g.run
		}
		// The inner level of the grid counts the parts, and the outer one the inner batch.
		p.AOuter, p.BOuter, p.COuter = p.AInner, p.BInner, p.CInner
		p.K, p.KStep, p.Inner = in(part, ux), in(part, ux), uint32(g.parts)
		p.AInner, p.BInner, p.CInner = in(part*x.Strides[k], ux), in(part*y.Strides[k], uy), in(g.part, uc)
		z = g.parts * b.N[inner]
	}
	kernel := tile.kernel
	aTile := uint32(tile.rows) * p.ARow // from tile to tile
	if x.turned {
		kernel += ".turned"
		p.ARow, aTile = in(x.Strides[k], ux), in(tile.rows, ux)
	}
	if add {
		p.Accumulate = 1
		if g.kind == panelKind {
			kernel += ".add"
		}
	}
	var bx, by, bb, bc spec.Bind
	var a0, b0, c0, bias0 uint32
	if b.N[k] == 0 {
		if g.unread.Kind == spec.RefNone {
			g.unread = planner.AddScratch(g.plan, 16)
		}
		bx, by = spec.Bind{Buf: g.unread}, spec.Bind{Buf: g.unread}
	} else {
		bx, a0 = x.Window(g.t, b)
		if by, b0 = (spec.Bind{Buf: y.Ref}), uint32(y.First(b)); !y.panels {
			by, b0 = y.Window(g.t, b)
		}
	}
	bc, c0 = c.Window(g.t, b)
	if g.parts > 1 { // The other parts come after the first one.
		c0 += uint32(bc.Offset / int64(c.DType.Size()))
		bc = spec.Bind{Buf: c.Ref}
	}
	bb = bx
	if bias != nil {
		p.Bias = 1
		if g.swapped() {
			p.Bias = 2
		}
		bb, bias0 = bias.Window(g.t, b)
	}
	a0, b0, c0 = a0/uint32(ux), b0/uint32(uy), c0/uint32(uc)
	biasRow := g.isOfRows(bias)
	if biasRow {
		kernel += ".bias"
	} else {
		bias0 /= uint32(uc)
	}
	cols := uint32(tile.cols / un)
	rowGroups, colGroups := planner.CeilDiv(p.M, uint32(tile.rows)), planner.CeilDiv(p.N, cols)
	rowDim, colDim := 1, 0
	if form, _ := g.vector(); g.kind == dotKind || g.lanes() != noLanes || form != noVector {
		rowDim, colDim = 0, 1
	}
	most := g.t.MaxGroups
	bStep := uint32(1)
	if g.kind != panelKind {
		bStep = p.BCol
	}
	cStep := uint32(un / uc)
	if g.kind != panelKind {
		cStep = p.CCol
	}
	for r := uint32(0); r < rowGroups; r += most[rowDim] {
		for q := uint32(0); q < colGroups; q += most[colDim] {
			for w := 0; w < z; w += int(most[2]) {
				s := p
				r0, q0 := r*uint32(tile.rows), q*cols
				s.M, s.N, s.Z = p.M-r0, p.N-q0, uint32(w)
				s.ABase, s.BBase = a0+r*aTile, b0+q0*bStep
				s.CBase, s.BiasBase = c0+r0*p.CRow+q0*cStep, bias0+q0*uint32(un/uc)
				if g.swapped() || biasRow {
					s.BiasBase = bias0 + r0
				}
				step := spec.Step{Module: spirv.Kernel(kernel), Params: s, Bind: []spec.Bind{bx, by, bb, bc}}
				step.Groups[rowDim], step.Groups[colDim] = min(rowGroups-r, most[rowDim]), min(colGroups-q, most[colDim])
				step.Groups[2] = uint32(min(z-w, int(most[2])))
				g.plan.Steps = append(g.plan.Steps, step)
			}
		}
	}
	return nil
}
