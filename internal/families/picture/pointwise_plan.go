package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// These are the flags of a stage in shaders/image/pointwise.comp.
const (
	flagLuma  = 1
	flagStep  = 2
	flagClamp = 4
)

// reflow returns the length in pixels of the rows into which contiguous images are
// divided. It is a power of two. Neither the length nor the number of rows then exceeds a
// limit.
func reflow(t *spec.Target, p layout) int {
	n := 1 << 14
	for n > 256 && int64(n)*p.pixelBytes() > room(t, t.TexelBuffers) {
		n /= 2
	}
	return n
}

// PlanStages plans stages over a picture. Without stages, it plans a copy.
// Errors: ErrStrides, *LimitError.
func PlanStages(t *spec.Target, in, out tensor.Desc, stages []Stage) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	plan := &spec.Plan{}
	from := spec.In(0)
	for first := true; first || len(stages) > 0; first = false {
		n := min(len(stages), maxStages)
		steps, err := pointwiseSteps(t, from, src, spec.Out(0), dst, stages[:n])
		if err != nil {
			return nil, err
		}
		plan.Steps = append(plan.Steps, steps...)
		stages = stages[n:]
		from, src = spec.Out(0), dst // The remaining stages work in place.
	}
	return plan, nil
}

// pointwiseSteps returns the steps that apply at most maxStages stages to an image and
// write to another.
func pointwiseSteps(t *spec.Target, from spec.Ref, src layout, to spec.Ref, dst layout, stages []Stage) ([]spec.Step, error) {
	if src.w == 0 || src.h == 0 {
		return nil, nil
	}
	var steps []spec.Step
	// part appends columns [left, right) of all rows from skip on, with one kind of
	// kernel.
	part := func(src, dst layout, skip, left, right int, texel bool) error {
		if left >= right || src.h <= skip {
			return nil
		}
		pack := packOf(src.dtype, texel)
		columns := (right - left) / pack
		params := pointwiseParams{
			SrcPitch: uint32(src.pitch / pack), DstPitch: uint32(max(1, dst.pitch/pack)),
			Channels: uint32(src.c), Stages: uint32(len(stages)), Stage: encodeStages(src.dtype, stages),
		}
		// Kernels for bytes make four packs of 256 invocations, as texel kernels do.
		words := t.HostVectors && src.dtype == tensor.U8 && t.MaxInvocations >= 256
		local := 64
		if texel || words && byteKernel(stages) != "" {
			local = 4 * 256
		}
		rows, err := bandRows(t, texel, src, 0, int(t.MaxGroups[1]))
		if err != nil {
			return err
		}
		if rows, err = bandRows(t, texel, dst, 0, rows); err != nil {
			return err
		}
		return spans(src.h-skip, rows, func(top, bottom int) error {
			top, bottom = top+skip, bottom+skip
			s, d := rowWindow(t, from, src, top, bottom, pack), rowWindow(t, to, dst, top, bottom, pack)
			return spans(columns, int(t.MaxGroups[0])*local, func(a, b int) error {
				p := params
				p.Columns = uint32(b - a)
				p.SrcBase = s.base + uint32(top)*p.SrcPitch + uint32(left/pack+a)
				p.DstBase = d.base + uint32(top)*p.DstPitch + uint32(left/pack+a)
				step := spec.Step{
					Module: kernel("pointwise", src.dtype, "", texel), Params: p, Bind: []spec.Bind{s.bind, d.bind},
					Groups: [3]uint32{groups(b-a, local), uint32(bottom - top), 1},
				}
				switch {
				case src.dtype != tensor.U8:
				case texel:
					useByteKernel(&step, p, stages, "")
				case words:
					useByteKernel(&step, p, stages, ".word")
				}
				steps = append(steps, step)
				return nil
			})
		})
	}
	// all appends whole rows. Texel kernels handle whole packs, and the other kernel
	// handles the rest.
	all := func(src, dst layout, skip int) error {
		whole := 0
		if texelFits(t, 256, src, dst) && rowsFit(t, 0, src) && rowsFit(t, 0, dst) {
			whole = src.w / packOf(src.dtype, true) * packOf(src.dtype, true)
			if err := part(src, dst, skip, 0, whole, true); err != nil {
				return err
			}
		}
		return part(src, dst, skip, whole, src.w, false)
	}
	if !src.contiguous() || !dst.contiguous() {
		return steps, all(src, dst, 0)
	}
	// A contiguous image is one long row. It is divided into rows of equal length, and
	// what is left is a last, shorter row.
	n, row := src.h*src.w, reflow(t, src)
	long := func(p layout) layout { p.h, p.w, p.pitch = n/row, row, row; return p }
	if err := all(long(src), long(dst), 0); err != nil || n%row == 0 {
		return steps, err
	}
	last := func(p layout) layout { p.h, p.w, p.pitch = n/row+1, n%row, row; return p }
	return steps, all(last(src), last(dst), n/row)
}

