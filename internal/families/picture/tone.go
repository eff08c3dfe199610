package picture

import (
	"math"
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Tone holds the attributes of an operation that maps colours by the histogram of the picture.
type Tone struct {
	// Equalize says that each level of the result has as many pixels as possible. Otherwise the
	// range that the colours have is stretched.
	Equalize bool
	// Each says that each colour has its own histogram. Otherwise Equalize has that of luma, and
	// stretching that of all colours together.
	Each bool
	// Clip is the part of the colours at either end that stretching may make black or white.
	Clip float64
}

// clipUnits is the number of parts of a histogram that are clipped or not.
const clipUnits = 1 << 16

// histogramParams is the push-constant block of histogram.comp.
type histogramParams struct {
	Columns  uint32
	Runs     uint32
	All      uint32
	Base     uint32
	Pitch    uint32
	Channels uint32
	Lanes    uint32
	Fresh    uint32
}

// histogramOwnParams is the push-constant block of histogram_own.comp.
type histogramOwnParams struct{ Columns, Runs, All, Base, Pitch, Fresh uint32 }

// histogramSumParams is the push-constant block of histogram_sum.comp.
type histogramSumParams struct {
	Counts  uint32
	Regions uint32
	Lanes   uint32
}

// toneTableParams is the push-constant block of tone_table.comp.
type toneTableParams struct {
	Each     uint32
	Equalize uint32
	Clip     uint32
}

// toneParams is the push-constant block of tone.comp.
type toneParams struct {
	pointwiseGrid
	Channels uint32
	Equalize uint32
}

const (
	histogramSum = "image/histogram_sum.u32"
	histogramRun = 1024 // RUN in histogram.comp
	// histogramMost is the number of runs that a workgroup counts in a launch if the limit of
	// iterations allows it. A CPU driver runs the invocations of a workgroup one after the other, so
	// the pixels should stay in a cache.
	histogramMost = 1 << 6
)

// bins returns the number of levels of a histogram, BINS in shaders/lib/histogram.glsl.
func bins(d tensor.DType) int {
	if d == tensor.U8 {
		return 256
	}
	return 1024
}

// ToneKernels lists the kernels that PlanTone launches.
func ToneKernels() []spec.Kernel {
	list := []spec.Kernel{
		{Name: histogramSum, Params: histogramSumParams{}},
		{Name: "image/pointwise_byte.table", Params: pointwiseGrid{}},
		{Name: "image/pointwise_byte.table.word", Params: pointwiseGrid{}},
		{Name: listKernel(tensor.U8, true, false), Params: pointwiseListParams{}},
		{Name: kernelName("tone", tensor.F32, "", false), Params: toneParams{}},
		{Name: kernelName("tone", tensor.F32, "", true), Params: toneParams{}},
	}
	for _, counted := range []string{countLuma, countAll, countEach} {
		list = append(list, spec.Kernel{Name: kernelName("histogram_own", tensor.U8, counted, true), Params: histogramOwnParams{}})
	}
	for _, d := range dtypes {
		list = append(list,
			spec.Kernel{Name: kernelName("histogram", d, countLuma, false), Params: histogramParams{}},
			spec.Kernel{Name: kernelName("histogram", d, countAll, false), Params: histogramParams{}},
			spec.Kernel{Name: kernelName("histogram", d, countEach, false), Params: histogramParams{}},
			spec.Kernel{Name: kernelName("tone_table", d, "", false), Params: toneTableParams{}},
			spec.Kernel{Name: kernelName("tone_table", d, tableScan, false), Params: toneTableParams{}})
	}
	return append(list, histogramSharedKernels(countLuma, countAll, countEach)...)
}

// The scratch buffers of PlanTone: the counts of all invocations, their sums, and the table.
const (
	scratchCounts = iota
	scratchSums
	scratchTable
)

// countable returns ErrUnsupported for a picture of which a histogram of all colours would overflow.
func countable(src layout) error {
	if int64(src.w)*int64(src.h) > math.MaxUint32/3 {
		return planner.Unsupported("a histogram of %d×%d pixels (want at most %d pixels)", src.w, src.h, math.MaxUint32/3)
	}
	return nil
}

// PlanTone plans an operation that maps colours by the histogram of the picture.
// Errors: ErrStrides, *LimitError, ErrUnsupported for more than 2³²/3 pixels.
func PlanTone(t *spec.Target, in, out tensor.Desc, c Tone) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	plan := &spec.Plan{}
	if src.w == 0 || src.h == 0 {
		return plan, nil
	}
	if err := countable(src); err != nil {
		return nil, err
	}
	c.Each = c.Each && src.c > 1
	counts := bins(src.dtype)
	if c.Each {
		counts *= 3
	}
	scan := ""
	if sharesHistograms(t) {
		scan = tableScan
	}
	if err := checkIterations(t, c.tableLoops(src.dtype, scan)); err != nil {
		return nil, err
	}
	plan.Scratch = []int64{0, int64(counts) * 4, int64(3*bins(src.dtype)) * 4}
	sums := spec.Bind{Buf: spec.Scratch(scratchSums)}
	table := spec.Bind{Buf: spec.Scratch(scratchTable)}
	whole := src
	if src.contiguous() { // One long row has no short runs.
		whole.w, whole.h, whole.pitch = src.w*src.h, 1, src.w*src.h
	}
	counted := countLuma
	switch {
	case c.Each:
		counted = countEach
	case !c.Equalize && src.c > 1:
		counted = countAll
	}
	if scan != "" {
		err = addSharedHistograms(plan, t, whole, counted, 1, 1, sums)
	} else {
		regions := toneRegions(t, src, counts)
		plan.Scratch[scratchCounts] = int64(regions) * int64(counts) * 4
		err = addHistogram(plan, t, whole, rect{0, whole.w, 0, whole.h}, counted, regions, counts, sums)
	}
	if err != nil {
		return nil, err
	}
	plan.Steps = append(plan.Steps,
		spec.Step{
			Module: kernel("tone_table", src.dtype, scan, false),
			Params: toneTableParams{Each: one(c.Each), Equalize: one(c.Equalize), Clip: uint32(c.Clip * clipUnits)},
			Bind:   []spec.Bind{sums, table}, Groups: [3]uint32{1, 1, 1},
		})
	return plan, tonePass(t, src, c, table).add(plan, t, spec.In(0), src, spec.Out(0), dst)
}

