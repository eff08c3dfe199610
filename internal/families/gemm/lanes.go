package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// lanesForm says which of the kernels for devices whose invocations are lanes of a vector
// compute a product of sharedKind.
type lanesForm uint8

const (
	// noLanes is for all other devices and kernels.
	noLanes lanesForm = iota
	// lanesTile makes tiles of C. The second operand has no gaps along n.
	lanesTile
	// lanesDots makes sums along k, along which both operands have no gaps.
	lanesDots
	// lanesTurned is lanesDots with the columns of C in the place of its rows.
	lanesTurned
)

// lanes returns the form of the kernel. kind must have been chosen.
func (g *product) lanes() lanesForm {
	if g.kind != sharedKind || !g.t.HostVectors || g.a.DType == tensor.F64 || g.t.Strategy == byShared || g.t.Strategy == byLarge {
		return noLanes
	}
	m, n, k := g.size(g.dimM()), g.size(g.dimN()), g.size(g.dimK())
	dense := func(s int) bool { return s == 1 || k == 1 }
	if g.a.DType == tensor.F32 && g.b.DType == tensor.F32 && dense(g.a.Strides[g.dimK()]) && dense(g.b.Strides[g.dimK()]) {
		switch {
		case n <= 2:
			return lanesDots
		case m <= 2 && g.b.Strides[g.dimN()] != 1:
			return lanesTurned
		}
	}
	if !g.panelFits() {
		return noLanes
	}
	return lanesTile
}

// panelFits reports whether a binding holds the columns of the second operand that become a
// panel, and four columns of the first one, which become vectors. Only bindings that are much
// smaller than usual do not.
func (g *product) panelFits() bool {
	fits := func(o planner.Operand, dim, columns int) bool {
		apart := int64(min(g.size(dim), columns)-1) * int64(o.Strides[dim]) * int64(o.DType.Size())
		return apart+planner.WindowAlign(g.t)+4*planner.Pack <= planner.MaxSpan(g.t, false)
	}
	return fits(g.b, g.dimN(), panelColumns) && fits(g.a, g.dimK(), 4)
}

// lanesKernel is tile for these kernels.
func (g *product) lanesKernel(form lanesForm) tile {
	if form != lanesTile {
		return tile{"blas/matmul_dots.f32", 8, 1}
	}
	switch _, y := g.sides(); {
	case y.pack:
		return tile{"blas/matmul_lanes.f32.panel", 3, panelColumns}
	case g.size(g.dimM()) == 1 && g.usesLongLanes():
		return tile{"blas/matmul_long.f32", 1, longColumns}
	case g.size(g.dimM()) == 1:
		return tile{"blas/matmul_lanes.f32.row", 1, 32}
	}
	return tile{"blas/matmul_lanes.f32", 3, panelColumns}
}

// panelColumns is the number of columns of a panel: a packed second operand consists of
// panels, each of which has its rows one after the other.
const panelColumns = 16

// longColumns is the number of columns of a workgroup that reads long runs of the rows of the
// second operand.
const longColumns = 512

// usesLongLanes reports whether to read such runs. In large matrices they cost fewer misses
// of the caches.
func (g *product) usesLongLanes() bool {
	n := g.size(g.dimN())
	return n >= 128 && n*g.size(g.dimK()) >= 1<<21
}

// packsPanels reports whether a side of lanesTile is packed. A row of C must serve often
// enough to pay for that, if the kernels could read the side in place.
func (g *product) packsPanels(y side) bool {
	return y.DType != tensor.F32 || y.Strides[y.dim] != 1 && g.size(y.dim) > 1 || g.size(g.dimM()) >= 24
}

// addPanels appends the steps that pack the elements of src for region b into panels.
// strides are those of the packed copy, which has elems elements.
func (g *product) addPanels(s side, to spec.Ref, b planner.Region, strides []int, elems int) error {
	dims := []int{g.outer(), g.inner(), g.dimK(), s.dim}
	src, all := planner.Operand{Ref: s.Ref, DType: s.DType, Base: s.Base}, planner.Region{}
	for i, d := range dims {
		src.Strides = append(src.Strides, s.Strides[d])
		all.From, all.N = append(all.From, b.From[d]), append(all.N, b.N[d])
		if i < 2 && strides[d] == 0 { // All indices share one copy.
			all.N[i] = 1
		}
	}
	for d := range g.outer() {
		src.Base += b.From[d] * s.Strides[d]
	}
	origin := slices.Clone(all.From)
	return planner.Split(g.t, planner.MaxSpan(g.t, false), all, []planner.Operand{src}, panelColumns, func(q planner.Region) error {
		p := panelsParams{
			Rows: uint32(q.N[2]), Cols: uint32(q.N[3]), Inner: uint32(q.N[1]),
			SrcRow: uint32(src.Strides[2]), SrcCol: uint32(src.Strides[3]), SrcInner: uint32(src.Strides[1]), SrcOuter: uint32(src.Strides[0]),
			DstPanel: uint32(strides[s.dim] * panelColumns), DstInner: uint32(strides[g.inner()]), DstOuter: uint32(strides[g.outer()]),
		}
		for i, d := range dims {
			p.DstBase += uint32((q.From[i] - origin[i]) * strides[d])
		}
		kernel := "blas/matmul_panels." + s.DType.String()
		if s.DType == tensor.F32 && s.Strides[s.dim] == 1 {
			kernel += ".unit"
		}
		from, base := src.Window(g.t, q)
		p.SrcBase = base
		columns, rows := planner.CeilDiv(q.N[3], panelColumns), planner.CeilDiv(q.N[2], 16)
		most := g.t.MaxGroups
		for c := 0; c < columns; c += int(most[0]) {
			for r := 0; r < rows; r += int(most[1]) {
				for z := 0; z < q.N[0]*q.N[1]; z += int(most[2]) {
					x := p
					x.Z = uint32(z)
					x.Cols -= uint32(c * panelColumns)
					x.Rows -= uint32(r * 16)
					x.SrcBase += uint32(c*panelColumns)*p.SrcCol + uint32(r*16)*p.SrcRow
					x.DstBase += uint32(c)*p.DstPanel + uint32(r*16*panelColumns)
					g.plan.Steps = append(g.plan.Steps, spec.Step{
						Module: spirv.Kernel(kernel), Params: x,
						Bind:   []spec.Bind{from, {Buf: to, Size: int64(elems) * 4}},
						Groups: [3]uint32{uint32(min(columns-c, int(most[0]))), uint32(min(rows-r, int(most[1]))), uint32(min(q.N[0]*q.N[1]-z, int(most[2])))},
					})
				}
			}
		}
		return nil
	})
}