// byteKernel returns the kernel of image/pointwise_byte that can apply the stages, or "".
func byteKernel(stages []Stage) string {
	switch {
	case len(stages) == 0:
		return ".invert" // Inverting no bits is a copy.
	case len(stages) > 1:
		return ""
	}
	switch s := stages[0]; {
	case s == Stage{Scale: -1, Offset: 1}:
		return ".invert"
	case s == Stage{Luma: true, Scale: 1}:
		return ".luma"
	case s.Luma:
		return ""
	case s.Step:
		return ".step"
	case 256*(math.Abs(s.Scale)+math.Abs(s.Offset)) > mostLevel:
		return ""
	}
	return ".affine"
}

// useByteKernel replaces the kernel of a step by image/pointwise_byte, which is faster,
// if that kernel can apply the stages.
func useByteKernel(step *spec.Step, chain pointwiseParams, stages []Stage, suffix string) {
	name := byteKernel(stages)
	if name == "" {
		return
	}
	p := pointwiseByteParams{Columns: chain.Columns, SrcBase: chain.SrcBase, SrcPitch: chain.SrcPitch, DstBase: chain.DstBase, DstPitch: chain.DstPitch}
	switch s := chain.Stage[0]; {
	case name == ".invert" && len(stages) > 0:
		p.Invert = 0xffffff
	case name == ".step":
		p.Low, p.Either = stepBits(s.Threshold)
	case name == ".affine":
		p.Scale, p.Offset = s.Scale, s.Offset
	}
	step.Module, step.Params = spirv.Kernel("image/pointwise_byte"+name+suffix), p
}

// mostLevel is the largest number that image/pointwise_byte.affine may round to a level: it
// finds the level in the lower bits of a float, see shaders/lib/levels.glsl.
const mostLevel = 1 << 22

// stepBits encodes a level for the kernel: a colour of at least level becomes 255. Levels
// above 255 are never reached.
func stepBits(level float32) (low, either uint32) {
	const each = 0x010101
	switch least := uint32(math.Ceil(float64(min(max(level, 0), 256)))); {
	case least < 128:
		return (128 - least) * each, 128 * each
	case least < 256:
		return (256 - least) * each, 0
	}
	return 0, 0
}

// smallestNormal is the smallest positive f32 that is not subnormal.
const smallestNormal = 0x1p-126

// encodeStages converts stages to the scale of the dtype.
func encodeStages(d tensor.DType, stages []Stage) (out [maxStages]pointwiseStage) {
	full, half := 1.0, 0.0
	if d == tensor.U8 {
		full, half = 255, 0.5 // The kernels round down.
	}
	for i, s := range stages {
		e := &out[i]
		if s.Luma {
			e.Flags |= flagLuma
		}
		if s.Step {
			e.Flags |= flagStep
		}
		if s.Clamp {
			e.Flags |= flagClamp
		}
		// Without the inner conversion some processors add without rounding the product.
		e.Scale, e.Offset, e.Threshold = float32(s.Scale), float32(float64(s.Offset*full)+half), float32(s.Threshold*full)
		if d == tensor.U8 && e.Threshold > 0 && e.Threshold < smallestNormal {
			e.Threshold = smallestNormal // Some drivers take a subnormal number for zero. No level lies between.
		}
	}
	return out
}