// tableScan is the variant of tone_table.comp whose invocations share sums of counts, for GPUs.
const tableScan = ".scan"

// tableLoops is how many loop iterations an invocation of tone_table.comp counts, or one of tableScan.
func (c Tone) tableLoops(d tensor.DType, scan string) int {
	colours, levels, ranks, sums := 1, bins(d), loopCost(bins(d), 0), 0
	if c.Each || d == tensor.F32 {
		colours = 3
	}
	if scan != "" {
		own := loopCost(levels/64, 0)
		sums = loopCost(colours, own) + loopCost(colours, loopCost(63, 0)+own)
		ranks = loopCost(bits.Len(uint(levels))-1, 0)
	}
	switch {
	case !c.Equalize && d == tensor.F32:
		return sums + 2*ranks // An invocation does one colour.
	case !c.Equalize:
		return sums + loopCost(levels/64, colours*2*ranks)
	case d == tensor.F32:
		return sums + loopCost(levels/64, loopCost(colours, ranks))
	}
	return sums + loopCost(levels/64, colours*(ranks+loopCost(8, 0)))
}

// toneRegions returns how many invocations count: those of whole workgroups, or fewer than one
// has. On a CPU driver few, whose counts stay in the caches of the processors. There are not more
// counts than pixels, unless one workgroup has them.
func toneRegions(t *spec.Target, p layout, counts int) int {
	most := 1 << 20 / counts
	if t.CPU {
		most = 256
	}
	n := min(room(t, false)/(4*int64(counts)), int64(most), 64*int64(t.MaxGroups[0]), int64(planner.CeilDiv(p.w*p.h, 64*counts))*64)
	lanes := histogramLanes(t)
	if int(n) < lanes {
		return max(1, int(n))
	}
	return int(n) / lanes * lanes
}

// histogramLanes is how many invocations of a workgroup count. A CPU driver runs eight at a time, to their
// end. If only these count, neighbouring counts are of invocations that run together, and their cache lines
// are few.
func histogramLanes(t *spec.Target) int {
	if t.CPU && !t.HostVectors {
		return 8
	}
	return 64
}

// What a histogram counts, and the variant of the kernel: luma, all colours together, or each colour.
const (
	countLuma = ".luma"
	countAll  = ".all"
	countEach = ".each"
)

// ownLanes is the size of the workgroups of histogram_own.comp. Devices with so many histogramLanes run it.
const ownLanes = 8

