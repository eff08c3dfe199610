package picture

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// compositePlan makes the steps of a Composite.
type compositePlan struct {
	*spec.Plan
	t             *spec.Target
	src, dst, top plane // the backdrop, the result and the source
	place         placed
	height        int // rows of the whole image
	call          Composite
}

// PlanComposite plans the rows of the image that a call makes. The result has all rows that the call
// has, and the other ones stay as they are.
// Errors: ErrStrides, *LimitError.
func PlanComposite(t *spec.Target, in, over, out tensor.Desc, c Composite) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	top, err := layoutOf(over)
	if err != nil {
		return nil, err
	}
	p := compositePlan{
		Plan: &spec.Plan{}, t: t, height: c.Backdrop.Height(src.h), call: c,
		src: plane{ref: spec.In(0), layout: src, row: c.Backdrop.From()},
		dst: plane{ref: spec.Out(0), layout: dst, row: c.Backdrop.From()},
		top: plane{ref: spec.In(1), layout: top, row: c.Source.From()},
	}
	made := c.Backdrop.Rows(src.h)
	whole := rect{0, dst.w, made.From, made.To}
	if dst.w == 0 || made.From >= made.To {
		return p.Plan, nil
	}
	f, _, _, err := c.mode()
	if err != nil {
		return nil, err
	}
	var scaling Resample
	if p.place, scaling, err = c.place(p.height, src.w, c.Source.Height(top.h), top.w); err != nil {
		return nil, err
	}
	if f == operators["dst"] {
		return PlanStages(t, in, out, nil)
	}
	rows := p.place.rows(made)
	if c.Scale > 0 {
		if err := p.scale(over, scaling, rows); err != nil {
			return nil, err
		}
	}
	inner := rect{max(p.place.x, 0), min(p.place.x+p.place.w, dst.w), max(p.place.y, made.From), min(p.place.y+p.place.h, made.To)}
	if c.Tile {
		inner = whole
		if err := p.spread(rows); err != nil {
			return nil, err
		}
	}
	if inner.left >= inner.right || inner.top >= inner.bottom {
		inner = rect{0, 0, whole.top, whole.top}
	}
	if inner != whole && f.backdrop == 1 {
		// The image stays as it is outside of the source. The fastest kernels copy all of it.
		image, err := PlanStages(t, in, out, nil)
		if err != nil {
			return nil, err
		}
		p.Steps = append(p.Steps, image.Steps...)
	} else if err := p.clear(whole, inner); err != nil {
		return nil, err
	}
	if inner.top == inner.bottom {
		return p.Plan, nil
	}
	return p.Plan, p.inside(inner)
}

// add makes a scratch picture that has rows of the source, from column 0 on.
func (p *compositePlan) add(rows spec.RowRange, w int) (plane, tensor.Desc) {
	d := tensor.Contiguous(p.top.dtype, rows.To-rows.From, w, p.top.c)
	l := layout{dtype: d.DType, h: d.Shape[0], w: w, c: p.top.c, pitch: w}
	p.Scratch = append(p.Scratch, (d.Bytes()+planner.Pack-1)&^(planner.Pack-1))
	return plane{ref: spec.Scratch(len(p.Scratch) - 1), layout: l, row: rows.From}, d
}

// scale appends the steps that make rows of the scaled source.
func (p *compositePlan) scale(over tensor.Desc, m Resample, rows spec.RowRange) (err error) {
	scaled := tensor.Contiguous(over.DType, rows.To-rows.From, p.place.w, p.top.c)
	if p.Plan, err = PlanResample(p.t, over, scaled, m, p.top.row, rows); err != nil {
		return err
	}
	to, _ := p.add(rows, p.place.w)
	for _, s := range p.Steps {
		for j, b := range s.Bind {
			switch b.Buf {
			case spec.In(0):
				s.Bind[j].Buf = p.top.ref
			case spec.Out(0):
				s.Bind[j].Buf = to.ref
			}
		}
	}
	p.top = to
	return nil
}

