package picture

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// histogramSharedParams is the push-constant block of histogram_shared.comp.
type histogramSharedParams struct {
	Left     uint32
	Top      uint32
	Right    uint32
	Bottom   uint32
	Width    uint32
	Height   uint32
	TilesX   uint32
	TilesY   uint32
	First    uint32
	Base     uint32
	Pitch    uint32
	Channels uint32
	Fresh    uint32
}

// histogramSharedSumParams is the push-constant block of histogram_shared_sum.comp.
type histogramSharedSumParams struct{ First, Parts uint32 }

const histogramSharedSum = "image/histogram_shared_sum.u32"

// histogramSharedKernels lists the kernels of a sharedHistograms that counts one of some things.
func histogramSharedKernels(counted ...string) []spec.Kernel {
	list := []spec.Kernel{{Name: histogramSharedSum, Params: histogramSharedSumParams{}}}
	for _, d := range dtypes {
		for _, c := range counted {
			list = append(list, spec.Kernel{Name: kernelName("histogram_shared", d, c, false), Params: histogramSharedParams{}})
		}
	}
	return list
}

const (
	// sharedBytes is the memory of a workgroup of histogram_shared.comp, and sharedPixels is how many
	// pixels an invocation counts of a run, which has as many for each of them.
	sharedBytes, sharedPixels = 16 << 10, 16
	// sharedGroups is how many workgroups count at most, unless there are more histograms. That is
	// 11 for each multiprocessor of the largest GPUs, of which the shared memory of some holds 14. More
	// would only make more counts to add.
	sharedGroups = 1536
	// sharedRuns is how many runs of a tile a workgroup has at least, if the tile has as many. The memory
	// of a workgroup is cleared and added after so many runs or more.
	sharedRuns = 4
)

// sharesHistograms reports whether invocations count in shared memory. On a CPU driver that is no
// faster than other memory, and a barrier is dear.
func sharesHistograms(t *spec.Target) bool {
	return !t.CPU && t.MaxInvocations >= 64 && t.MaxSharedBytes >= sharedBytes
}

// sharedHistograms appends the launches that count the colours of the tiles of a picture on a GPU.
type sharedHistograms struct {
	plan    *spec.Plan
	t       *spec.Target
	src     layout
	counted string
	// tilesX and tilesY are the number of tiles. Each has one histogram, or three if counted is
	// countEach, for which there is one tile.
	tilesX, tilesY int
	// lanes is the size of a workgroup, and parts is how many of them count for a histogram.
	lanes, parts int
	// most is how many runs of a tile are counted in a launch.
	most int
}

// add appends the launches that make the histograms of all tiles in sums, one after the other. It
// sets the size of scratchCounts.
// Errors: *LimitError.
func (p *sharedHistograms) add(sums spec.Bind) error {
	p.lanes = sharedBytes / bins(p.src.dtype)
	tables := p.colours() * p.tilesX * p.tilesY
	pixels := planner.CeilDiv(p.src.w, p.tilesX) * planner.CeilDiv(p.src.h, p.tilesY)
	counts := int64(tables) * int64(bins(p.src.dtype))
	p.parts = max(1, min(sharedGroups/tables, planner.CeilDiv(pixels, sharedRuns*p.run()), int(room(p.t, false)/(4*counts)), int(p.t.MaxGroups[0])))
	if err := p.bound(); err != nil {
		return err
	}
	p.plan.Scratch[scratchCounts] = counts * int64(p.parts) * 4
	whole := rect{0, p.src.w, 0, p.src.h}
	if p.fits(whole) {
		p.launch(whole, whole, 1)
	} else {
		p.launch(rect{}, rect{0, 1, 0, 1}, 1) // It sets all counts to 0.
		p.part(whole)
	}
	return spans(int(counts), int(p.t.MaxGroups[0]), func(from, to int) error {
		p.plan.Steps = append(p.plan.Steps, spec.Step{
			Module: spirv.Kernel(histogramSharedSum), Params: histogramSharedSumParams{First: uint32(from), Parts: uint32(p.parts)},
			Bind: []spec.Bind{{Buf: spec.Scratch(scratchCounts)}, sums}, Groups: [3]uint32{uint32(to - from), 1, 1},
		})
		return nil
	})
}

