package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

type gaussianWeightsParams struct {
	Count   uint32
	Lead    uint32
	Radius  uint32
	Falloff float32
}

// blurParams begins the parameters of the kernels that blur.
type blurParams struct {
	Columns  uint32
	Width    uint32
	Height   uint32
	Line     uint32
	Rows     uint32
	SrcBase  uint32
	SrcPitch uint32
	DstBase  uint32
	DstPitch uint32
	Channels uint32
	Radius   uint32
	Steps    uint32
}

type gaussianBlurParams struct {
	blurParams
	AlphaBase  uint32
	AlphaPitch uint32
}

type gaussianBlurAlphaParams struct {
	blurParams
	Across uint32
	Tiles  uint32
	Stride uint32
}

// BlurKernels are the kernels that plans of a blur launch.
func BlurKernels() []spec.Kernel {
	list := []spec.Kernel{{Name: "image/gaussian_weights.f32", Params: gaussianWeightsParams{}}}
	for _, d := range dtypes {
		for _, pass := range []string{".first", ".second"} {
			for _, texel := range []bool{false, true} {
				list = append(list,
					spec.Kernel{Name: kernelName("gaussian_blur", d, pass, texel), Params: gaussianBlurParams{}},
					spec.Kernel{Name: kernelName("gaussian_blur_alpha", d, pass, texel), Params: gaussianBlurAlphaParams{}})
			}
			if d == tensor.U8 {
				list = append(list, spec.Kernel{Name: kernelName("gaussian_blur", d, pass+".short", true), Params: gaussianBlurParams{}})
			}
		}
	}
	return list
}

// The ROWS, TAPS and RADIUS of the variants in shaders/image/gaussian_blur.comp.
const (
	blurRows    = 8
	blurTaps    = 4
	shortRows   = 4
	shortRadius = 9
)

// blurBand is how many bytes of the source make a band if they can.
const blurBand = 8 << 20

// wideBytes is the size of a pixel between the passes where colours weigh by alpha.
const wideBytes = 16

// The strategies of a blur, for spec.Target.Strategy.
const (
	byShort = "short" // all lines that an invocation needs at once, where they are few
	byLoop  = "loop"  // some lines at a time
)

// blurPlan plans a blur band by band: a band of rows is blurred along columns
// into strips of an intermediate image, and those along rows into the result. A
// strip is some whole rows, written column by column.
//
// That is done as if the image were opaque. If it is not, and alpha is to weigh,
// all is done once more by kernels for that, which do nothing unless the first ones
// have met a pixel that is not opaque: only the device knows.
type blurPlan struct {
	t        *spec.Target
	src, dst layout
	texel    bool
	weigh    bool // by alpha
	short    bool
	radius   int
	deep     int      // rows a strip
	band     int      // rows to make at a time
	width    int      // columns to make at a time: all, unless a strip of them does not fit a binding
	taps     spec.Ref // the weights
	steps    []spec.Step
	mid      int64 // bytes of the strips of a band
	stripe   int64 // bytes of scratch that columns are copied to, if need be
}

// The plan's scratch buffers.
const (
	scratchWeights = iota
	scratchMid
	scratchStripe
	scratchFlags
	scratchMore // weights of the second time, where they are not the same
)

// Blur is what PlanBlur needs to know of a blur.
type Blur struct {
	// Sigma is the standard deviation in pixels.
	Sigma float64
	// Weigh says that colours weigh by alpha.
	Weigh bool
}

// Radius is how many pixels to either side a result depends on, ⌈3σ⌉.
func (b Blur) Radius() int { return int(math.Ceil(3 * b.Sigma)) }

// PlanBlur plans a Gaussian blur.
// Errors: ErrStrides, *LimitError.
func PlanBlur(t *spec.Target, in, out tensor.Desc, call Blur) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	if src.w == 0 || src.h == 0 {
		return &spec.Plan{}, nil
	}
	b := blurPlan{t: t, src: src, dst: dst, taps: spec.Scratch(scratchWeights)}
	if err := b.choose(call); err != nil {
		return nil, err
	}
	scratch := []int64{scratchWeights: b.weights(call), scratchFlags: flagBytes}
	again := src.c == 4 && call.Weigh
	weighed := b
	if again {
		weighed.weigh = true
		if err := weighed.choose(call); err != nil {
			return nil, err
		}
		if b.short {
			weighed.taps = spec.Scratch(scratchMore)
			scratch = append(scratch, weighed.weights(call))
			b.steps = weighed.steps
		}
	}
	if err := b.passes(); err != nil {
		return nil, err
	}
	if again {
		weighed.steps, weighed.mid, weighed.stripe = b.steps, b.mid, b.stripe
		if err := weighed.passes(); err != nil {
			return nil, err
		}
		b = weighed
	}
	scratch[scratchMid], scratch[scratchStripe] = b.mid, b.stripe
	return &spec.Plan{Steps: b.steps, Scratch: scratch}, nil
}

