package picture

import (
	"math"
	"slices"

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
	if src.c == 1 {
		stages = forOneChannel(stages)
	}
	plan := &spec.Plan{}
	if src.w == 0 || src.h == 0 {
		return plan, nil
	}
	if slices.ContainsFunc(stages, func(s Stage) bool { return !s.plain() }) {
		return plan, planList(plan, t, src, dst, stages)
	}
	from := spec.In(0)
	for first := true; first || len(stages) > 0; first = false {
		n := min(len(stages), maxStages)
		if err := plainPass(t, src, stages[:n]).add(plan, t, from, src, spec.Out(0), dst); err != nil {
			return nil, err
		}
		stages = stages[n:]
		from, src = spec.Out(0), dst // The remaining stages work in place.
	}
	return plan, nil
}

// pointwisePass is how some stages are applied to a picture.
type pointwisePass struct {
	// name returns the kernel with texels or without.
	name func(texel bool) string
	// packs is the number of packs of a workgroup of that kernel.
	packs func(texel bool) int
	// params returns the parameters of that kernel.
	params func(g pointwiseGrid, texel bool) any
	// more follows the source and the result among the bindings.
	more []spec.Bind
	// words says that no kernel with texels can be used.
	words bool
}

// Workgroups of the kernels. Those for bytes make four packs an invocation, as texel kernels do.
const (
	pointwiseLocal = 64
	manyPacks      = 4 * 256
)

// hostWords reports whether a picture is made by the kernels of image/pointwise_byte for words.
func hostWords(t *spec.Target, d tensor.DType) bool {
	return t.HostVectors && d == tensor.U8 && t.MaxInvocations >= 256
}

// plainPass returns the pass of at most maxStages stages that are plain.
func plainPass(t *spec.Target, src layout, stages []Stage) pointwisePass {
	encoded := encodeStages(src.dtype, stages)
	bytes, words := byteKernel(stages), hostWords(t, src.dtype)
	// special reports whether the kernel is one of image/pointwise_byte.
	special := func(texel bool) bool {
		return bytes != "" && src.dtype == tensor.U8 && (texel || words)
	}
	return pointwisePass{
		name: func(texel bool) string {
			switch {
			case !special(texel):
				return kernelName("pointwise", src.dtype, "", texel)
			case texel:
				return "image/pointwise_" + bytes
			}
			return "image/pointwise_" + bytes + ".word"
		},
		packs: func(texel bool) int {
			if texel || special(texel) {
				return manyPacks
			}
			return pointwiseLocal
		},
		params: func(g pointwiseGrid, texel bool) any {
			if special(texel) {
				if len(stages) > 1 {
					return affinesParams(g, encoded[:len(stages)])
				}
				return byteParams(g, bytes, encoded[0], len(stages) == 0)
			}
			return pointwiseParams{pointwiseGrid: g, Channels: uint32(src.c), Stages: uint32(len(stages)), Stage: encoded}
		},
	}
}

// add appends the steps that apply the stages to an image and write to another.
func (k pointwisePass) add(plan *spec.Plan, t *spec.Target, from spec.Ref, src layout, to spec.Ref, dst layout) error {
	// part appends columns [left, right) of all rows from skip on, with one kind of
	// kernel.
	part := func(src, dst layout, skip, left, right int, texel bool) error {
		if left >= right || src.h <= skip {
			return nil
		}
		pack, packs := packOf(src.dtype, texel), k.packs(texel)
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
			return spans((right-left)/pack, int(t.MaxGroups[0])*packs, func(a, b int) error {
				g := pointwiseGrid{Columns: uint32(b - a), SrcPitch: uint32(src.pitch / pack), DstPitch: uint32(max(1, dst.pitch/pack))}
				g.SrcBase = s.base + uint32(top)*g.SrcPitch + uint32(left/pack+a)
				g.DstBase = d.base + uint32(top)*g.DstPitch + uint32(left/pack+a)
				plan.Steps = append(plan.Steps, spec.Step{
					Module: spirv.Kernel(k.name(texel)), Params: k.params(g, texel),
					Bind:   append([]spec.Bind{s.bind, d.bind}, k.more...),
					Groups: [3]uint32{groups(b-a, packs), uint32(bottom - top), 1},
				})
				return nil
			})
		})
	}
	// all appends whole rows. Texel kernels handle whole packs, and the other kernel
	// handles the rest.
	all := func(src, dst layout, skip int) error {
		whole := 0
		if !k.words && texelFits(t, 256, src, dst) && rowsFit(t, 0, src) && rowsFit(t, 0, dst) {
			whole = src.w / packOf(src.dtype, true) * packOf(src.dtype, true)
			if err := part(src, dst, skip, 0, whole, true); err != nil {
				return err
			}
		}
		return part(src, dst, skip, whole, src.w, false)
	}
	if !src.contiguous() || !dst.contiguous() {
		return all(src, dst, 0)
	}
	// A contiguous image is one long row. It is divided into rows of equal length, and
	// what is left is a last, shorter row.
	n, row := src.h*src.w, reflow(t, src)
	long := func(p layout) layout { p.h, p.w, p.pitch = n/row, row, row; return p }
	if err := all(long(src), long(dst), 0); err != nil || n%row == 0 {
		return err
	}
	last := func(p layout) layout { p.h, p.w, p.pitch = n/row+1, n%row, row; return p }
	return all(last(src), last(dst), n/row)
}

