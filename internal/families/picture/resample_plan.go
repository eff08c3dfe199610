package picture

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

type weightsParams struct {
	Count, Index, Per, Pixels, Align, Taps, Size, End uint32
	Start, StartPart, Step, StepPart, Kind            uint32
	Reach, PerPixel, Width                            float32
	Low, High                                         uint32
}

type firstParams struct {
	Columns, SrcBase, SrcPitch, DstBase, DstPitch uint32
	Channels, Pixels, FirstTap, LastTap           uint32
}

type secondParams struct {
	Columns, Rows, Column, SrcPitch     uint32
	DstBase, DstPitch, Channels, Pixels uint32
}

type tileParams struct {
	Blocks, Packs, Rows, SrcBase, SrcPitch, LastRow, LastPack uint32
	DstBase, DstPitch, Channels, Entry, Across, Steps, Pixels uint32
}

const weightsKernel = "image/resize_weights.f32"

// ResampleKernels lists the kernels that PlanResample launches.
func ResampleKernels() []spec.Kernel {
	list := []spec.Kernel{{Name: weightsKernel, Params: weightsParams{}}, {Name: clearFlags}}
	for _, d := range dtypes {
		for _, phase := range []string{"", ".alpha", ".linear", ".alpha.linear"} {
			list = append(list,
				spec.Kernel{Name: kernelName("resize_first", d, phase, false), Params: firstParams{}},
				spec.Kernel{Name: kernelName("resize_second", d, phase, false), Params: secondParams{}})
			if d == tensor.U8 || phase == ".alpha" || phase == ".alpha.linear" {
				list = append(list, spec.Kernel{Name: kernelName("resize_tile", d, phase, true), Params: tileParams{}})
			}
		}
	}
	return list
}

// The scratch buffers of a plan.
const (
	scratchDown       = iota // the table of rows
	scratchAcross            // the table of columns
	scratchBetween           // pixels between the passes
	scratchNotOpaque         // flags
	resampleScratches        // the number of buffers
)

// These are constants of shaders/image/resize_first.comp, resize_second.comp and
// resize_tile.comp.
const (
	resampleGroup = 4  // rows or columns that an invocation makes, and those of an entry of a table
	resampleStrip = 32 // rows of a strip between the passes
	tileColumns   = 8
	tileTaps      = 6
	tileLocal     = 32
)

// resampleTable is a table of weights. Each entry is for some pixels of the result.
type resampleTable struct {
	*sampling
	per, pixels, align int
	end                int // Entries do not reach beyond this pixel of the source.
}

// table returns the table for pixels [from, to) of the result.
func (s *sampling) table(from, to int) resampleTable {
	_, end := s.sources(from, to)
	return resampleTable{s, resampleGroup, s.extent(from, to, resampleGroup), 1, end}
}

// extent returns the most source pixels that are summed for per pixels that follow each other.
func (s *sampling) extent(from, to, per int) int {
	most := 0
	for i := from; i < to; i += per {
		first, end := s.sources(i, min(i+per, to))
		most = max(most, end-first)
	}
	return most
}

// base returns the source pixel with which the entry begins that begins with pixel i.
func (r resampleTable) base(i int) int {
	return min(r.first(i), max(r.end-r.pixels, 0)) &^ (r.align - 1)
}

// bytes returns the size of the table for n pixels of the result.
func (r resampleTable) bytes(n int) int64 {
	return int64(planner.CeilDiv(n, r.per)) * int64(4+r.per*r.pixels) * 4
}

// resamplePlan makes the steps of a Resample.
type resamplePlan struct {
	spec.Plan
	t            *spec.Target
	src, dst     layout
	firstRow     int // the row of the whole source with which src begins
	made         spec.RowRange
	down, across sampling
	linear       bool
	phase        string // of the kernels
	parts        int    // numbers of a sum
}

// PlanResample plans rows of the result. in has the rows from row first on of the whole source.
// Errors: ErrStrides, *LimitError.
func PlanResample(t *spec.Target, in, out tensor.Desc, r Resample, first int, made spec.RowRange) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	p := &resamplePlan{
		t: t, src: src, dst: dst, firstRow: first, made: made, linear: r.Linear,
		down: r.Down.sampling(r.Filter), across: r.Across.sampling(r.Filter),
	}
	if dst.w == 0 || dst.h == 0 {
		return &p.Plan, nil
	}
	taps := max(p.down.taps, p.across.taps)
	if err := checkIterations(t, max(weightsLoops(taps)+1, sumLoops(p.across.extent(0, dst.w, resampleGroup)))); err != nil {
		return nil, err
	}
	p.Scratch = make([]int64, resampleScratches)
	p.Scratch[scratchNotOpaque] = flagBytes
	// In bytes the kernels that do not weigh by alpha run first. They set a flag if they should
	// have done so.
	if src.c != 4 || src.dtype == tensor.U8 {
		if src.c == 4 && !r.Opaque {
			p.Steps = append(p.Steps, spec.Step{
				Module: spirv.Kernel(clearFlags), Bind: []spec.Bind{{Buf: spec.Scratch(scratchNotOpaque)}}, Groups: [3]uint32{1, 1, 1},
			})
		}
		if err := p.sum(false); err != nil {
			return nil, err
		}
	}
	if src.c == 4 && !(r.Opaque && src.dtype == tensor.U8) {
		if err := p.sum(true); err != nil {
			return nil, err
		}
	}
	for i, n := range p.Scratch {
		p.Scratch[i] = (max(n, 1) + planner.Pack - 1) &^ (planner.Pack - 1)
	}
	return &p.Plan, nil
}

