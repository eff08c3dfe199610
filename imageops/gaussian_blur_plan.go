package imageops

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

type gaussianWeightsParams struct {
	Count   uint32
	Lead    uint32
	Radius  uint32
	Falloff float32
}

type gaussianBlurParams struct {
	Columns    uint32
	Width      uint32
	Height     uint32
	Row        uint32
	Rows       uint32
	SrcBase    uint32
	SrcPitch   uint32
	DstBase    uint32
	DstPitch   uint32
	Channels   uint32
	Radius     uint32
	Steps      uint32
	AlphaBase  uint32
	AlphaPitch uint32
}

// The ROWS and TAPS of every variant in shaders/image/gaussian_blur.comp.
const (
	blurRows = 8
	blurTaps = 4
)

// blurBand is how many bytes a band's intermediate image takes if it can.
const blurBand = 8 << 20

// blurPlan plans a blur band by band: a band of rows is blurred along columns
// into a transposed intermediate image, and that along its columns, which are
// the image's rows, back into place.
type blurPlan struct {
	t        *spec.Target
	src, dst picture
	mid      picture // of a band: its rows are the image's columns
	texel    bool
	radius   int
	steps    []spec.Step
	stripe   int64 // bytes of scratch that columns are copied to, if need be
}

// The plan's scratch buffers.
const (
	scratchWeights = iota
	scratchMid
	scratchStripe
)

func planBlur(t *spec.Target, in, out tensor.Desc, call GaussianBlur) (*spec.Plan, error) {
	src, dst, err := pictures("gaussian_blur", in, out)
	if err != nil {
		return nil, err
	}
	if src.w == 0 || src.h == 0 {
		return &spec.Plan{}, nil
	}
	b := &blurPlan{t: t, src: src, dst: dst, radius: call.radius(), texel: texelFits(t, 64, src, dst)}
	weights := b.weights(call.Sigma)
	band, err := b.bandHeight()
	if err != nil && b.texel {
		b.texel = false // texel bindings may be the smaller ones
		band, err = b.bandHeight()
	}
	if err != nil {
		return nil, err
	}
	b.mid = picture{dtype: src.dtype, h: src.w, w: band, c: src.c, pitch: band}
	err = spans(src.h, band, func(top, bottom int) error {
		if err := b.first(top, bottom); err != nil {
			return err
		}
		return b.second(top, bottom)
	})
	return &spec.Plan{Steps: b.steps, Scratch: []int64{weights, b.mid.rowBytes() * int64(b.mid.h), b.stripe}}, err
}

// weights plans the kernel that computes the weights, and returns their bytes.
func (b *blurPlan) weights(sigma float64) int64 {
	n := 4*b.loopSteps() + blurTaps + blurRows // what the last step may look at
	b.steps = append(b.steps, spec.Step{
		Kernel: "image/gaussian_weights.f32",
		Params: gaussianWeightsParams{Count: uint32(n), Lead: blurRows - 1, Radius: uint32(b.radius), Falloff: float32(1 / (2 * sigma * sigma))},
		Bind:   []spec.Bind{{Buf: spec.Scratch(scratchWeights)}},
		Groups: [3]uint32{groups(n, 64), 1, 1},
	})
	return int64(4 * n)
}

func (b *blurPlan) loopSteps() int { return (2*b.radius + blurRows + blurTaps - 1) / blurTaps }

// bandHeight is how many rows to blur at a time: whole packs of the intermediate
// image, and what an invocation makes where there is room for that.
func (b *blurPlan) bandHeight() (int, error) {
	most := int64(min(b.t.MaxGroups[0], b.t.MaxGroups[1])) * blurRows
	column := int64(b.src.w) * b.src.pixelBytes() // bytes of one row of the band in the intermediate image
	unit := int64(packOf(b.src.dtype, b.texel))
	rows := min(max(blurRows, blurBand/column), room(b.t, b.texel)/column, most)
	fit, err := bandRows(b.t, b.texel, b.dst, 0, int(max(1, rows)))
	if err == nil {
		fit, err = bandRows(b.t, b.texel, b.src, 0, fit) // the alpha comes from there
	}
	if err != nil {
		return 0, err
	}
	if fit < b.src.h {
		rows = int64(fit)
	}
	// The source rows that a band needs should fit a binding, so that it is
	// blurred at one go; if not, four columns of them must.
	if with, err := bandRows(b.t, b.texel, b.src, b.radius, int(max(1, rows))); err == nil && int64(with) >= unit {
		if with < b.src.h {
			rows = min(rows, int64(with))
		}
	} else {
		rows = min(rows, room(b.t, b.texel)/(4*b.src.pixelBytes())-2*int64(b.radius))
	}
	if rows >= blurRows {
		unit = blurRows
	}
	if rows = rows / unit * unit; rows <= 0 {
		return 0, &errs.LimitError{Name: "MaxBinding", Want: unit * max(column, b.dst.rowBytes()), Have: room(b.t, b.texel)}
	}
	return int(min(rows, (int64(b.src.h)+unit-1)/unit*unit)), nil
}