// byteKernel returns the end of the name of the kernel that can apply the stages to bytes, or "".
func byteKernel(stages []Stage) string {
	switch {
	case len(stages) == 0:
		return "byte.invert" // Inverting no bits is a copy.
	case len(stages) > 1:
		return affinesKernel(stages)
	}
	switch s := stages[0]; {
	case s.inverts():
		return "byte.invert"
	case s.Luma && !s.Step && !s.Clamp && s.Scale == 1 && s.Offset == 0:
		return "byte.luma"
	case s.Luma:
		return ""
	case s.Step:
		return "byte.step"
	case !s.affine():
		return ""
	}
	return "byte.affine"
}

// affine reports whether the stage is a scale and an offset that image/pointwise_byte can apply.
func (s Stage) affine() bool {
	return s.plain() && !s.Luma && !s.Step && 256*(math.Abs(s.Scale)+math.Abs(s.Offset)) <= mostLevel
}

// affinesKernel returns the kernel of image/pointwise_affine that can apply two to four affine stages, or "".
func affinesKernel(stages []Stage) string {
	switch {
	case len(stages) > 4 || slices.ContainsFunc(stages, func(s Stage) bool { return !s.affine() }):
		return ""
	case len(stages) == 2:
		return "affine.two"
	}
	return "affine.four"
}

// byteParams returns the parameters of a kernel of image/pointwise_byte. none says that there is
// no stage.
func byteParams(g pointwiseGrid, name string, s pointwiseStage, none bool) pointwiseByteParams {
	p := pointwiseByteParams{pointwiseGrid: g}
	switch {
	case name == "byte.invert" && !none:
		p.Invert = 0xffffff
	case name == "byte.step":
		p.Low, p.Either = stepBits(s.Threshold)
	case name == "byte.affine":
		p.Scale, p.Offset = s.Scale, s.Offset
	}
	return p
}

// affinesParams returns the parameters of image/pointwise_affine.
func affinesParams(g pointwiseGrid, stages []pointwiseStage) pointwiseAffineParams {
	all := [4]pointwiseStage{{Scale: 1, Offset: 0.5}, {Scale: 1, Offset: 0.5}, {Scale: 1, Offset: 0.5}, {Scale: 1, Offset: 0.5}}
	copy(all[:], stages)
	return pointwiseAffineParams{
		g, all[0].Scale, all[0].Offset, all[1].Scale, all[1].Offset, all[2].Scale, all[2].Offset, all[3].Scale, all[3].Offset,
	}
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
	for i, s := range stages {
		out[i] = encodeStage(d, s)
	}
	return out
}

// scaleOf returns the value that stands for 1, and what is added because the kernels round down.
func scaleOf(d tensor.DType) (full, half float64) {
	if d == tensor.U8 {
		return 255, 0.5
	}
	return 1, 0
}

// encodeStage converts a plain stage to the scale of the dtype.
func encodeStage(d tensor.DType, s Stage) (e pointwiseStage) {
	full, half := scaleOf(d)
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
	return e
}
