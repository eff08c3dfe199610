package picture

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// medianBitsParams is the push-constant block of median_bits.comp.
type medianBitsParams struct {
	Runs        uint32
	Width       uint32
	First, Last int32
	Base, Pitch uint32
	ToBase      uint32
	ToPitch     uint32
}

// medianBits describes the launches of median_bits.comp for a picture.
type medianBits struct {
	radius int
	phase  string // of the names of its kernels
	// runs is the number of words that have a bit of a row, and band that of rows that are made at a time.
	runs, band int
}

// medianBitsRow is the number of bits of a pixel that are words between the passes.
const medianBitsRow = 24

// medianPhases are those of the kernels of median_bits.comp, by radius.
var medianPhases = map[int]string{2: ".two", 3: ".three"}

// medianBitsKernels lists the kernels that addMedianBits launches.
func medianBitsKernels() []spec.Kernel {
	var list []spec.Kernel
	for _, pass := range []string{".slice", ".find", ".merge"} {
		for _, phase := range []string{".two", ".three"} {
			list = append(list, spec.Kernel{Name: kernelName("median_bits", tensor.U8, pass+phase, false), Params: medianBitsParams{}})
		}
	}
	return list
}

// medianBitsFit returns nil if the kernels of median_bits.comp are not those for a picture.
func medianBitsFit(t *spec.Target, in, out tensor.Desc, radius int) *medianBits {
	src, dst, err := layouts(in, out)
	phase := medianPhases[radius]
	if err != nil || phase == "" || !t.CPU || src.dtype != tensor.U8 || src.w == 0 || src.h == 0 {
		return nil
	}
	m := &medianBits{radius: radius, phase: phase, runs: planner.CeilDiv(src.w, 32-2*radius)}
	limit, words := room(t, false), int64(m.runs)*medianBitsRow*4
	rows := min(windowBand/words, limit/words, limit/max(src.rowBytes(), dst.rowBytes())) - 2*int64(radius)
	m.band = int(min(rows, int64(src.h), int64(t.MaxGroups[1])/3, int64(t.MaxGroups[1])-2*int64(radius)))
	if m.band < min(2*radius, src.h) || groups(m.runs, 64) > t.MaxGroups[0] || t.MaxInvocations < 64 {
		return nil
	}
	return m
}

// addMedianBits appends the launches that make the medians of an opaque picture. They set the flag if it
// is not opaque.
func (a *aroundPlan) addMedianBits(m *medianBits, from, to plane) {
	src, dst, r := from.layout, to.layout, m.radius
	step := func(pass string, rows int, params medianBitsParams, binds ...spec.Bind) {
		a.plan.Steps = append(a.plan.Steps, spec.Step{
			Module: spirv.Kernel(kernelName("median_bits", tensor.U8, pass+m.phase, false)), Params: params, Bind: binds,
			Groups: [3]uint32{groups(m.runs, 64), uint32(rows), 1},
		})
	}
	_ = spans(src.h, m.band, func(top, bottom int) error {
		rows, words := bottom-top, int64(m.runs)*medianBitsRow*4
		sliced := spec.Bind{Buf: a.scratch(a.stripe+1, int64(rows+2*r)*words)}
		found := spec.Bind{Buf: a.scratch(a.stripe+2, int64(rows)*words)}
		near := rowWindow(a.t, from.ref, src, max(top-r, 0), min(bottom+r, src.h), 1)
		image, result := rowWindow(a.t, from.ref, src, top, bottom, 1), rowWindow(a.t, to.ref, dst, top, bottom, 1)
		p := medianBitsParams{
			Runs: uint32(m.runs), Width: uint32(src.w), First: int32(top - r), Last: int32(min(bottom+r, src.h) - 1),
			Base: near.base, Pitch: uint32(src.pitch),
		}
		step(".slice", rows+2*r, p, near.bind, sliced, a.flags())
		step(".find", 3*rows, p, sliced, found)
		p.Base, p.ToBase, p.ToPitch = image.base+uint32(top*src.pitch), result.base+uint32(top*dst.pitch), uint32(dst.pitch)
		step(".merge", rows, p, found, result.bind, image.bind)
		return nil
	})
}