// sum appends the steps that make all pixels with one kind of kernels.
func (p *resamplePlan) sum(weigh bool) error {
	p.phase, p.parts = "", 3
	if weigh {
		p.phase, p.parts = ".alpha", 4
	}
	if p.linear {
		p.phase += ".linear"
	}
	for left := p.tiles(); left < p.dst.w; {
		right, err := p.columns(left)
		if err != nil {
			return err
		}
		if err := p.passes(left, right); err != nil {
			return err
		}
		left = right
	}
	return nil
}

// between is the most bytes that pixels between the passes may take. CPU drivers keep a few
// megabytes in their caches.
func (p *resamplePlan) between() int64 {
	if p.t.CPU {
		return min(room(p.t, false), 4<<20)
	}
	return min(room(p.t, false), 64<<20)
}

// stripBytes is the size of a strip of width columns between the passes.
func (p *resamplePlan) stripBytes(width int) int64 {
	return int64(width) * int64(p.parts) * resampleStrip * 4
}

// columns returns the end of the widest part of the result from column left on that two passes
// make.
// Errors: *LimitError.
func (p *resamplePlan) columns(left int) (right int, err error) {
	for n := min(p.dst.w-left, resampleGroup*int(p.t.MaxGroups[0])); ; n = (n + 1) / 2 {
		from, to := p.across.sources(left, left+n)
		strip := p.stripBytes(to - from)
		table := p.across.table(left, left+n).bytes(n)
		most := p.between()
		if n == 1 { // No cache is large enough, but a binding may be.
			most = room(p.t, false)
		}
		if strip <= most && table <= room(p.t, false) {
			return left + n, nil
		} else if n == 1 {
			return 0, &errs.LimitError{Name: "MaxBinding", Want: max(strip, table), Have: most}
		}
	}
}

// passes appends both passes for columns [left, right) of the result.
// Errors: *LimitError.
func (p *resamplePlan) passes(left, right int) error {
	across := p.across.table(left, right)
	p.weights(scratchAcross, across, left, right)
	from, to := across.base(left), across.end
	strip := p.stripBytes(to - from)
	for top := p.made.From; top < p.made.To; {
		n := int(min(p.between()/strip, int64(p.t.MaxGroups[1]/(resampleStrip/resampleGroup)))) * resampleStrip
		n = max(1, min(n, p.made.To-top))
		rows := p.down.table(top, top+n)
		for n > 1 && (p.sourceRows(rows, top, top+n, from, to) < 1 || rows.bytes(n) > room(p.t, false) || p.dst.bytes(rect{left, right, top, top + n}) > room(p.t, false)) {
			n = (n + 1) / 2
			rows = p.down.table(top, top+n)
		}
		if p.sourceRows(rows, top, top+n, from, to) < 1 {
			return &errs.LimitError{Name: "MaxBinding", Want: int64(to-from) * p.src.pixelBytes(), Have: room(p.t, false)}
		}
		p.weights(scratchDown, rows, top, top+n)
		p.first(rows, top, top+n, from, to)
		p.second(across, rect{left, right, top, top + n}, from, to)
		top += n
	}
	return nil
}

// sourceRows returns how many pixels of the entries of rows [top, bottom) of the result fit in a
// binding with columns [from, to) of the source.
func (p *resamplePlan) sourceRows(rows resampleTable, top, bottom, from, to int) int {
	spread := rows.base(top+(bottom-top-1)/resampleGroup*resampleGroup) - rows.base(top)
	one := p.src.bytes(rect{from, to, 0, 1})
	return int((room(p.t, false)-one)/p.src.rowBytes()) + 1 - spread
}

// sumLoops is how many loop iterations a pass takes to add so many terms: BLOCK in
// shaders/lib/resize.glsl is 256. A block counts twice more: once in the loop over blocks, and for the test
// that ends its own loop.
func sumLoops(terms int) int { return terms + 2*(terms/256) + 8 }

// weightsLoops is how many loop iterations resize_weights takes to add taps weights. Lavapipe counts
// one and a half for each.
func weightsLoops(taps int) int { return 2*taps + 64 }

