package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// blurHalfParams is the push-constant block of gaussian_blur_half.comp.
type blurHalfParams struct {
	Columns    uint32
	Width      uint32
	Height     uint32
	Line       int32
	Rows       uint32
	SrcBase    uint32
	SrcPitch   uint32
	DstBase    uint32
	DstPitch   uint32
	Radius     uint32
	Steps      uint32
	ImageBase  uint32
	ImagePitch uint32
}

// These are ROWS and TAPS of shaders/image/gaussian_blur_half.comp, ROWS of its last step, and the
// size of its workgroups.
const (
	halfRows   = 8
	halfTaps   = 4
	expandRows = 2
	halfLocal  = 64
)

// halfRadius is the least radius of a blur by cells of 2×2 pixels. With a smaller one the end of the
// Gaussian would become too soft for the tolerance. halfEnd is the part of the outermost weights
// that counts, with which the error is least.
const (
	halfRadius = 11
	halfEnd    = 0.5
)

// halfVariance is what the cubic B-spline that makes pixels of cells adds to the variance.
const halfVariance = 1

// halfBand is the size of the strips between the passes in bytes, where that is possible.
const halfBand = 4 << 20

// The other scratch buffers of a blur by cells of 2×2 pixels.
const (
	scratchHalfWeights = iota + scratchAlphaWeights
	scratchStrips
	scratchCells
)

// OnHalf reports whether the pixels of a picture of bytes may be made from cells of 2×2 pixels.
func (b Blur) OnHalf() bool { return b.Grid && !b.OnGrid() && b.Radius() >= halfRadius }

// halfKernel returns the name of a kernel of gaussian_blur_half.comp.
func halfKernel(phase string) string {
	return kernelName("gaussian_blur_half", tensor.U8, phase, true)
}

// halfKernels lists the kernels of gaussian_blur_half.comp.
func halfKernels() []spec.Kernel {
	list := []spec.Kernel{{Name: kernelName("gaussian_blur_alpha", tensor.U8, ".second.keep", true), Params: gaussianBlurAlphaParams{}}}
	for _, phase := range []string{".first", ".second", ".expand", ".expand.opaque"} {
		list = append(list, spec.Kernel{Name: halfKernel(phase), Params: blurHalfParams{}})
	}
	return list
}

// halfPlan plans the passes of gaussian_blur_half.comp over a picture.
type halfPlan struct {
	t        *spec.Target
	src, dst layout
	call     Blur
	steps    int
	// cells is the number of cells along a row, the one before the picture included, and pitch that
	// of the texels in a row of them.
	cells, pitch int
	// band is the number of rows of cells of which pixels are made at a time. With those around
	// they are whole strips.
	band int
}

// newHalfPlan returns nil if the kernels do not fit the picture. That does not depend on its height,
// so that strips of a picture have the same result.
func newHalfPlan(t *spec.Target, src, dst layout, call Blur) *halfPlan {
	if !call.OnHalf() || src.dtype != tensor.U8 || src.w%4 != 0 || t.Strategy != "" || !texelFits(t, halfLocal, src, dst) {
		return nil
	}
	h := &halfPlan{t: t, src: src, dst: dst, call: call}
	h.steps = planner.CeilDiv(2*call.Radius()+2*halfRows-1, halfTaps)
	h.cells = src.w/2 + 2
	h.pitch = planner.CeilDiv(h.cells, halfRows) * halfRows / 4
	limit, strip := room(t, true), h.stripBytes()
	fits := func(strips int) bool {
		cells := strips * halfRows
		return int64(strips)*strip <= limit && int64(cells*h.pitch)*16 <= limit &&
			int64(2*(cells+call.Radius()))*max(src.rowBytes(), dst.rowBytes()) <= limit && cells <= int(t.MaxGroups[1])
	}
	strips := max(halfBand/int(strip), 2)
	for strips > 1 && !fits(strips) {
		strips--
	}
	if !fits(strips) || groups(max(src.w/4, h.pitch), halfLocal) > t.MaxGroups[0] {
		return nil
	}
	if most := int(t.MaxIterations); most > 0 && h.steps >= most {
		return nil
	}
	h.band = strips*halfRows - 2
	return h
}

// stripBytes is the size of a strip between the first two passes.
func (h *halfPlan) stripBytes() int64 { return int64(h.src.w) * halfRows * 4 }

