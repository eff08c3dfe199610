package picture

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// gaussianWeightsParams is the push-constant block of gaussian_weights.comp.
type gaussianWeightsParams struct {
	Count   uint32
	Lead    uint32
	Radius  uint32
	Falloff float32
	End     float32
}

// blurParams is the first part of the push-constant blocks of the kernels that blur.
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

// gaussianBlurParams is the push-constant block of gaussian_blur.comp.
type gaussianBlurParams struct {
	blurParams
	AlphaBase  uint32
	AlphaPitch uint32
}

// gaussianBlurAlphaParams is the push-constant block of gaussian_blur_alpha.comp.
type gaussianBlurAlphaParams struct {
	blurParams
	Across uint32
	Tiles  uint32
	Stride uint32
	// Keep is 1 if pixels stay that depend on opaque pixels only.
	Keep uint32
}

// BlurKernels lists the kernels that PlanBlur launches without Blur.Grid.
func BlurKernels() []spec.Kernel {
	list := []spec.Kernel{{Name: "image/gaussian_weights.f32", Params: gaussianWeightsParams{}}}
	list = append(list, lanesKernels()...)
	for _, d := range dtypes {
		for _, pass := range []string{".first", ".second"} {
			for _, texel := range []bool{false, true} {
				list = append(list,
					spec.Kernel{Name: kernelName("gaussian_blur", d, pass, texel), Params: gaussianBlurParams{}},
					spec.Kernel{Name: kernelName("gaussian_blur_alpha", d, pass, texel), Params: gaussianBlurAlphaParams{}})
			}
			if d == tensor.U8 {
				for _, radius := range shortRadii {
					list = append(list, spec.Kernel{Name: kernelName("gaussian_blur", d, pass+shortPhase(radius), true), Params: gaussianBlurParams{}})
				}
			}
		}
	}
	return list
}

// These are ROWS and TAPS of the variants in shaders/image/gaussian_blur.comp.
const (
	blurRows  = 8
	blurTaps  = 4
	shortRows = 4
)

// blurBand is the size of a band of the source in bytes, where that is possible.
const blurBand = 8 << 20

// wideBytes is the size of a pixel between the passes if colours are weighted by alpha.
const wideBytes = 16

// Strategies of a blur, for spec.Target.Strategy.
const (
	byShort = "short" // an invocation reads all lines that it needs at once, because they are few
	byLoop  = "loop"  // an invocation reads some lines at a time
)

// blurPlan plans a blur band by band. A band is a number of rows. The first pass blurs a
// band along columns and writes strips of an intermediate image. The second pass blurs the
// strips along rows and writes the result. A strip is stripRows whole rows, stored column
// by column.
//
// These passes treat the image as opaque. If colours are weighted by alpha, other kernels
// repeat both passes. They do nothing unless the first kernels have met a pixel that is
// not opaque. Only the device knows that.
type blurPlan struct {
	t        *spec.Target
	src, dst layout
	// texel says that texel kernels are used.
	texel bool
	// weigh says that colours are weighted by alpha.
	weigh bool
	// short says that the short kernels are used.
	short bool
	// keep says that pixels stay that depend on opaque pixels only.
	keep bool
	// radius is the number of pixels on either side that the kernels read.
	radius int
	// stripRows is the number of rows in a strip.
	stripRows int
	// band is the number of rows in a band.
	band int
	// width is the number of columns that are blurred at a time. These are all columns,
	// unless a strip of them does not fit a binding.
	width int
	// taps holds the weights.
	taps  spec.Ref
	steps []spec.Step
	// mid is the size of the strips of a band in bytes.
	mid int64
	// stripe is the size in bytes of the scratch buffer to which columns are copied. It is 0
	// if they are not copied.
	stripe int64
}

// The plan's scratch buffers.
const (
	scratchWeights = iota
	scratchMid
	scratchStripe
	scratchFlags
	scratchAlphaWeights // weights of the kernels that weigh by alpha, if they differ
)

