package picture

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// stencilRows is how many rows an invocation of a stencil kernel makes.
const stencilRows = 4

// StencilParams begins the parameters of the three by three kernels.
type StencilParams struct {
	Width    uint32
	Height   uint32
	Column   uint32
	Columns  uint32
	Row      uint32
	Rows     uint32
	SrcBase  uint32
	SrcPitch uint32
	DstBase  uint32
	DstPitch uint32
	Channels uint32
	Across   uint32
	Tiles    uint32
	Stride   uint32
}

// Stencil describes a filter that computes each pixel from the three by three pixels
// around it. Its kernels are those of shaders/image/NAME.comp, which includes
// lib/stencil.glsl: U8 and F32, each with and without texels.
type Stencil[A spec.Call] struct {
	Name, Doc, Source string
	Aliases           []string
	Defaults          A
	// Check checks the attributes. Nil means that all are valid.
	// Errors: ErrInvalidArgument.
	Check func(a A) error
	// Params returns the parameters of the kernels. p holds the parameters that all
	// stencils share. full is the value that stands for 1. Nil means that there are no
	// more.
	Params func(a A, p StencilParams, full float64) any
	// IgnoreAlpha reports whether a call filters colours without weighting them by alpha.
	// If it is set, the shader has variants "alpha" that weight them. Nil means that no
	// call weights them.
	IgnoreAlpha func(a A) bool
	// ForOpaque is that of spec.Definition. It returns the call that ignores alpha.
	ForOpaque func(a A) A
	// Halves lists kernels for pixels that are words, on devices with spec.Target.HostVectors.
	// Halved returns the one for a call, with phase ".alpha" the one that weights by alpha, or
	// "" for a kernel of NAME.comp.
	Halves []string
	Halved func(a A, phase string) string
	// Reference computes the result in float64.
	Reference func(a A, in, out *tensor.Host)
	// Tolerance is that of spec.Definition.
	Tolerance func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance
	// Flops is the number of arithmetic operations for a pixel.
	Flops int64
	// Calls are attributes to try, the defaults first. Invalid are attributes that must be
	// refused.
	Calls, Invalid []A
}

// DefineStencil declares a filter of three by three pixels.
func DefineStencil[A spec.Call](s Stencil[A]) *spec.Op {
	ignores := func(a A) bool { return s.IgnoreAlpha == nil || s.IgnoreAlpha(a) }
	params := func(a A, p StencilParams, full float64) any {
		if s.Params == nil {
			return p
		}
		return s.Params(a, p, full)
	}
	return Define(Filter[A]{
		Name: s.Name, Aliases: s.Aliases, Doc: s.Doc, Source: s.Source, Defaults: s.Defaults,
		Kernels: stencilKernels(s.Name, params(s.Defaults, StencilParams{}, 1), s.IgnoreAlpha != nil, s.Halves),
		Check:   s.Check,
		Plan: func(a A, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			name := func(phase string, texel bool) string {
				if t.HostVectors && in.DType == tensor.U8 && s.Halved != nil {
					if name := s.Halved(a, phase); name != "" {
						return name
					}
				}
				return kernelName(s.Name, in.DType, phase, texel)
			}
			return planStencil(t, name, in, out, ignores(a), func(p StencilParams) any { return params(a, p, Full(in.DType)) })
		},
		Halo:      func(A) int { return 1 },
		ForOpaque: s.ForOpaque,
		Reference: s.Reference, Tolerance: s.Tolerance,
		Flops: func(A) int64 { return s.Flops },
		Calls: s.Calls, Invalid: s.Invalid,
	})
}

// stencilKernels lists the kernels of a stencil. params is a value of the type of their
// parameters. weighs says that there are kernels that weight by alpha. halves are those of
// Stencil.Halves.
func stencilKernels(op string, params any, weighs bool, halves []string) []spec.Kernel {
	var list []spec.Kernel
	phases := []string{""}
	if weighs {
		phases = append(phases, ".alpha")
		list = append(list, spec.Kernel{Name: clearFlags})
	}
	for _, d := range dtypes {
		for _, phase := range phases {
			for _, texel := range []bool{false, true} {
				list = append(list, spec.Kernel{Name: kernelName(op, d, phase, texel), Params: params})
			}
		}
	}
	for _, name := range halves {
		list = append(list, spec.Kernel{Name: name, Params: params})
	}
	return list
}

// planStencil plans a stencil over an image by the kernels that name names. If alpha is not
// ignored, it then plans the kernels that weight by alpha, which do nothing if the image is
// opaque. finish adds the parameters of the operation.
func planStencil(t *spec.Target, name func(phase string, texel bool) string, in, out tensor.Desc, ignoreAlpha bool, finish func(StencilParams) any) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	plan := &spec.Plan{}
	if src.w == 0 || src.h == 0 {
		return plan, nil
	}
	plan.Scratch = []int64{flagBytes}
	flags := spec.Bind{Buf: spec.Scratch(0)}
	phase := ""
	// part appends columns [left, right), in pixels, with one kind of kernel.
	part := func(left, right int, texel bool) error {
		if left >= right {
			return nil
		}
		pack := packOf(src.dtype, texel)
		rows, err := bandRows(t, texel, src, 1, int(t.MaxGroups[1])*stencilRows)
		if err != nil {
			return err
		}
		if rows, err = bandRows(t, texel, dst, 0, rows); err != nil {
			return err
		}
		return spans(src.h, rows, func(top, bottom int) error {
			s := rowWindow(t, spec.In(0), src, max(top-1, 0), min(bottom+1, src.h), pack)
			d := rowWindow(t, spec.Out(0), dst, top, bottom, pack)
			return spans((right-left)/pack, int(t.MaxGroups[0])*64, func(a, b int) error {
				p := StencilParams{
					Width: uint32(src.w), Height: uint32(src.h),
					Column: uint32(left/pack + a), Columns: uint32(b - a),
					Row: uint32(top), Rows: uint32(bottom - top),
					SrcBase: s.base, SrcPitch: uint32(src.pitch / pack),
					DstBase: d.base, DstPitch: uint32(max(1, dst.pitch/pack)),
					Channels: uint32(src.c),
				}
				grid := [3]uint32{groups(b-a, 64), groups(bottom-top, stencilRows), 1}
				if phase != "" {
					p.Across, p.Tiles = grid[0], grid[0]*grid[1]
					p.Stride = fewGroups(t, int(p.Tiles), 1)
					grid = [3]uint32{p.Stride, 1, 1}
				}
				plan.Steps = append(plan.Steps, spec.Step{
					Module: spirv.Kernel(name(phase, texel)),
					Params: finish(p), Bind: []spec.Bind{s.bind, d.bind, flags}, Groups: grid,
				})
				return nil
			})
		})
	}
	all := func() error {
		whole := 0
		if texelFits(t, 64, src, dst) && rowsFit(t, 1, src) && rowsFit(t, 0, dst) {
			pack := packOf(src.dtype, true)
			whole = src.w / pack * pack
			if whole < src.w {
				// The last texel may end beyond the buffer, where it reads as zero. So the
				// kernel without texels handles the pack before it too.
				whole = max(0, whole-pack)
			}
			if err := part(0, whole, true); err != nil {
				return err
			}
		}
		return part(whole, src.w, false)
	}
	if src.c != 4 || ignoreAlpha {
		return plan, all()
	}
	plan.Steps = []spec.Step{{Module: spirv.Kernel(clearFlags), Bind: []spec.Bind{flags}, Groups: [3]uint32{1, 1, 1}}}
	if err := all(); err != nil {
		return nil, err
	}
	phase = ".alpha"
	return plan, all()
}