// addHistogram appends the launches that count the colours of a part of the picture, and the one
// that adds the counts of all invocations.
func addHistogram(plan *spec.Plan, t *spec.Target, src layout, area rect, counted string, regions, counts int, sums spec.Bind) error {
	h := histogramPlan{plan: plan, t: t, src: src, counted: counted, lanes: min(regions, histogramLanes(t)), fresh: 1}
	h.workgroups = int(groups(regions, h.lanes))
	h.own = src.dtype == tensor.U8 && h.lanes == ownLanes && texelFits(t, ownLanes, src)
	own, runOwn := 2*loopCost(counts, 0)+1+emptyLoops, 1+loopCost(histogramRun/4/ownLanes, 0)
	begin, run := loopCost(counts, 0)+1+emptyLoops, 1+loopCost(planner.CeilDiv(histogramRun, h.lanes), 0)
	if err := checkIterations(t, max(begin+run, loopCost(regions/h.lanes, loopCost(h.lanes, 0)))); err != nil {
		return err
	}
	h.most, h.mostOwn = histogramMost, math.MaxInt16
	if limit := int(t.MaxIterations); limit > 0 {
		h.most, h.mostOwn = min(h.most, (limit-begin)/run), min(h.mostOwn, (limit-own)/runOwn)
		h.own = h.own && h.mostOwn > 0
	}
	if err := h.add(area); err != nil {
		return err
	}
	plan.Steps = append(plan.Steps, spec.Step{
		Module: spirv.Kernel(histogramSum), Params: histogramSumParams{Counts: uint32(counts), Regions: uint32(regions), Lanes: uint32(h.lanes)},
		Bind:   []spec.Bind{{Buf: spec.Scratch(scratchCounts)}, sums},
		Groups: [3]uint32{groups(counts, 64), 1, 1},
	})
	return nil
}

// histogramPlan appends the launches that count colours.
type histogramPlan struct {
	plan    *spec.Plan
	t       *spec.Target
	src     layout
	counted string
	// lanes is how many invocations of a workgroup count.
	lanes, workgroups int
	// own says that histogram_own.comp counts whole texels.
	own bool
	// most and mostOwn are how many runs a workgroup counts in a launch of either kernel.
	most, mostOwn int
	// fresh is 1 for the first launch.
	fresh uint32
}

// add appends the launches for a part of the picture.
func (p *histogramPlan) add(r rect) error {
	if r.left >= r.right {
		return nil
	}
	from, to := min((r.left+3)&^3, r.right), r.right&^3
	texel := p.own && from < to
	if texel && (from > r.left || to < r.right) {
		for _, r := range []rect{{r.left, from, r.top, r.bottom}, {from, to, r.top, r.bottom}, {to, r.right, r.top, r.bottom}} {
			if err := p.add(r); err != nil {
				return err
			}
		}
		return nil
	}
	w, h, most := r.right-r.left, r.bottom-r.top, p.most
	if texel {
		most = p.mostOwn
	}
	runs := planner.CeilDiv(w, histogramRun)
	if p.src.bytes(r) > room(p.t, texel) || runs*h > p.workgroups*most {
		return halves(r, h == 1, p.add)
	}
	step := spec.Step{Groups: [3]uint32{uint32(p.workgroups), 1, 1}}
	pack := packOf(p.src.dtype, texel)
	s := rectWindow(p.t, spec.In(0), p.src, r, 0, pack)
	pitch := uint32(p.src.pitch / pack)
	base := s.base + uint32(r.top)*pitch + uint32(r.left/pack)
	step.Bind = []spec.Bind{s.bind, {Buf: spec.Scratch(scratchCounts)}}
	if texel {
		step.Module = kernel("histogram_own", p.src.dtype, p.counted, true)
		step.Params = histogramOwnParams{Columns: uint32(w / pack), Runs: uint32(runs), All: uint32(runs * h), Base: base, Pitch: pitch, Fresh: p.fresh}
	} else {
		step.Module = kernel("histogram", p.src.dtype, p.counted, false)
		step.Params = histogramParams{
			Columns: uint32(w), Runs: uint32(runs), All: uint32(runs * h), Base: base, Pitch: pitch,
			Channels: uint32(p.src.c), Lanes: uint32(p.lanes), Fresh: p.fresh,
		}
	}
	p.plan.Steps, p.fresh = append(p.plan.Steps, step), 0
	return nil
}

// tonePass is the pass that maps the colours by the table.
func tonePass(t *spec.Target, src layout, c Tone, table spec.Bind) pointwisePass {
	more := []spec.Bind{table}
	switch {
	case src.dtype == tensor.F32:
		return pointwisePass{
			name:  func(texel bool) string { return kernelName("tone", tensor.F32, "", texel) },
			packs: func(bool) int { return pointwiseLocal },
			params: func(g pointwiseGrid, _ bool) any {
				return toneParams{pointwiseGrid: g, Channels: uint32(src.c), Equalize: one(c.Equalize)}
			},
			more: more,
		}
	case t.MaxInvocations >= 256:
		return bytePass("table", func(g pointwiseGrid) any { return g }, more)
	}
	return pointwisePass{
		name:  func(bool) string { return listKernel(tensor.U8, true, false) },
		packs: func(bool) int { return pointwiseLocal },
		params: func(g pointwiseGrid, _ bool) any {
			return pointwiseListParams{pointwiseGrid: g, Channels: uint32(src.c), First: uint32(bins(tensor.U8)), Stages: 1}
		},
		more: more,
	}
}