// weights appends the steps that make the entries for pixels [from, to) of the result.
func (p *resamplePlan) weights(scratch int, r resampleTable, from, to int) {
	p.Scratch[scratch] = max(p.Scratch[scratch], r.bytes(to-from))
	size := r.pixels
	if most := int(p.t.MaxIterations); most > 0 {
		size = min(size, most-weightsLoops(r.taps))
	}
	_ = spans(r.pixels, size, func(low, high int) error {
		p.Steps = append(p.Steps, spec.Step{
			Module: spirv.Kernel(weightsKernel),
			Params: weightsParams{
				Count: uint32(to - from), Index: uint32(from), Per: uint32(r.per), Pixels: uint32(r.pixels), Align: uint32(r.align),
				Taps: uint32(r.taps), Size: uint32(r.axis.In), End: uint32(r.end),
				Start: uint32(r.start >> 32), StartPart: uint32(r.start), Step: uint32(r.step >> 32), StepPart: uint32(r.step),
				Kind: uint32(r.kind), Reach: r.reach, PerPixel: r.perPixel, Width: r.perStep, Low: uint32(low), High: uint32(high),
			},
			Bind:   []spec.Bind{{Buf: spec.Scratch(scratch)}},
			Groups: [3]uint32{groups(planner.CeilDiv(to-from, r.per)*r.per, 64), 1, 1},
		})
		return nil
	})
}

// binds adds the flags to the bindings of a kernel that has them.
func (p *resamplePlan) binds(list ...spec.Bind) []spec.Bind {
	if p.src.dtype == tensor.U8 {
		list = append(list, spec.Bind{Buf: spec.Scratch(scratchNotOpaque)})
	}
	return list
}

// first appends the first pass for rows [top, bottom) of the result and columns [from, to) of
// the source. All pixels are summed by one launch if the rows fit in a binding.
func (p *resamplePlan) first(rows resampleTable, top, bottom, from, to int) {
	strips := planner.CeilDiv(bottom-top, resampleStrip)
	p.Scratch[scratchBetween] = max(p.Scratch[scratchBetween], int64(strips)*p.stripBytes(to-from))
	low, high := rows.base(top), rows.base(top+(bottom-top-1)/resampleGroup*resampleGroup)
	chunk := p.sourceRows(rows, top, bottom, from, to)
	if most := int(p.t.MaxIterations); most > 0 {
		chunk = min(chunk, most-2*(most/256)-8) // so that sumLoops(chunk) <= most
	}
	for tap := 0; tap < rows.pixels; tap += chunk {
		end := min(tap+chunk, rows.pixels)
		s := rectWindow(p.t, spec.In(0), p.src, rect{from, to, low + tap, high + end}, p.firstRow, 1)
		_ = spans(to-from, int(p.t.MaxGroups[0])*64, func(i, j int) error {
			p.Steps = append(p.Steps, spec.Step{
				Module: kernel("resize_first", p.src.dtype, p.phase, false),
				Params: firstParams{
					Columns: uint32(j - i), SrcBase: s.base + uint32(from+i), SrcPitch: uint32(p.src.pitch),
					DstBase: uint32(i), DstPitch: uint32(p.stripBytes(to-from) / 4), Channels: uint32(p.src.c),
					Pixels: uint32(rows.pixels), FirstTap: uint32(tap), LastTap: uint32(end),
				},
				Bind:   p.binds(s.bind, spec.Bind{Buf: spec.Scratch(scratchBetween)}, spec.Bind{Buf: spec.Scratch(scratchDown)}),
				Groups: [3]uint32{groups(j-i, 64), groups(bottom-top, resampleGroup), 1},
			})
			return nil
		})
	}
}

// second appends the second pass for a part of the result. The pixels between the passes are
// columns [from, to) of the source.
func (p *resamplePlan) second(across resampleTable, r rect, from, to int) {
	d := rectWindow(p.t, spec.Out(0), p.dst, r, p.made.From, 1)
	binds := []spec.Bind{{Buf: spec.Scratch(scratchBetween)}, d.bind, {Buf: spec.Scratch(scratchAcross)}}
	if p.parts == 4 {
		binds = p.binds(binds...)
	}
	p.Steps = append(p.Steps, spec.Step{
		Module: kernel("resize_second", p.dst.dtype, p.phase, false),
		Params: secondParams{
			Columns: uint32(r.right - r.left), Rows: uint32(r.bottom - r.top), Column: uint32(from), SrcPitch: uint32(p.stripBytes(to-from) / 4),
			DstBase:  d.base + uint32(r.top)*uint32(p.dst.pitch) + uint32(r.left),
			DstPitch: uint32(p.dst.pitch), Channels: uint32(p.dst.c), Pixels: uint32(across.pixels),
		},
		Bind:   binds,
		Groups: [3]uint32{groups(r.right-r.left, resampleGroup), groups(r.bottom-r.top, resampleStrip), 1},
	})
}