// choose decides on the kernels and on the size of bands.
func (b *blurPlan) choose(call Blur) (err error) {
	b.texel = texelFits(b.t, 64, b.src, b.dst)
	b.chooseKernels(call, b.texel)
	b.band, err = b.bandHeight()
	if err != nil && b.texel {
		b.texel = false // texel bindings may be the smaller ones
		b.chooseKernels(call, false)
		b.band, err = b.bandHeight()
	}
	return err
}

// passes plans both passes over the image.
func (b *blurPlan) passes() error {
	return spans(b.src.h, b.band, func(top, bottom int) error {
		return spans(b.src.w, b.width, func(left, right int) error {
			near, far := b.reach(left, right)
			b.mid = max(b.mid, int64(groups(bottom-top, b.deep))*int64(b.deep)*int64(far-near)*b.midBytes())
			if err := b.first(top, bottom, near, far); err != nil {
				return err
			}
			b.second(top, bottom, left, right, near, far)
			return nil
		})
	})
}

// midBytes is the size of a pixel between the passes.
func (b *blurPlan) midBytes() int64 {
	if b.weigh {
		return wideBytes
	}
	return b.src.pixelBytes()
}

// BlurStrategies lists the strategies of a call. The first is the one that the plan takes
// unasked.
func BlurStrategies(t *spec.Target, in, out tensor.Desc, call Blur) []string {
	src, dst, err := layouts(in, out)
	if err != nil || src.w*src.h == 0 || !shortFits(src, call, texelFits(t, 64, src, dst)) {
		return nil
	}
	return []string{byShort, byLoop}
}

// shortFits reports whether the short kernels can blur src.
func shortFits(src layout, call Blur, texel bool) bool {
	return texel && src.dtype == tensor.U8 && src.w%4 == 0 && call.Radius() <= shortRadius
}

// chooseKernels decides between the short kernels and those with a loop.
func (b *blurPlan) chooseKernels(call Blur, texel bool) {
	b.short = !b.weigh && b.t.Strategy != byLoop && shortFits(b.src, call, texel)
	b.radius, b.deep = call.Radius(), blurRows
	if b.short { // with weights of zero for what is beyond the radius
		b.radius, b.deep = shortRadius, shortRows
	}
}

// weights plans the kernel that computes the weights, and returns their bytes.
func (b *blurPlan) weights(call Blur) int64 {
	n, lead := 4*b.loopSteps()+blurTaps+blurRows, blurRows-1 // what the last step may look at
	if b.short {
		n, lead = (2*shortRadius+4)/4*4, shortRadius-call.Radius()
	}
	b.steps = append(b.steps, spec.Step{
		Module: spirv.Kernel("image/gaussian_weights.f32"),
		Params: gaussianWeightsParams{Count: uint32(n), Lead: uint32(lead), Radius: uint32(call.Radius()), Falloff: float32(1 / (2 * call.Sigma * call.Sigma))},
		Bind:   []spec.Bind{{Buf: b.taps}, {Buf: spec.Scratch(scratchFlags)}},
		Groups: [3]uint32{groups(n, 64), 1, 1},
	})
	return int64(4 * n)
}

// reach is the columns that the result's columns [left, right) depend on, from
// the beginning of a pack on, and to the end of one for the short kernels, which
// there are for packs only.
func (b *blurPlan) reach(left, right int) (near, far int) {
	near, far = max(left-b.radius, 0)/4*4, min(right+b.radius, b.src.w)
	if b.short {
		far = (far + 3) / 4 * 4 // at most the width, which is whole packs
	}
	return near, far
}

func (b *blurPlan) loopSteps() int { return (2*b.radius + blurRows + blurTaps - 1) / blurTaps }

