package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// tiles appends the steps that make columns [0, end) of the result by image/resize_tile, and
// returns end. It is 0 where these kernels do not fit.
func (p *resamplePlan) tiles() (end int) {
	if p.src.c != 4 || !texelFits(p.t, tileLocal, p.src, p.dst) {
		return 0
	}
	pack := packOf(p.src.dtype, true)
	// A texel that is not complete would lie beyond the end of the picture's memory.
	for end = p.dst.w &^ (pack - 1); end > 0; end -= pack {
		if _, to := p.across.sources(0, end); to <= p.src.w&^(pack-1) {
			break
		}
	}
	if end <= 0 {
		return 0
	}
	down := p.down.table(p.made.From, p.made.To)
	down.pixels, down.end = planner.CeilDiv(down.pixels, tileTaps)*tileTaps, math.MaxInt32
	across := resampleTable{&p.across, tileColumns, 0, pack, math.MaxInt32}
	across.pixels = planner.CeilDiv(p.across.extent(0, end, tileColumns)+pack-1, pack) * pack
	texels, steps := across.pixels/pack, down.pixels/tileTaps
	if most := int(p.t.MaxIterations); most > 0 && loopCost(texels, loopCost(steps, 0)) > most {
		return 0
	}
	limit := room(p.t, true)
	// rows are as many as fit in the bindings.
	rows := min(p.made.To-p.made.From, resampleGroup*int(p.t.MaxGroups[1]))
	for ; ; rows = (rows/2 + resampleGroup - 1) &^ (resampleGroup - 1) {
		low, high := p.down.sources(0, rows)
		all := rect{0, p.src.w &^ (pack - 1), 0, min(high-low+planner.CeilDiv(p.down.axis.In, p.down.axis.Out)+1, p.down.axis.In)}
		if p.src.bytes(all) <= limit && p.dst.bytes(rect{0, end, 0, rows}) <= limit && down.bytes(rows) <= limit {
			break
		}
		if rows <= resampleGroup {
			return 0
		}
	}
	if across.bytes(end) > limit || max(rows, end) > int(p.t.MaxGroups[0])*64 {
		return 0
	}
	p.weights(scratchAcross, across, 0, end)
	_ = spans(p.made.To-p.made.From, rows, func(i, j int) error {
		top, bottom := p.made.From+i, p.made.From+j
		p.weights(scratchDown, down, top, bottom)
		low, high := p.down.sources(top, bottom)
		s := rectWindow(p.t, spec.In(0), p.src, rect{0, p.src.w &^ (pack - 1), low, high}, p.firstRow, pack)
		d := rectWindow(p.t, spec.Out(0), p.dst, rect{0, end, top, bottom}, p.made.From, pack)
		return spans(planner.CeilDiv(end, tileColumns), int(p.t.MaxGroups[0])*tileLocal, func(k, l int) error {
			p.Steps = append(p.Steps, spec.Step{
				Module: kernel("resize_tile", p.src.dtype, p.phase, true),
				Params: tileParams{
					Blocks: uint32(l - k), Packs: uint32((end - k*tileColumns) / pack), Rows: uint32(bottom - top),
					SrcBase: s.base, SrcPitch: uint32(p.src.pitch / pack), LastRow: uint32(high - 1), LastPack: uint32(p.src.w/pack - 1),
					DstBase:  d.base + uint32(top)*uint32(p.dst.pitch/pack) + uint32(k*tileColumns/pack),
					DstPitch: uint32(p.dst.pitch / pack), Channels: uint32(p.src.c),
					Entry: uint32(k), Across: uint32(texels), Steps: uint32(steps), Pixels: uint32(down.pixels),
				},
				Bind:   p.binds(s.bind, d.bind, spec.Bind{Buf: spec.Scratch(scratchDown)}, spec.Bind{Buf: spec.Scratch(scratchAcross)}),
				Groups: [3]uint32{groups(l-k, tileLocal), groups(bottom-top, resampleGroup), 1},
			})
			return nil
		})
	})
	return end
}
