package picture

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// boxSumsParams is the push-constant block of box_sums.comp.
type boxSumsParams struct {
	Lines       uint32
	First, Last int32
	Count, Span uint32
	Radius      uint32
	Base, Pitch uint32
	Tall, Rows  uint32
	ImageBase   uint32
	ImagePitch  uint32
}

// boxSumsLanesParams is the push-constant block of box_sums_lanes.comp.
type boxSumsLanesParams struct {
	Width       uint32
	First, Last int32
	Span        uint32
	Radius      int32
	Base, Pitch uint32
	Rows        uint32
	ImageBase   uint32
	ImagePitch  uint32
}

// boxSums describes the kernels of box_sums.comp for a picture, or those of box_sums_lanes.comp.
type boxSums struct {
	texel, lanes bool
	// pack is the number of pixels in a pack, and local the size of a workgroup in the second pass.
	pack, local int
	// band is the number of rows that are blurred at a time, and span how many of them, or of
	// columns, an invocation makes.
	band, span int
}

// boxBand is the size in bytes of what lies between the passes, where that is possible. It stays in the caches of
// a processor then.
const boxBand = 2 << 20

// boxLeast is the least radius for which the device cpu runs these kernels.
const boxLeast = 2

// boxLanesMost is the largest radius of box_sums_lanes.comp. A column of boxTall rows, its TALL, begins with the sum
// of as many pixels as a square is high.
const (
	boxLanesMost = 25
	boxTall      = 64
)

// boxMidBytes is the size of a pixel between the passes.
const boxMidBytes = 8

// scratchBoxSums is the scratch buffer between the passes.
const scratchBoxSums = scratchFilters + 2

// boxSumsKernels lists the kernels that addBoxSums launches.
func boxSumsKernels() []spec.Kernel {
	list := []spec.Kernel{{Name: clearFlags}}
	for _, texel := range []bool{false, true} {
		for _, phase := range []string{".down", ".across", ".across.opaque"} {
			list = append(list, spec.Kernel{Name: kernelName("box_sums", tensor.U8, phase, texel), Params: boxSumsParams{}})
		}
	}
	for _, phase := range []string{".down", ".across", ".across.opaque"} {
		list = append(list, spec.Kernel{Name: kernelName("box_sums_lanes", tensor.U8, phase, false), Params: boxSumsLanesParams{}})
	}
	for _, phase := range []string{".sum.first.alpha", ".sum.second.alpha", ".sum.first.long.alpha", ".sum.second.long.alpha"} {
		list = append(list, spec.Kernel{Name: kernelName("window", tensor.U8, phase, false), Params: windowParams{}})
	}
	return list
}

// boxSumsFit returns nil if the kernels of box_sums.comp are not those for a picture.
func boxSumsFit(t *spec.Target, c Window, src, dst layout) *boxSums {
	if c.Fold != Mean || src.dtype != tensor.U8 || !t.CPU && !t.HostVectors || t.HostVectors && c.Radius < boxLeast || t.MaxInvocations < 64 {
		return nil
	}
	b := &boxSums{pack: 1, local: 64}
	if src.w%4 == 0 && texelFits(t, 64, src, dst) {
		b.texel, b.pack, b.local = true, 4, 8
	}
	side := 2*c.Radius + 1
	b.span = max(64, 4*side) &^ 3
	limit := room(t, b.texel)
	if l := boxLanesFit(t, c, src, dst, limit); l != nil {
		return l
	}
	// With fewer rows than an invocation makes, more of them would be summed for two bands.
	rows := min(max(boxBand/(int64(src.w)*boxMidBytes), int64(b.span)), limit/(int64(src.w)*boxMidBytes), limit/max(src.rowBytes(), dst.rowBytes())-int64(side))
	b.band = int(min(rows, int64(src.h)+3)) &^ 3
	if b.band < min(side, src.h) {
		return nil
	}
	down, across := groups(b.band, b.span), groups(src.w, b.span)
	if groups(src.w, 64*b.pack) > t.MaxGroups[0] || groups(b.band, b.local*b.pack) > t.MaxGroups[0] || max(down, across) > t.MaxGroups[1] {
		return nil
	}
	if most := int(t.MaxIterations); most > 0 && side+b.span+4 > most {
		return nil
	}
	return b
}

// boxLanesFit returns nil if the kernels of box_sums_lanes.comp are not those for a picture.
func boxLanesFit(t *spec.Target, c Window, src, dst layout, limit int64) *boxSums {
	if !t.HostVectors || c.Radius > boxLanesMost || src.w%4 != 0 || src.h > 1 && (src.pitch%4 != 0 || dst.pitch%4 != 0) {
		return nil
	}
	side := 2*c.Radius + 1
	b := &boxSums{lanes: true, pack: 1, local: 64, span: max(512, 8*side) &^ 3}
	column := int64(src.w) * boxMidBytes
	rows := min(max(boxBand/column, boxTall), limit/column, limit/max(src.rowBytes(), dst.rowBytes())-int64(side))
	b.band = int(min(rows, int64(src.h)+boxTall-1)) / boxTall * boxTall
	if b.band == 0 {
		return nil
	}
	if groups(src.w, 64) > t.MaxGroups[0] || uint32(b.band/boxTall) > min(t.MaxGroups[0], t.MaxGroups[1]) || groups(src.w, b.span) > t.MaxGroups[1] {
		return nil
	}
	if most := int(t.MaxIterations); most > 0 && side+b.span+8 > most {
		return nil
	}
	return b
}