// colours is how many histograms a tile has.
func (p *sharedHistograms) colours() int {
	if p.counted == countEach {
		return 3
	}
	return 1
}

// run is the number of pixels in a run, RUN in histogram_shared.comp.
func (p *sharedHistograms) run() int { return sharedPixels * p.lanes }

// bound sets most, so that an invocation runs no more loop iterations than it may.
// Errors: *LimitError.
func (p *sharedHistograms) bound() error {
	words, batch := bins(p.src.dtype)/4, 15 // WORDS and BATCH in the shader
	if p.counted == countAll {
		batch = 5
	}
	each := loopCost(words, 0) + loopCost(batch, loopCost(sharedPixels/4, 0)) + words/p.lanes*loopCost(p.lanes, 0)
	if err := checkIterations(p.t, loopCost(1, each)); err != nil {
		return err
	}
	p.most = 1 << 30
	if limit := int(p.t.MaxIterations); limit > 0 {
		p.most = (limit - 1 - emptyLoops) / (1 + each) * batch * p.parts
	}
	return nil
}

// fits reports whether a part of the picture is one launch.
func (p *sharedHistograms) fits(r rect) bool {
	wide := min(r.right-r.left, planner.CeilDiv(p.src.w, p.tilesX))
	high := min(r.bottom-r.top, planner.CeilDiv(p.src.h, p.tilesY))
	return p.src.bytes(r) <= room(p.t, false) && planner.CeilDiv(wide, p.run())*high <= p.most
}

// part appends the launches that add the counts of a part of the picture to those of before.
func (p *sharedHistograms) part(r rect) {
	if p.fits(r) {
		p.launch(r, r, 0)
		return
	}
	_ = halves(r, r.bottom-r.top == 1, func(r rect) error { p.part(r); return nil })
}

// launch appends the launches that count a part of the picture, for the rows of tiles that have
// some of it, or for all if they begin. bound is a part that is not empty.
func (p *sharedHistograms) launch(r, bound rect, fresh uint32) {
	first, end := 0, p.tilesY
	if fresh == 0 {
		for (first+1)*p.src.h/p.tilesY <= r.top {
			first++
		}
		for (end-1)*p.src.h/p.tilesY >= r.bottom {
			end--
		}
	}
	s := rectWindow(p.t, spec.In(0), p.src, bound, 0, 1)
	each := p.colours() * p.tilesX
	_ = spans((end-first)*each, int(p.t.MaxGroups[2]), func(from, to int) error {
		p.plan.Steps = append(p.plan.Steps, spec.Step{
			Module: kernel("histogram_shared", p.src.dtype, p.counted, false),
			Params: histogramSharedParams{
				Left: uint32(r.left), Top: uint32(r.top), Right: uint32(r.right), Bottom: uint32(r.bottom),
				Width: uint32(p.src.w), Height: uint32(p.src.h), TilesX: uint32(p.tilesX), TilesY: uint32(p.tilesY),
				First: uint32(first*each + from), Base: s.base, Pitch: uint32(p.src.pitch), Channels: uint32(p.src.c), Fresh: fresh,
			},
			Bind: []spec.Bind{s.bind, {Buf: spec.Scratch(scratchCounts)}}, Groups: [3]uint32{uint32(p.parts), 1, uint32(to - from)},
		})
		return nil
	})
}

// addSharedHistograms appends the launches that make the histograms of tilesX by tilesY tiles of a
// picture in sums, on a target for which sharesHistograms holds.
// Errors: *LimitError.
func addSharedHistograms(plan *spec.Plan, t *spec.Target, src layout, counted string, tilesX, tilesY int, sums spec.Bind) error {
	p := sharedHistograms{plan: plan, t: t, src: src, counted: counted, tilesX: tilesX, tilesY: tilesY}
	return p.add(sums)
}
