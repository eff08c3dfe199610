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

// boxSums describes the kernels of box_sums.comp for a picture.
type boxSums struct {
	texel bool
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

// addBoxSums appends the launches that blur an opaque picture. They set the flag if it is not opaque.
// If colours weigh by alpha, the result is opaque.
func (a *aroundPlan) addBoxSums(c Window, b *boxSums, from, to plane) {
	src, dst := from.layout, to.layout
	a.plan.Steps = append(a.plan.Steps, spec.Step{Module: spirv.Kernel(clearFlags), Bind: []spec.Bind{a.flags()}, Groups: [3]uint32{1, 1, 1}})
	_ = spans(src.h, b.band, func(top, bottom int) error {
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
