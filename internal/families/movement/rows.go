package movement

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

const (
	copyRows = "move/copy_rows.u32.texel"
	// rowWords is the least number of words in a row of copyRows.
	rowWords = 64
	// rowPacks is how many packs of 4 words an invocation of copyRows makes.
	rowPacks = 4
)

// rowsParams is the push-constant block of copy_rows.comp. Dimension 0 is the innermost one.
type rowsParams struct {
	N, Src, Dst        [planner.MaxRank]uint32
	Rank, Slots, Total uint32
	SrcBase, DstBase   uint32
}

// byRows reports whether copyRows suits the move. It is for drivers on CPUs: a GPU makes neighbouring words
// by neighbouring invocations.
func (m *move) byRows(t *spec.Target, texel bool) bool {
	last := len(m.n) - 1
	return texel && t.CPU && m.size() == 4 && len(m.n) > 1 && m.n[last] >= rowWords && m.dst.Strides[last] == 1 && (m.src.Strides[last] == 1 || m.src.Strides[last] == 0)
}

// addRows appends the launches of copy_rows.comp for a region.
func (m *move) addRows(plan *spec.Plan, t *spec.Target, r planner.Region) error {
	last := len(r.N) - 1
	if r.N[last] < rowWords {
		return addWithin(plan, r, 1, func(r planner.Region) (spec.Step, error) { return m.stridedStep(t, r, true) })
	}
	variant := ""
	switch {
	case m.packs():
		variant = ".aligned"
	case m.src.Strides[last] == 0:
		variant = ".splat"
	}
	slots := planner.CeilDiv(r.N[last]/4, rowPacks)
	err := addWithin(plan, r, 4, func(r planner.Region) (spec.Step, error) { return m.rowsStep(t, r, variant, slots) })
	if err != nil || variant == ".aligned" {
		return err
	}
	return addWithin(plan, r, 1, func(r planner.Region) (spec.Step, error) { return m.rowsStep(t, r, ".edges", 2) })
}

// rowsStep returns the launch of a variant with that many invocations for a row.
func (m *move) rowsStep(t *spec.Target, r planner.Region, variant string, slots int) (spec.Step, error) {
	in, srcBase := m.src.Window(t, r)
	out, dstBase := m.dst.Window(t, r)
	p := rowsParams{Rank: uint32(len(r.N)), Slots: uint32(slots), SrcBase: srcBase, DstBase: dstBase}
	total := int64(slots)
	for i := range r.N {
		d := len(r.N) - 1 - i
		p.N[i], p.Src[i], p.Dst[i] = uint32(r.N[d]), uint32(m.src.Strides[d]), uint32(m.dst.Strides[d])
		if i > 0 {
			total *= int64(r.N[d])
		}
	}
	p.Total = uint32(total)
	groups, err := planner.Grid(t, planner.CeilDiv(total, planner.TexelGroup))
	return spec.Step{Module: spirv.Kernel(copyRows + variant), Params: p, Bind: []spec.Bind{in, out}, Groups: groups}, err
}