// bandHeight is how many rows to blur at a time: whole strips, where there is
// room for that.
func (b *blurPlan) bandHeight() (int, error) {
	limit := room(b.t, b.texel)
	column := int64(b.deep) * b.midBytes() // of a strip
	wide := int64(b.src.w)
	if b.width = b.src.w; wide*column > limit {
		wide = limit / column
		b.width = int(wide-2*int64(b.radius)-8) / b.deep * b.deep // and what is left of packs at either end
	}
	if b.width <= 0 {
		return 0, &errs.LimitError{Name: "MaxBinding", Want: int64(2*b.radius+8+b.deep) * column, Have: limit}
	}
	strips := min(max(1, blurBand/(wide*int64(b.deep)*b.src.pixelBytes())), limit/(wide*column), int64(b.t.MaxGroups[1]))
	rows, err := bandRows(b.t, b.texel, b.dst, 0, int(strips)*b.deep)
	if err == nil {
		rows, err = bandRows(b.t, b.texel, b.src, 0, rows) // the alpha comes from there
	}
	if err != nil {
		return 0, err
	}
	// The source rows that a band needs should fit a binding, so that it is
	// blurred at one go; if not, four columns of them must.
	if with, err := bandRows(b.t, b.texel, b.src, b.radius, rows); err == nil && (with >= b.deep || with == rows) {
		rows = with
	} else {
		four := 4 * b.src.pixelBytes()
		if rows = int(min(int64(rows), limit/four-2*int64(b.radius))); rows <= 0 {
			return 0, &errs.LimitError{Name: "MaxBinding", Want: (1 + 2*int64(b.radius)) * four, Have: limit}
		}
	}
	if rows >= b.deep && rows < b.src.h {
		rows = rows / b.deep * b.deep
	}
	return rows, nil
}

// first plans rows [top, bottom) and columns [near, far) from the image to the
// intermediate one.
func (b *blurPlan) first(top, bottom, near, far int) error {
	from, to := max(top-b.radius, 0), min(bottom+b.radius, b.src.h)
	room := room(b.t, b.texel)
	if int64(to-from)*b.src.rowBytes() <= room {
		b.firstOf(spec.In(0), b.src, top, bottom, from, to, near, far, near, far)
		return nil
	}
	// The rows that the band needs do not fit a binding: copy columns of them
	// together, as many as fit, and blur those.
	width := int(room / (int64(to-from) * b.src.pixelBytes()) / 4 * 4)
	if width == 0 {
		return &errs.LimitError{Name: "MaxBinding", Want: 4 * int64(to-from) * b.src.pixelBytes(), Have: room}
	}
	stripe := layout{dtype: b.src.dtype, h: to - from, w: width, c: b.src.c, pitch: width}
	b.stripe = max(b.stripe, stripe.rowBytes()*int64(stripe.h))
	return spans(far-near, width, func(left, right int) error {
		left, right = near+left, near+right
		steps, err := copyColumns(b.t, b.src, from, to, left, right, spec.Scratch(scratchStripe), stripe)
		if err != nil {
			return err
		}
		b.steps = append(b.steps, steps...)
		b.firstOf(spec.Scratch(scratchStripe), stripe, top, bottom, from, to, left, right, near, far)
		return nil
	})
}

// firstOf plans rows [top, bottom) of columns [left, right) to strips of columns
// [near, far). The source holds rows [from, to) of the image; it is the image, or
// its row 0 is the image's row `from` and its column 0 the image's column `left`.
func (b *blurPlan) firstOf(ref spec.Ref, src layout, top, bottom, from, to, left, right, near, far int) {
	row, column := from, left // of the image, at the source's own row and column 0
	if ref == spec.In(0) {
		row, column = 0, 0
	}
	b.eachPart(left, right, func(left, right, pack int, texel bool) {
		s := rowWindow(b.t, ref, src, from-row, to-row, pack)
		p := b.params()
		p.Columns = uint32((right - left) / pack)
		p.Height, p.Line = uint32(to), uint32(top) // the binding may end at row `to`
		p.SrcPitch = uint32(src.pitch / pack)
		p.SrcBase = s.base + uint32((left-column)/pack) - uint32(row)*p.SrcPitch
		p.DstPitch = uint32((far - near) * b.deep / b.midPack(pack))
		p.DstBase = uint32((left - near) * b.deep / b.midPack(pack))
		step := spec.Step{
			Module: b.kernel(".first", texel),
			Bind:   []spec.Bind{s.bind, {Buf: spec.Scratch(scratchMid)}, {Buf: b.taps}, {Buf: spec.Scratch(scratchFlags)}},
			Groups: [3]uint32{groups(int(p.Columns), 64), groups(bottom-top, b.deep), 1},
		}
		if b.weigh {
			b.tiled(&step, p)
		} else {
			step.Params = gaussianBlurParams{blurParams: p}
		}
		b.steps = append(b.steps, step)
	})
}