// first plans rows [top, bottom) from the image to the intermediate one.
func (b *blurPlan) first(top, bottom int) error {
	from, to := max(top-b.radius, 0), min(bottom+b.radius, b.src.h)
	room := room(b.t, b.texel)
	if int64(to-from)*b.src.rowBytes() <= room {
		return b.firstOf(spec.In(0), b.src, top, bottom, from, to, 0, 0, b.src.w)
	}
	// The rows that the band needs do not fit a binding: copy columns of them
	// together, as many as fit, and blur those.
	width := int(room / (int64(to-from) * b.src.pixelBytes()) / 4 * 4)
	if width == 0 {
		return &errs.LimitError{Name: "MaxBinding", Want: 4 * int64(to-from) * b.src.pixelBytes(), Have: room}
	}
	stripe := picture{dtype: b.src.dtype, h: to - from, w: width, c: b.src.c, pitch: width}
	b.stripe = max(b.stripe, stripe.rowBytes()*int64(stripe.h))
	return spans(b.src.w, width, func(left, right int) error {
		steps, err := copyColumns(b.t, b.src, from, to, left, right, spec.Scratch(scratchStripe), stripe)
		if err != nil {
			return err
		}
		b.steps = append(b.steps, steps...)
		return b.firstOf(spec.Scratch(scratchStripe), stripe, top, bottom, from, to, from, left, right)
	})
}

// firstOf plans rows [top, bottom) of columns [left, right). The source holds
// rows [from, to) of the image; its own row 0 is the image's row `origin`, and
// its column 0 the image's column `left` unless it is the image itself.
func (b *blurPlan) firstOf(ref spec.Ref, src picture, top, bottom, from, to, origin, left, right int) error {
	part := func(left, right, at int, texel bool) error { // at: column in the source
		pack := packOf(src.dtype, texel)
		s := rowWindow(b.t, ref, src, from-origin, to-origin, pack)
		return spans((right-left)/pack, int(b.t.MaxGroups[0])*64, func(i, j int) error {
			p := b.params(bottom - top)
			p.Columns, p.Width = uint32(j-i), uint32((j-i)*pack)
			p.Height, p.Row = uint32(b.src.h), uint32(top)
			p.SrcPitch = uint32(src.pitch / pack)
			p.SrcBase = s.base + uint32(at/pack+i) - uint32(origin)*p.SrcPitch
			p.DstPitch = uint32(max(1, b.mid.pitch/pack))
			p.DstBase = uint32(left+i*pack) * p.DstPitch
			b.steps = append(b.steps, spec.Step{
				Kernel: variant("gaussian_blur", src.dtype, ".first", texel), Params: p,
				Bind:   []spec.Bind{s.bind, {Buf: spec.Scratch(scratchMid)}, {Buf: spec.Scratch(scratchWeights)}},
				Groups: [3]uint32{groups(j-i, 64), groups(bottom-top, blurRows), 1},
			})
			return nil
		})
	}
	at := left
	if ref != spec.In(0) {
		at = 0
	}
	whole := left
	if b.texel {
		pack := packOf(src.dtype, true)
		whole = left + (right-left)/pack*pack
		if err := part(left, whole, at, true); err != nil {
			return err
		}
	}
	return part(whole, right, at+whole-left, false)
}

// second plans rows [top, bottom) from the intermediate image to the result.
func (b *blurPlan) second(top, bottom int) error {
	part := func(left, right int, texel bool) error {
		if left >= right {
			return nil
		}
		pack := packOf(b.src.dtype, texel)
		alpha := rowWindow(b.t, spec.In(0), b.src, top, bottom, pack)
		d := rowWindow(b.t, spec.Out(0), b.dst, top, bottom, pack)
		return spans(right-left, int(b.t.MaxGroups[1])*blurRows, func(i, j int) error {
			p := b.params(j - i)
			p.Columns, p.Width = uint32((bottom-top+pack-1)/pack), uint32(bottom-top)
			p.Height, p.Row = uint32(b.mid.h), uint32(left+i)
			p.SrcPitch = uint32(max(1, b.mid.pitch/pack))
			p.DstPitch, p.AlphaPitch = uint32(max(1, b.dst.pitch/pack)), uint32(b.src.pitch/pack)
			p.DstBase = d.base + uint32(top)*p.DstPitch + uint32((left+i)/pack)
			p.AlphaBase = alpha.base + uint32(top)*p.AlphaPitch + uint32((left+i)/pack)
			b.steps = append(b.steps, spec.Step{
				Kernel: variant("gaussian_blur", b.src.dtype, ".second", texel), Params: p,
				Bind:   []spec.Bind{{Buf: spec.Scratch(scratchMid)}, d.bind, {Buf: spec.Scratch(scratchWeights)}, alpha.bind},
				Groups: [3]uint32{groups((bottom-top+pack-1)/pack, 64), groups(j-i, blurRows), 1},
			})
			return nil
		})
	}
	whole := 0
	if b.texel {
		pack := packOf(b.src.dtype, true)
		whole = b.src.w / pack * pack
		if err := part(0, whole, true); err != nil {
			return err
		}
	}
	return part(whole, b.src.w, false)
}

func (b *blurPlan) params(rows int) gaussianBlurParams {
	return gaussianBlurParams{Rows: uint32(rows), Channels: uint32(b.src.c), Radius: uint32(b.radius), Steps: uint32(b.loopSteps())}
}

// copyColumns plans a copy of rows [from, to) and columns [left, right) of an
// image to the top left corner of dst.
func copyColumns(t *spec.Target, src picture, from, to, left, right int, ref spec.Ref, dst picture) ([]spec.Step, error) {
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
				Kernel: variant("pointwise", src.dtype, "", false),
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