// planHalf plans a blur by cells of 2×2 pixels. If colours weigh by alpha, the kernels that do so write
// those pixels again that depend on others than opaque ones.
func (b *blurPlan) planHalf(h *halfPlan) (*spec.Plan, error) {
	scratch := make([]int64, scratchCells+1)
	scratch[scratchFlags] = flagBytes
	if h.call.Weigh {
		b.weigh, b.keep = true, true
		if err := b.choose(h.call); err != nil {
			return nil, err
		}
		scratch[scratchWeights] = b.addWeights(h.call)
	}
	n := halfTaps * h.steps
	falloff := falloff(math.Sqrt(float64(h.call.Sigma*h.call.Sigma) - halfVariance))
	b.steps = append(b.steps, spec.Step{
		Module: spirv.Kernel("image/gaussian_weights.f32"),
		Params: gaussianWeightsParams{Count: uint32(n), Radius: uint32(h.call.Radius()), Falloff: float32(falloff), End: halfEnd},
		Bind:   []spec.Bind{{Buf: spec.Scratch(scratchHalfWeights)}, {Buf: spec.Scratch(scratchFlags)}},
		Groups: [3]uint32{groups(n, 64), 1, 1},
	})
	scratch[scratchHalfWeights] = int64(4 * n)
	// Cells have the even rows of the whole picture.
	top := h.call.First / 2
	_ = spans((h.call.First+h.src.h-1)/2+1-top, h.band, func(i, j int) error {
		strips := planner.CeilDiv(j-i+2, halfRows)
		scratch[scratchStrips] = max(scratch[scratchStrips], int64(strips)*h.stripBytes())
		scratch[scratchCells] = max(scratch[scratchCells], int64(strips*halfRows*h.pitch)*16)
		b.steps = append(b.steps, h.bandSteps(top+i, top+j, strips)...)
		return nil
	})
	if h.call.Weigh {
		if err := b.addPasses(); err != nil {
			return nil, err
		}
		scratch[scratchMid], scratch[scratchStripe] = b.mid, b.stripe
	}
	return &spec.Plan{Steps: b.steps, Scratch: scratch}, nil
}

// bandSteps returns the steps that make the pixels of rows [from, to) of cells, and of the rows after
// these.
func (h *halfPlan) bandSteps(from, to, strips int) []spec.Step {
	radius, wide := h.call.Radius(), h.src.w/4
	weights := spec.Bind{Buf: spec.Scratch(scratchHalfWeights)}
	between, cells := spec.Bind{Buf: spec.Scratch(scratchStrips)}, spec.Bind{Buf: spec.Scratch(scratchCells)}
	line := 2*(from-1) - h.call.First // of the first cell
	bottom := min(2*to-h.call.First+radius+1, h.src.h)
	near := rowWindow(h.t, spec.In(0), h.src, max(line-radius, 0), bottom, 4)
	first := blurHalfParams{
		Columns: uint32(wide), Height: uint32(bottom), Line: int32(line), SrcBase: near.base, SrcPitch: uint32(h.src.pitch / 4),
		DstPitch: uint32(wide * halfRows), Radius: uint32(radius), Steps: uint32(h.steps),
	}
	second := blurHalfParams{
		Columns: uint32(h.pitch), Height: uint32(h.src.w), Line: -2, SrcPitch: uint32(wide * halfRows),
		DstPitch: uint32(h.pitch), Radius: uint32(radius), Steps: uint32(h.steps),
	}
	top, end := max(2*from-h.call.First, 0), min(2*to-h.call.First, h.src.h)
	result := rowWindow(h.t, spec.Out(0), h.dst, top, end, 4)
	image := rowWindow(h.t, spec.In(0), h.src, top, end, 4)
	last := blurHalfParams{
		Columns: uint32(planner.CeilDiv(wide, 2)), Width: uint32(wide), Line: int32(2*from - h.call.First), Rows: uint32(end),
		SrcPitch: uint32(h.pitch), DstBase: result.base, DstPitch: uint32(max(h.dst.pitch/4, 1)),
		ImageBase: image.base, ImagePitch: uint32(h.src.pitch / 4),
	}
	step := func(phase string, p blurHalfParams, columns, rows int, binds ...spec.Bind) spec.Step {
		return spec.Step{
			Module: h.kernel(phase), Params: p, Bind: binds,
			Groups: [3]uint32{groups(columns, halfLocal), uint32(rows), 1},
		}
	}
	expand, binds := ".expand.opaque", []spec.Bind{cells, result.bind}
	if !h.call.Weigh {
		expand, binds = ".expand", append(binds, image.bind)
	}
	return []spec.Step{
		step(".first", first, wide, strips, near.bind, between, weights, spec.Bind{Buf: spec.Scratch(scratchFlags)}),
		step(".second", second, h.pitch, strips, between, cells, weights),
		step(expand, last, planner.CeilDiv(wide, 2), planner.CeilDiv(to-from, expandRows), binds...),
	}
}

// kernel returns the module of a kernel.
func (h *halfPlan) kernel(phase string) *spv.Module { return spirv.Kernel(halfKernel(phase)) }