// PlanBlur plans a Gaussian blur of a picture. If call.Grid is set, it may be by cells.
// Errors: ErrStrides, *LimitError.
func PlanBlur(t *spec.Target, in, out tensor.Desc, call Blur) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	if src.w == 0 || src.h == 0 {
		return &spec.Plan{}, nil
	}
	if g := newGridPlan(t, src, dst, call); g != nil {
		return g.plan(call.Weigh), nil
	}
	b := blurPlan{t: t, src: src, dst: dst, taps: spec.Scratch(scratchWeights)}
	if half := newHalfPlan(t, src, dst, call); half != nil {
		return b.planHalf(half)
	}
	if lanesFit(t, src, dst, call) {
		return b.planLanes(call)
	}
	if err := b.choose(call); err != nil {
		return nil, err
	}
	scratch := []int64{scratchWeights: b.addWeights(call), scratchFlags: flagBytes}
	again := src.c == 4 && call.Weigh
	weighed := b
	if again {
		weighed.weigh = true
		if err := weighed.choose(call); err != nil {
			return nil, err
		}
		if b.short {
			weighed.taps = spec.Scratch(scratchAlphaWeights)
			scratch = append(scratch, weighed.addWeights(call))
			b.steps = weighed.steps
		}
	}
	if err := b.addPasses(); err != nil {
		return nil, err
	}
	if again {
		weighed.steps, weighed.mid, weighed.stripe = b.steps, b.mid, b.stripe
		if err := weighed.addPasses(); err != nil {
			return nil, err
		}
		b = weighed
	}
	scratch[scratchMid], scratch[scratchStripe] = b.mid, b.stripe
	return &spec.Plan{Steps: b.steps, Scratch: scratch}, nil
}

// choose chooses the kernels and the size of the bands.
func (b *blurPlan) choose(call Blur) (err error) {
	b.texel = texelFits(b.t, 64, b.src, b.dst)
	b.chooseKernels(call, b.texel)
	b.band, err = b.bandHeight()
	if err != nil && b.texel {
		b.texel = false // Texel bindings may be smaller than others.
		b.chooseKernels(call, false)
		b.band, err = b.bandHeight()
	}
	return err
}

// addPasses appends both passes over the image.
func (b *blurPlan) addPasses() error {
	return spans(b.src.h, b.band, func(top, bottom int) error {
		return spans(b.src.w, b.width, func(left, right int) error {
			near, far := b.neededColumns(left, right)
			b.mid = max(b.mid, int64(groups(bottom-top, b.stripRows))*int64(b.stripRows)*int64(far-near)*b.midBytes())
			if err := b.addFirst(top, bottom, near, far); err != nil {
				return err
			}
			b.addSecond(top, bottom, left, right, near, far)
			return nil
		})
	})
}

// midBytes returns the size of a pixel between the passes, in bytes.
func (b *blurPlan) midBytes() int64 {
	if b.weigh {
		return wideBytes
	}
	return b.src.pixelBytes()
}

// BlurStrategies lists the strategies of a call. The first one is used without a choice.
func BlurStrategies(t *spec.Target, in, out tensor.Desc, call Blur) []string {
	src, dst, err := layouts(in, out)
	if err != nil || src.w*src.h == 0 || !shortFits(src, call, texelFits(t, 64, src, dst)) {
		return nil
	}
	return []string{byShort, byLoop}
}

// chooseKernels chooses between the short kernels and those with a loop.
func (b *blurPlan) chooseKernels(call Blur, texel bool) {
	b.short = !b.weigh && b.t.Strategy != byLoop && shortFits(b.src, call, texel)
	b.radius, b.stripRows = call.Radius(), blurRows
	if b.short { // Weights beyond the radius of the call are 0.
		b.radius, b.stripRows = shortReach(b.radius), shortRows
	}
}

// addWeights appends the kernel that computes the weights, and returns their size in
// bytes.
func (b *blurPlan) addWeights(call Blur) int64 {
	n, lead := 4*b.loopSteps()+blurTaps+blurRows, blurRows-1 // The last step may read that many weights.
	if b.short {
		n, lead = (2*b.radius+4)/4*4, b.radius-call.Radius()
	}
	b.steps = append(b.steps, spec.Step{
		Module: spirv.Kernel("image/gaussian_weights.f32"),
		Params: gaussianWeightsParams{Count: uint32(n), Lead: uint32(lead), Radius: uint32(call.Radius()), Falloff: float32(falloff(call.Sigma)), End: 1},
		Bind:   []spec.Bind{{Buf: b.taps}, {Buf: spec.Scratch(scratchFlags)}},
		Groups: [3]uint32{groups(n, 64), 1, 1},
	})
	return int64(4 * n)
}

