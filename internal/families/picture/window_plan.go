package picture

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Fold says what becomes of the pixels around a pixel.
type Fold string

// These are the folds of image/window, and the first two those of image/disc.
const (
	Least Fold = "min"
	Most  Fold = "max"
	Mean  Fold = "sum" // divided by the number of pixels
)

// Window holds the attributes of a filter that folds the pixels around each pixel.
type Window struct {
	Fold Fold
	// Radius is the number of pixels on each side of a pixel.
	Radius int
	// Disc says that the window is a disc, of the pixels no farther than Radius. Otherwise it
	// is a square.
	Disc bool
	// Weigh says that colours are weighted by alpha.
	Weigh bool
}

// windowParams is the push-constant block of window.comp.
type windowParams struct {
	StencilParams
	Radius     uint32
	Weigh      uint32
	AlphaBase  uint32
	AlphaPitch uint32
}

// discParams is the push-constant block of disc.comp.
type discParams struct {
	StencilParams
	Radius uint32
	Weigh  uint32
	Steps  uint32
}

// windowSpan is SPAN in shaders/image/window.comp. From longRadius on the .long kernels are used.
const (
	windowSpan = 4
	longRadius = 6
)

// mostRepeats is the largest radius for which filters of three by three pixels, one after the other, take less time than
// image/window, which has four floats for a pixel between its passes.
func mostRepeats(t *spec.Target, d tensor.DType) int {
	switch {
	case d != tensor.U8:
		return 1
	case t.HostVectors:
		return 16
	case t.CPU:
		return 40
	}
	return 5 // A filter moves 8 bytes a pixel, and the two passes of image/window 40.
}

// windowBand is the size in bytes of what lies between the passes, where that is possible.
const windowBand = 32 << 20

// WindowKernels lists the kernels that PlanWindows launches for the folds.
func WindowKernels(discs bool, folds ...Fold) []spec.Kernel {
	var phases, shapes []string
	for _, f := range folds {
		for _, long := range []string{"", ".long"} {
			phases = append(phases, "."+string(f)+".first"+long, "."+string(f)+".second"+long)
		}
		shapes = append(shapes, "."+string(f))
	}
	list := aroundKernels([]string{"window"}, phases, windowParams{})
	if slices.Contains(folds, Mean) {
		list = append(list, boxSumsKernels()...)
	}
	if !discs {
		return list
	}
	list = append(list, spec.Kernel{Name: clearFlags})
	for _, f := range folds {
		for _, d := range dtypes {
			for _, phase := range []string{"", ".alpha"} {
				list = append(list,
					spec.Kernel{Name: kernelName("extreme", d, "."+string(f)+phase, false), Params: StencilParams{}},
					spec.Kernel{Name: kernelName("extreme", d, "."+string(f)+phase, true), Params: StencilParams{}})
			}
		}
		list = append(list, spec.Kernel{Name: extremeHalves(f), Params: StencilParams{}})
	}
	for _, k := range aroundKernels([]string{"disc"}, shapes, discParams{}) {
		if _, copies := k.Params.(pointwiseParams); !copies { // They are in the list.
			list = append(list, k)
		}
	}
	return list
}

// extremeHalves is the kernel for bytes of devices with spec.Target.HostVectors.
func extremeHalves(f Fold) string {
	return kernelName("extreme_halves", tensor.U8, "."+string(f), false)
}

// PlanWindows plans filters one after the other. Between them a picture has the dtype of the
// source.
// Errors: ErrStrides, *LimitError.
func PlanWindows(t *spec.Target, in, out tensor.Desc, calls ...Window) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	if src.w == 0 || src.h == 0 {
		return &spec.Plan{}, nil
	}
	if repeated := squaresOfThree(t, in.DType, calls); repeated != nil && rowsFit(t, 1, src) && rowsFit(t, 0, dst) {
		return planExtremes(t, in, out, repeated)
	}
	a := newAroundPlan(t)
	from := plane{ref: spec.In(0), layout: src}
	for i, c := range calls {
		to := plane{ref: spec.Out(0), layout: dst}
		if i < len(calls)-1 {
			to.layout = layout{dtype: src.dtype, h: src.h, w: src.w, c: src.c, pitch: src.w}
			to.ref = a.scratch(scratchFilters+i%2, to.rowBytes()*int64(to.h))
		}
		if c.Disc {
			err = a.addDisc(c, from, to)
		} else {
			err = a.addSquare(c, from, to)
		}
		if err != nil {
			return nil, err
		}
		from = to
	}
	return a.plan, nil
}

// squaresOfThree returns the filters of three by three pixels that equal the calls, one after the other, or
// nil if there are none or other kernels take less time. The extreme of a square of radius r is that
// of three by three pixels, r times: the clipped squares add up. Weighted colours are not repeated, because each
// filter rounds.
func squaresOfThree(t *spec.Target, d tensor.DType, calls []Window) []Window {
	var all []Window
	for _, c := range calls {
		if c.Disc || c.Fold == Mean || c.Radius > 1 && (c.Weigh || c.Radius > mostRepeats(t, d)) {
			return nil
		}
		radius := c.Radius
		c.Radius = 1
		for range radius {
			all = append(all, c)
		}
	}
	return all
}