// spread appends the steps that repeat rows of the source over the width of the image.
func (p *compositePlan) spread(rows spec.RowRange) error {
	to, _ := p.add(rows, p.src.w)
	m := Remap{XX: 1, X0: -p.place.x, YY: 1, Border: BorderTile}
	err := addRemap(p.Plan, p.t, p.top, to, m, p.place.h, rect{0, p.src.w, rows.From, rows.To})
	p.top, p.place.x, p.place.w = to, 0, p.src.w
	return err
}

// clear appends the steps that make the image transparent outside of the source.
func (p *compositePlan) clear(whole, inner rect) error {
	m := Remap{XX: 1, YY: 1, X0: -1 << 30} // left of any picture, where the transparent border is
	for _, r := range []rect{
		{whole.left, whole.right, whole.top, inner.top}, {whole.left, whole.right, inner.bottom, whole.bottom},
		{whole.left, inner.left, inner.top, inner.bottom}, {inner.right, whole.right, inner.top, inner.bottom},
	} {
		if err := addRemap(p.Plan, p.t, p.src, p.dst, m, p.height, r); err != nil {
			return err
		}
	}
	return nil
}

// inside appends the steps for a part of the image over which the source lies.
func (p *compositePlan) inside(whole rect) error {
	f, blend, mask, err := p.call.mode()
	if err != nil {
		return err
	}
	t, high := p.t, compositeRows
	if blend > 0 {
		high = 1
	}
	module := kernel("composite", p.src.dtype, kernelPhase(blend), false)
	params := compositeParams{
		SrcPitch: uint32(p.src.pitch), DstPitch: uint32(p.dst.pitch), Channels: uint32(p.src.c),
		OverPitch: uint32(p.top.pitch), OverChannels: uint32(p.top.c), TileHeight: uint32(p.place.h),
		Opacity: float32(p.call.Opacity), Fa: f.source, FaBackdrop: f.sourceBackdrop, Fb: f.backdrop, FbSource: f.backdropSource,
		Blend: uint32(blend), Luma: one(mask),
	}
	// part appends a part of the result, or divides it until its windows fit.
	var part func(r rect) error
	part = func(r rect) error {
		rows := r.bottom - r.top
		if max(p.dst.bytes(r), p.src.bytes(r)) > room(t, false) || rows > int(t.MaxGroups[1])*high {
			return halves(r, rows == 1, part)
		}
		upper, lower, _ := p.place.span(r.top, r.bottom, p.place.y, p.place.h)
		need := rect{r.left - p.place.x, r.right - p.place.x, upper, lower}
		if p.top.bytes(need) > room(t, false) {
			return halves(r, rows == 1, part)
		}
		s, d := rectWindow(t, p.src.ref, p.src.layout, r, p.src.row, 1), rectWindow(t, p.dst.ref, p.dst.layout, r, p.dst.row, 1)
		o := rectWindow(t, p.top.ref, p.top.layout, need, p.top.row, 1)
		return spans(r.right-r.left, int(t.MaxGroups[0])*64, func(a, b int) error {
			at := params
			at.Columns, at.Rows = uint32(b-a), uint32(rows)
			at.SrcBase = s.base + uint32(r.top)*uint32(p.src.pitch) + uint32(r.left+a)
			at.DstBase = d.base + uint32(r.top)*uint32(p.dst.pitch) + uint32(r.left+a)
			at.OverBase = o.base + uint32(need.left+a)
			at.OverRow = uint32((r.top - p.place.y) % p.place.h)
			p.Steps = append(p.Steps, spec.Step{
				Module: module, Params: at, Bind: []spec.Bind{s.bind, d.bind, o.bind},
				Groups: [3]uint32{groups(b-a, 64), groups(rows, high), 1},
			})
			return nil
		})
	}
	return part(whole)
}
