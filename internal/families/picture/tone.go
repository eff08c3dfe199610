package picture

import (
	"math"

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
	for _, d := range dtypes {
		list = append(list,
			spec.Kernel{Name: kernelName("histogram", d, countLuma, false), Params: histogramParams{}},
			spec.Kernel{Name: kernelName("histogram", d, countAll, false), Params: histogramParams{}},
			spec.Kernel{Name: kernelName("histogram", d, countEach, false), Params: histogramParams{}},
			spec.Kernel{Name: kernelName("tone_table", d, "", false), Params: toneTableParams{}})
	}
	return list
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
	regions := toneRegions(t, src, counts)
	if err := checkIterations(t, c.tableLoops(src.dtype)); err != nil {
		return nil, err
	}
	plan.Scratch = []int64{int64(regions) * int64(counts) * 4, int64(counts) * 4, int64(3*bins(src.dtype)) * 4}
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
	if err := addHistogram(plan, t, whole, rect{0, whole.w, 0, whole.h}, counted, regions, counts, sums); err != nil {
		return nil, err
	}
	plan.Steps = append(plan.Steps,
		spec.Step{
			Module: kernel("tone_table", src.dtype, "", false),
			Params: toneTableParams{Each: one(c.Each), Equalize: one(c.Equalize), Clip: uint32(c.Clip * clipUnits)},
			Bind:   []spec.Bind{sums, table}, Groups: [3]uint32{1, 1, 1},
		})
	return plan, tonePass(t, src, c, table).add(plan, t, spec.In(0), src, spec.Out(0), dst)
}

// tableLoops is how many loop iterations an invocation of tone_table.comp counts.
func (c Tone) tableLoops(d tensor.DType) int {
	colours, levels, ranks := 1, bins(d), loopCost(bins(d), 0)
	if c.Each || d == tensor.F32 {
		colours = 3
	}
	switch {
	case !c.Equalize && d == tensor.F32:
		return 2 * ranks // An invocation does one colour.
	case !c.Equalize:
		return loopCost(levels/64, colours*2*ranks)
	case d == tensor.F32:
		return loopCost(levels/64, loopCost(colours, ranks))
	}
	return loopCost(levels/64, colours*(ranks+loopCost(8, 0)))
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

// addHistogram appends the launches that count the colours of a part of the picture, and the one
// that adds the counts of all invocations.
func addHistogram(plan *spec.Plan, t *spec.Target, src layout, area rect, counted string, regions, counts int, sums spec.Bind) error {
	lanes, most := min(regions, histogramLanes(t)), histogramMost
	module, workgroups := kernel("histogram", src.dtype, counted, false), int(groups(regions, lanes))
	begin, run := loopCost(counts, 0)+1+emptyLoops, 1+loopCost(planner.CeilDiv(histogramRun, lanes), 0)
	if err := checkIterations(t, max(begin+run, loopCost(regions/lanes, loopCost(lanes, 0)))); err != nil {
		return err
	}
	if limit := int(t.MaxIterations); limit > 0 {
		most = min(most, (limit-begin)/run)
	}
	fresh := uint32(1)
	var part func(r rect) error
	part = func(r rect) error {
		w, h := r.right-r.left, r.bottom-r.top
		runs := planner.CeilDiv(w, histogramRun)
		if src.bytes(r) > room(t, false) || runs*h > workgroups*most {
			return halves(r, h == 1, part)
		}
		s := rectWindow(t, spec.In(0), src, r, 0, 1)
		plan.Steps = append(plan.Steps, spec.Step{
			Module: module,
			Params: histogramParams{
				Columns: uint32(w), Runs: uint32(runs), All: uint32(runs * h),
				Base: s.base + uint32(r.top)*uint32(src.pitch) + uint32(r.left), Pitch: uint32(src.pitch),
				Channels: uint32(src.c), Lanes: uint32(lanes), Fresh: fresh,
			},
			Bind:   []spec.Bind{s.bind, {Buf: spec.Scratch(scratchCounts)}},
			Groups: [3]uint32{uint32(workgroups), 1, 1},
		})
		fresh = 0
		return nil
	}
	if err := part(area); err != nil {
		return err
	}
	plan.Steps = append(plan.Steps, spec.Step{
		Module: spirv.Kernel(histogramSum), Params: histogramSumParams{Counts: uint32(counts), Regions: uint32(regions), Lanes: uint32(lanes)},
		Bind:   []spec.Bind{{Buf: spec.Scratch(scratchCounts)}, sums},
		Groups: [3]uint32{groups(counts, 64), 1, 1},
	})
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
