package picture

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Median holds the attributes of a median filter.
type Median struct {
	// Radius is the number of pixels on each side of a pixel that the square has.
	Radius int
	// Weigh says that colours are weighted by alpha.
	Weigh bool
}

// medianSearchParams is the push-constant block of median_search.comp.
type medianSearchParams struct {
	StencilParams
	Radius uint32
	Steps  uint32
	Half_  uint32
}

// medianWalkParams is the push-constant block of median_walk.comp.
type medianWalkParams struct {
	medianSearchParams
	Span uint32
}

const medianHalves = "image/median_halves.u8"

// Kernels with ".wide" read wideTaps pixels in a loop iteration, and are for radii above narrowMost.
const (
	narrowMost = 32
	wideTaps   = 64
)

// An invocation of median_walk.comp counts pixels of 256 levels of three colours. Its launches
// have walkMost invocations at most, which bounds the memory for that to 24 MiB. From radius
// walkLeast on it is faster than median_search.comp.
const (
	walkBytes = 3 * 256 * 4
	walkMost  = 8192
	walkLeast = 4
)

// MedianKernels lists the kernels that PlanMedian launches.
func MedianKernels() []spec.Kernel {
	list := stencilKernels("median", StencilParams{}, true, []string{medianHalves})
	list = append(list, spec.Kernel{Name: "image/median_walk.u8", Params: medianWalkParams{}})
	list = append(list, medianBitsKernels()...)
	return append(list, aroundKernels([]string{"median_search"}, []string{"", ".alpha", ".wide", ".wide.alpha"}, medianSearchParams{})...)
}

// PlanMedian plans the median of the square of pixels around each pixel.
// Errors: ErrStrides, *LimitError.
func PlanMedian(t *spec.Target, in, out tensor.Desc, call Median) (*spec.Plan, error) {
	if call.Radius == 1 {
		name := func(phase string, texel bool) string {
			if t.HostVectors && in.DType == tensor.U8 && phase == "" {
				return medianHalves
			}
			return kernelName("median", in.DType, phase, texel)
		}
		return planStencil(t, name, in, out, !call.Weigh, func(p StencilParams) any { return p })
	}
	side, taps := 2*call.Radius+1, aroundTaps
	op := around{name: "median_search", radius: call.Radius, flags: true, weigh: call.Weigh}
	if call.Radius > narrowMost {
		op.phase, taps = ".wide", wideTaps
	}
	if bits := medianBitsFit(t, in, out, call.Radius); bits != nil {
		op.opaque = func(a *aroundPlan, src, dst plane) error { a.addMedianBits(bits, src, dst); return nil }
	} else if t.CPU && in.DType == tensor.U8 && call.Radius >= walkLeast {
		op.opaque = func(a *aroundPlan, src, dst plane) error { return a.addMedianWalk(call.Radius, src, dst) }
	}
	steps := int(groups(side, taps))
	bits := 16 // of the numbers that are searched; 8 if colours do not weigh
	if in.DType == tensor.F32 {
		bits = 32
	}
	op.steps = loopCost(bits, loopCost(side-1+aroundRows, loopCost(steps, 0)))
	op.most = aroundMost / int64(side*side*bits)
	op.finish = func(p StencilParams) any {
		return medianSearchParams{p, uint32(call.Radius), uint32(steps), uint32(side * side / 2)}
	}
	return planAround(t, in, out, op)
}

// addMedianWalk appends the launches of median_walk.comp.
// Errors: *LimitError, ErrStrides.
func (a *aroundPlan) addMedianWalk(radius int, src, dst plane) error {
	side, steps := 2*radius+1, int(groups(2*radius+1, 4))
	span := 256
	if most := int(a.t.MaxIterations); most > 0 {
		// A row is counted and taken out again, and each of two searches may see all levels.
		count := loopCost(steps, 0)
		begin, row := loopCost(256*3/4, 0)+loopCost(2*radius, count)+1+emptyLoops, 1+2*count+2*loopCost(256, 0)
		span = max(min(span, (most-begin)/row), 1)
	}
	lanes := int(min(walkMost, room(a.t, false)/walkBytes))
	levels := a.scratch(a.stripe+1, walkBytes*int64(lanes))
	p := pass{
		kernel: spirv.Kernel("image/median_walk.u8"), height: src.h, width: src.w,
		above: radius, beside: radius, rows: span, columns: 1,
		binds: []spec.Bind{a.flags(), {Buf: levels}},
		finish: func(p StencilParams, _ uint32) any {
			return medianWalkParams{medianSearchParams{p, uint32(radius), uint32(steps), uint32(side * side / 2)}, uint32(span)}
		},
	}
	return spans(src.w, lanes, func(i, j int) error {
		p.most = int64(lanes / (j - i) * (j - i) * span)
		return a.add(p, src, dst, region{0, src.h, i, j})
	})
}

// MedianReference computes the medians in float64.
func MedianReference(call Median, in, out *tensor.Host) {
	weigh := call.Weigh && in.Shape[2] == 4
	values := make([]float64, 0, (2*call.Radius+1)*(2*call.Radius+1))
	rankReference(call.Radius, weigh, in, out, func(value func(dy, dx int) float64) float64 {
		values = values[:0]
		for dy := -call.Radius; dy <= call.Radius; dy++ {
			for dx := -call.Radius; dx <= call.Radius; dx++ {
				values = append(values, value(dy, dx))
			}
		}
		slices.Sort(values)
		return values[len(values)/2]
	})
}

// rankReference sets each component to what pick chooses among the values around it. If colours
// are weighted by alpha, these are products with it in the scale of the dtype, and the result is
// divided by the alpha that pick chooses.
func rankReference(radius int, weigh bool, in, out *tensor.Host, pick func(value func(dy, dx int) float64) float64) {
	h, w, channels, full := in.Shape[0], in.Shape[1], in.Shape[2], Full(in.DType)
	planes := make([][]float64, channels)
	for c := range planes {
		planes[c] = make([]float64, h*w)
		for i := range planes[c] {
			planes[c][i] = in.At(i/w, i%w, c)
			if weigh && c < 3 {
				planes[c][i] *= in.At(i/w, i%w, 3)
			}
		}
	}
	got := make([]float64, channels)
	for y := range h {
		for x := range w {
			for c, p := range planes {
				got[c] = p[y*w+x]
				if c < 3 || weigh {
					got[c] = pick(func(dy, dx int) float64 { return p[ClampIndex(y+dy, h)*w+ClampIndex(x+dx, w)] })
				}
			}
			for c, v := range got {
				if weigh && c < 3 {
					if v /= got[3]; got[3] <= 0 {
						v = 0
					}
				}
				Store(out, v/full, y, x, c)
			}
		}
	}
}