// neededColumns returns the columns [near, far) that the columns [left, right) of the
// result depend on. near is the start of a pack. For the short kernels, which only handle
// packs, far is the end of one.
func (b *blurPlan) neededColumns(left, right int) (near, far int) {
	near, far = max(left-b.radius, 0)/4*4, min(right+b.radius, b.src.w)
	if b.short {
		far = (far + 3) / 4 * 4 // This is at most the width, which is a multiple of a pack.
	}
	return near, far
}

// loopSteps returns the number of loop iterations over the weights.
func (b *blurPlan) loopSteps() int { return (2*b.radius + blurRows + blurTaps - 1) / blurTaps }

// bandHeight returns the number of rows in a band. These are whole strips if there is
// enough room. It also sets width.
func (b *blurPlan) bandHeight() (int, error) {
	limit := room(b.t, b.texel)
	column := int64(b.stripRows) * b.midBytes() // This is the size of one column of a strip.
	wide := int64(b.src.w)
	if b.width = b.src.w; wide*column > limit {
		wide = limit / column
		// The 8 pixels are parts of packs at both ends.
		b.width = int(wide-2*int64(b.radius)-8) / b.stripRows * b.stripRows
	}
	if b.width <= 0 {
		return 0, &errs.LimitError{Name: "MaxBinding", Want: int64(2*b.radius+8+b.stripRows) * column, Have: limit}
	}
	strips := min(max(1, blurBand/(wide*int64(b.stripRows)*b.src.pixelBytes())), limit/(wide*column), int64(b.t.MaxGroups[1]))
	rows, err := bandRows(b.t, b.texel, b.dst, 0, int(strips)*b.stripRows)
	if err == nil {
		rows, err = bandRows(b.t, b.texel, b.src, 0, rows) // The second pass reads alpha from the source.
	}
	if err != nil {
		return 0, err
	}
	// The source rows that a band needs should fit a binding, so that one launch blurs the
	// band. If they do not, at least four columns of them must fit.
	if with, err := bandRows(b.t, b.texel, b.src, b.radius, rows); err == nil && (with >= b.stripRows || with == rows) {
		rows = with
	} else {
		four := 4 * b.src.pixelBytes()
		if rows = int(min(int64(rows), limit/four-2*int64(b.radius))); rows <= 0 {
			return 0, &errs.LimitError{Name: "MaxBinding", Want: (1 + 2*int64(b.radius)) * four, Have: limit}
		}
	}
	if rows >= b.stripRows && rows < b.src.h {
		rows = rows / b.stripRows * b.stripRows
	}
	return rows, nil
}

// addFirst appends the first pass over rows [top, bottom) and columns [near, far), from
// the image to the strips.
func (b *blurPlan) addFirst(top, bottom, near, far int) error {
	from, to := max(top-b.radius, 0), min(bottom+b.radius, b.src.h)
	room := room(b.t, b.texel)
	if int64(to-from)*b.src.rowBytes() <= room {
		b.addFirstPart(spec.In(0), b.src, top, bottom, from, to, near, far, near, far)
		return nil
	}
	// The rows that the band needs do not fit a binding. Copy as many columns of them as
	// fit to scratch memory, and blur the copy.
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
		b.addFirstPart(spec.Scratch(scratchStripe), stripe, top, bottom, from, to, left, right, near, far)
		return nil
	})
}

// addFirstPart appends the first pass over rows [top, bottom) and columns [left, right),
// to strips of columns [near, far). The source holds rows [from, to) of the image. It is
// the image itself, or a copy whose first pixel is the image's pixel in row `from` and
// column `left`.
func (b *blurPlan) addFirstPart(ref spec.Ref, src layout, top, bottom, from, to, left, right, near, far int) {
	row, column := from, left // These are the row and column of the image that the source begins with.
	if ref == spec.In(0) {
		row, column = 0, 0
	}
	b.eachPart(left, right, func(left, right, pack int, texel bool) {
		s := rowWindow(b.t, ref, src, from-row, to-row, pack)
		p := b.params()
		p.Columns = uint32((right - left) / pack)
		p.Height, p.Line = uint32(to), uint32(top) // The binding may end at row `to`.
		p.SrcPitch = uint32(src.pitch / pack)
		p.SrcBase = s.base + uint32((left-column)/pack) - uint32(row)*p.SrcPitch
		p.DstPitch = uint32((far - near) * b.stripRows / b.midPack(pack))
		p.DstBase = uint32((left - near) * b.stripRows / b.midPack(pack))
		step := spec.Step{
			Module: b.kernel(".first", texel),
			Bind:   []spec.Bind{s.bind, {Buf: spec.Scratch(scratchMid)}, {Buf: b.taps}, {Buf: spec.Scratch(scratchFlags)}},
			Groups: [3]uint32{groups(int(p.Columns), 64), groups(bottom-top, b.stripRows), 1},
		}
		if b.weigh {
			b.limitGroups(&step, p)
		} else {
			step.Params = gaussianBlurParams{blurParams: p}
		}
		b.steps = append(b.steps, step)
	})
}