// addBoxLanes appends the launches of box_sums_lanes.comp for rows top to bottom of a picture.
func (a *aroundPlan) addBoxLanes(c Window, b *boxSums, from, to plane, top, bottom int) {
	src, dst := from.layout, to.layout
	blocks := planner.CeilDiv(bottom-top, boxTall)
	mid := spec.Bind{Buf: a.scratch(scratchBoxSums, int64(blocks*boxTall*src.w)*boxMidBytes)}
	near := rowWindow(a.t, from.ref, src, max(top-c.Radius, 0), min(bottom+c.Radius, src.h), 1)
	down := boxSumsLanesParams{
		Width: uint32(src.w), First: int32(top), Last: int32(min(bottom+c.Radius, src.h) - 1), Radius: int32(c.Radius),
		Base: near.base, Pitch: uint32(src.pitch),
	}
	const pack = 4
	result, image := rowWindow(a.t, to.ref, dst, top, bottom, pack), rowWindow(a.t, from.ref, src, top, bottom, pack)
	across := boxSumsLanesParams{
		Width: uint32(src.w), Last: int32(src.w - 1), Span: uint32(b.span), Radius: int32(c.Radius), Pitch: uint32(dst.pitch / pack), Rows: uint32(bottom - top),
		ImagePitch: uint32(src.pitch / pack),
	}
	across.Base = result.base + uint32(top)*across.Pitch
	across.ImageBase = image.base + uint32(top)*across.ImagePitch
	phase, binds := ".across.opaque", []spec.Bind{mid, result.bind}
	if !c.Weigh {
		phase, binds = ".across", append(binds, image.bind)
	}
	a.plan.Steps = append(a.plan.Steps, spec.Step{
		Module: kernel("box_sums_lanes", tensor.U8, ".down", false), Params: down, Bind: []spec.Bind{near.bind, mid, a.flags()},
		Groups: [3]uint32{groups(src.w, 64), uint32(blocks), 1},
	}, spec.Step{
		Module: kernel("box_sums_lanes", tensor.U8, phase, false), Params: across, Bind: binds,
		Groups: [3]uint32{uint32(blocks), groups(src.w, b.span), 1},
	})
}

// addBoxSums appends the launches that blur an opaque picture. They set the flag if it is not opaque.
// If colours weigh by alpha, the result is opaque.
func (a *aroundPlan) addBoxSums(c Window, b *boxSums, from, to plane) {
	src, dst := from.layout, to.layout
	a.plan.Steps = append(a.plan.Steps, spec.Step{Module: spirv.Kernel(clearFlags), Bind: []spec.Bind{a.flags()}, Groups: [3]uint32{1, 1, 1}})
	_ = spans(src.h, b.band, func(top, bottom int) error {
		if b.lanes {
			a.addBoxLanes(c, b, from, to, top, bottom)
			return nil
		}
		rows := planner.CeilDiv(bottom-top, b.pack) * b.pack
		mid := spec.Bind{Buf: a.scratch(scratchBoxSums, int64(rows*planner.CeilDiv(src.w, b.pack)*b.pack)*boxMidBytes)}
		near := rowWindow(a.t, from.ref, src, max(top-c.Radius, 0), min(bottom+c.Radius, src.h), b.pack)
		lines := planner.CeilDiv(src.w, b.pack)
		down := boxSumsParams{
			Lines: uint32(lines), First: int32(top), Last: int32(min(bottom+c.Radius, src.h) - 1), Count: uint32(rows), Span: uint32(b.span),
			Radius: uint32(c.Radius), Base: near.base, Pitch: uint32(src.pitch / b.pack), Tall: uint32(rows / b.pack),
		}
		result, image := rowWindow(a.t, to.ref, dst, top, bottom, b.pack), rowWindow(a.t, from.ref, src, top, bottom, b.pack)
		across := boxSumsParams{
			Lines: uint32(rows / b.pack), Last: int32(src.w - 1), Count: uint32(src.w), Span: uint32(b.span), Radius: uint32(c.Radius),
			Pitch: uint32(max(dst.pitch/b.pack, 1)), Tall: uint32(rows / b.pack), Rows: uint32(bottom - top), ImagePitch: uint32(max(src.pitch/b.pack, 1)),
		}
		across.Base = result.base + uint32(top)*across.Pitch
		across.ImageBase = image.base + uint32(top)*across.ImagePitch
		phase, binds := ".across.opaque", []spec.Bind{mid, result.bind}
		if !c.Weigh {
			phase, binds = ".across", append(binds, image.bind)
		}
		a.plan.Steps = append(a.plan.Steps, spec.Step{
			Module: kernel("box_sums", tensor.U8, ".down", b.texel), Params: down, Bind: []spec.Bind{near.bind, mid, a.flags()},
			Groups: [3]uint32{groups(lines, 64), groups(rows, b.span), 1},
		}, spec.Step{
			Module: kernel("box_sums", tensor.U8, phase, b.texel), Params: across, Bind: binds,
			Groups: [3]uint32{groups(rows/b.pack, b.local), groups(src.w, b.span), 1},
		})
		return nil
	})
}