// second plans rows [top, bottom) of columns [left, right) from strips of columns
// [near, far) to the result.
func (b *blurPlan) second(top, bottom, left, right, near, far int) {
	b.eachPart(left, right, func(left, right, pack int, texel bool) {
		d := rowWindow(b.t, spec.Out(0), b.dst, top, bottom, pack)
		p := b.params()
		p.Columns, p.Width = groups(right-left, b.deep)*uint32(b.deep/b.midPack(pack)), uint32(right-left)
		p.Height, p.Line = uint32(far-near), uint32(left-near)
		p.Rows = uint32(bottom - top)
		p.SrcPitch = uint32((far - near) * b.deep / b.midPack(pack))
		p.DstPitch = uint32(max(1, b.dst.pitch/pack))
		p.DstBase = d.base + uint32(top)*p.DstPitch + uint32(left/pack)
		step := spec.Step{
			Module: b.kernel(".second", texel),
			Bind:   []spec.Bind{{Buf: spec.Scratch(scratchMid)}, d.bind, {Buf: b.taps}, {Buf: spec.Scratch(scratchFlags)}},
			Groups: [3]uint32{groups(int(p.Columns), 64), groups(bottom-top, b.deep), 1},
		}
		if b.weigh {
			b.tiled(&step, p)
		} else {
			alpha := rowWindow(b.t, spec.In(0), b.src, top, bottom, pack)
			pitch := uint32(b.src.pitch / pack)
			step.Params = gaussianBlurParams{p, alpha.base + uint32(top)*pitch + uint32(left/pack), pitch}
			step.Bind[3] = alpha.bind
		}
		b.steps = append(b.steps, step)
	})
}

// tiled makes few workgroups do the work of a step.
func (b *blurPlan) tiled(step *spec.Step, p blurParams) {
	across, tiles := step.Groups[0], step.Groups[0]*step.Groups[1]
	step.Groups = [3]uint32{fewGroups(b.t, int(tiles), int(p.Steps)), 1, 1}
	step.Params = gaussianBlurAlphaParams{p, across, tiles, step.Groups[0]}
}

// midPack is how many pixels between the passes a kernel with packs of so many
// handles at a time.
func (b *blurPlan) midPack(pack int) int {
	if b.weigh {
		return 1
	}
	return pack
}

// eachPart cuts columns [left, right) into launches of the texel kernels, as far
// as they go, and of those without texels, whose packs are of one pixel.
func (b *blurPlan) eachPart(left, right int, f func(left, right, pack int, texel bool)) {
	whole := left
	part := func(from, to int, texel bool) {
		pack := packOf(b.src.dtype, texel)
		_ = spans(to-from, int(b.t.MaxGroups[0])*64*b.midPack(pack), func(i, j int) error {
			f(from+i, from+j, pack, texel)
			return nil
		})
	}
	if b.texel {
		pack := packOf(b.src.dtype, true)
		whole = left + (right-left)/pack*pack
		part(left, whole, true)
	}
	part(whole, right, false)
}

// kernel is the kernel of a pass.
func (b *blurPlan) kernel(pass string, texel bool) *spv.Module {
	if b.short {
		pass += ".short"
	}
	op := "gaussian_blur"
	if b.weigh {
		op = "gaussian_blur_alpha"
	}
	return kernel(op, b.src.dtype, pass, texel)
}

func (b *blurPlan) params() blurParams {
	return blurParams{Channels: uint32(b.src.c), Radius: uint32(b.radius), Steps: uint32(b.loopSteps())}
}

// copyColumns plans a copy of rows [from, to) and columns [left, right) of an
// image to the top left corner of dst.
func copyColumns(t *spec.Target, src layout, from, to, left, right int, ref spec.Ref, dst layout) ([]spec.Step, error) {
	rows, err := bandRows(t, false, src, 0, int(t.MaxGroups[1]))
	if err != nil {
		return nil, err
	}
	var steps []spec.Step
	err = spans(to-from, rows, func(top, bottom int) error {
		s := rowWindow(t, spec.In(0), src, from+top, from+bottom, 1)
		d := rowWindow(t, ref, dst, top, bottom, 1)
		return spans(right-left, int(t.MaxGroups[0])*64, func(i, j int) error {
			steps = append(steps, spec.Step{
				Module: kernel("pointwise", src.dtype, "", false),
				Params: pointwiseParams{
					Columns:  uint32(j - i),
					SrcPitch: uint32(src.pitch), SrcBase: s.base + uint32((from+top)*src.pitch+left+i),
					DstPitch: uint32(dst.pitch), DstBase: d.base + uint32(top*dst.pitch+i),
					Channels: uint32(src.c),
				},
				Bind:   []spec.Bind{s.bind, d.bind},
				Groups: [3]uint32{groups(j-i, 64), uint32(bottom - top), 1},
			})
			return nil
		})
	})
	return steps, err
}