// planExtremes plans minima and maxima of three by three pixels, one after the other.
// Errors: ErrStrides, *LimitError.
func planExtremes(t *spec.Target, in, out tensor.Desc, calls []Window) (*spec.Plan, error) {
	between := tensor.Contiguous(in.DType, in.Shape...)
	all := &spec.Plan{Scratch: []int64{flagBytes, between.Bytes(), between.Bytes()}[:1+min(len(calls)-1, 2)]}
	for i, c := range calls {
		name := func(phase string, texel bool) string {
			if t.HostVectors && in.DType == tensor.U8 && phase == "" {
				return extremeHalves(c.Fold)
			}
			return kernelName("extreme", in.DType, "."+string(c.Fold)+phase, texel)
		}
		from, to := in, out
		if i > 0 {
			from = between
		}
		if i < len(calls)-1 {
			to = between
		}
		plan, err := planStencil(t, name, from, to, !c.Weigh, func(p StencilParams) any { return p })
		if err != nil {
			return nil, err
		}
		for _, s := range plan.Steps {
			for j, b := range s.Bind {
				switch {
				case b.Buf == spec.In(0) && i > 0:
					s.Bind[j].Buf = spec.Scratch(1 + (i-1)%2)
				case b.Buf == spec.Out(0) && i < len(calls)-1:
					s.Bind[j].Buf = spec.Scratch(1 + i%2)
				}
			}
		}
		all.Steps = append(all.Steps, plan.Steps...)
	}
	return all, nil
}

// The scratch buffers of PlanWindows, after those of newAroundPlan: what lies between the passes,
// the ends of windows in the .long kernels, and what lies between two filters.
const (
	scratchWide    = 2
	scratchEnds    = 3
	scratchFilters = 4
)

func one(so bool) uint32 {
	if so {
		return 1
	}
	return 0
}

// addDisc appends the launches that fold discs.
func (a *aroundPlan) addDisc(c Window, from, to plane) error {
	steps := groups(2*c.Radius+1, aroundTaps)
	return a.add(pass{
		kernel: kernel("disc", from.dtype, "."+string(c.Fold), false), height: from.h, width: from.w,
		above: c.Radius, beside: c.Radius, rows: aroundRows, columns: 1,
		most: aroundMost / int64((2*c.Radius+1)*(2*c.Radius+1)),
		finish: func(p StencilParams, _ uint32) any {
			return discParams{p, uint32(c.Radius), one(c.Weigh && from.c == 4), steps}
		},
	}, from, to, region{0, from.h, 0, from.w})
}

// addSquare appends the launches that fold squares: for each band of rows a pass down its columns,
// and one along its rows.
func (a *aroundPlan) addSquare(c Window, from, to plane) error {
	side, span, suffix := 2*c.Radius+1, windowSpan, ""
	if c.Radius >= longRadius {
		span, suffix = side, ".long"
	}
	flagged, steps, image := "", 0, &from
	if b := boxSumsFit(a.t, c, from.layout, to.layout); b != nil {
		if a.addBoxSums(c, b, from, to); !c.Weigh {
			return nil
		}
		flagged, steps, image = ".alpha", 2*side+8, nil
	}
	finish := func(p StencilParams, base uint32) any {
		p.Channels = uint32(from.c) // not those of what lies between the passes
		return windowParams{p, uint32(c.Radius), one(c.Weigh && from.c == 4), base, uint32(from.pitch)}
	}
	down := pass{
		kernel: kernel("window", from.dtype, "."+string(c.Fold)+".first"+suffix+flagged, false), height: from.h, width: from.w,
		above: c.Radius, rows: span, columns: 1, steps: steps, finish: finish,
	}
	across := pass{
		kernel: kernel("window", from.dtype, "."+string(c.Fold)+".second"+suffix+flagged, false), height: from.h, width: from.w,
		beside: c.Radius, rows: 1, columns: span, steps: steps, finish: finish, image: image,
	}
	// What lies between the passes, with a pixel of wideBytes, fits a binding.
	limit := room(a.t, false)
	wide := min(from.w, int(limit/wideBytes)-2*c.Radius)
	if wide < 1 {
		return &errs.LimitError{Name: "MaxBinding", Want: int64(2*c.Radius+1) * wideBytes, Have: limit}
	}
	both := min(from.w, wide+2*c.Radius)
	tall := int(max(1, min(limit, windowBand)/(wideBytes*int64(both))))
	if tall < span { // Most of the work would be for rows of other bands.
		tall = int(min(int64(span), limit/(wideBytes*int64(both))))
	}
	if tall >= span {
		tall = tall / span * span
	}
	return spans(from.h, tall, func(top, bottom int) error {
		return spans(from.w, wide, func(left, right int) error {
			near, far := max(left-c.Radius, 0), min(right+c.Radius, from.w)
			mid := plane{
				layout: layout{dtype: tensor.F32, h: bottom - top, w: far - near, c: 4, pitch: far - near},
				row:    top, column: near,
			}
			mid.ref = a.scratch(scratchWide, mid.rowBytes()*int64(mid.h))
			down.binds, across.binds = nil, nil
			if suffix != "" {
				ends := spec.Bind{Buf: a.scratch(scratchEnds, mid.rowBytes()*int64(mid.h))}
				down.binds, across.binds = []spec.Bind{ends}, []spec.Bind{ends}
			}
			if flagged != "" {
				down.binds, across.binds = append(down.binds, a.flags()), append(across.binds, a.flags())
			}
			if err := a.add(down, from, mid, region{top, bottom, near, far}); err != nil {
				return err
			}
			return a.add(across, mid, to, region{top, bottom, left, right})
		})
	})
}