// addSecond appends the second pass over rows [top, bottom) and columns [left, right),
// from strips of columns [near, far) to the result.
func (b *blurPlan) addSecond(top, bottom, left, right, near, far int) {
	b.eachPart(left, right, func(left, right, pack int, texel bool) {
		d := rowWindow(b.t, spec.Out(0), b.dst, top, bottom, pack)
		p := b.params()
		p.Columns, p.Width = groups(right-left, b.stripRows)*uint32(b.stripRows/b.midPack(pack)), uint32(right-left)
		p.Height, p.Line = uint32(far-near), uint32(left-near)
		p.Rows = uint32(bottom - top)
		p.SrcPitch = uint32((far - near) * b.stripRows / b.midPack(pack))
		p.DstPitch = uint32(max(1, b.dst.pitch/pack))
		p.DstBase = d.base + uint32(top)*p.DstPitch + uint32(left/pack)
		step := spec.Step{
			Module: b.kernel(".second", texel),
			Bind:   []spec.Bind{{Buf: spec.Scratch(scratchMid)}, d.bind, {Buf: b.taps}, {Buf: spec.Scratch(scratchFlags)}},
			Groups: [3]uint32{groups(int(p.Columns), 64), groups(bottom-top, b.stripRows), 1},
		}
		if b.weigh {
			b.limitGroups(&step, p)
		} else {
			alpha := rowWindow(b.t, spec.In(0), b.src, top, bottom, pack)
			pitch := uint32(b.src.pitch / pack)
			step.Params = gaussianBlurParams{p, alpha.base + uint32(top)*pitch + uint32(left/pack), pitch}
			step.Bind[3] = alpha.bind
		}
		b.steps = append(b.steps, step)
	})
}

// limitGroups makes a step handle its tiles with few workgroups.
func (b *blurPlan) limitGroups(step *spec.Step, p blurParams) {
	across, tiles := step.Groups[0], step.Groups[0]*step.Groups[1]
	step.Groups = [3]uint32{fewGroups(b.t, int(tiles), loopCost(int(p.Steps), 0)), 1, 1}
	keep := uint32(0)
	if b.keep {
		keep = 1
	}
	step.Params = gaussianBlurAlphaParams{p, across, tiles, step.Groups[0], keep}
}

// midPack returns how many pixels between the passes a kernel handles at a time, if its
// packs have pack pixels.
func (b *blurPlan) midPack(pack int) int {
	if b.weigh {
		return 1
	}
	return pack
}

// eachPart splits columns [left, right) into launches. Texel kernels handle whole packs,
// and kernels without texels handle the rest, with packs of one pixel.
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

// kernel returns the module of a pass.
func (b *blurPlan) kernel(pass string, texel bool) *spv.Module {
	if b.short {
		pass += shortPhase(b.radius)
	}
	op := "gaussian_blur"
	if b.weigh {
		op = "gaussian_blur_alpha"
		if b.keep && texel && pass == ".second" {
			pass += ".keep"
		}
	}
	return kernel(op, b.src.dtype, pass, texel)
}

// params returns the parameters that both passes share.
func (b *blurPlan) params() blurParams {
	return blurParams{Channels: uint32(b.src.c), Radius: uint32(b.radius), Steps: uint32(b.loopSteps())}
}

// copyColumns returns the steps that copy rows [from, to) and columns [left, right) of an
// image to dst, starting at its top left corner.
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
					pointwiseGrid: pointwiseGrid{
						Columns:  uint32(j - i),
						SrcPitch: uint32(src.pitch), SrcBase: s.base + uint32((from+top)*src.pitch+left+i),
						DstPitch: uint32(dst.pitch), DstBase: d.base + uint32(top*dst.pitch+i),
					},
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
