package imageops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// stencilRows is how many rows an invocation of a stencil kernel makes.
const stencilRows = 4

// stencilParams begins the parameters of the three by three kernels.
type stencilParams struct {
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

// stencilKernels are the kernels of a three by three operation.
func stencilKernels(op string, params any) []spec.Kernel {
	var list []spec.Kernel
	for _, d := range []tensor.DType{tensor.U8, tensor.F32} {
		for _, phase := range []string{"", ".alpha"} {
			for _, texel := range []bool{false, true} {
				list = append(list, spec.Kernel{Name: variant(op, d, phase, texel), Params: params})
			}
		}
	}
	return list
}

// planStencil runs the three by three kernel op over an image, and where alpha is to
// weigh the variants for that, which do nothing if the image is opaque; finish adds
// the kernel's own parameters.
func planStencil(t *spec.Target, op string, in, out tensor.Desc, ignoreAlpha bool, finish func(stencilParams) any) (*spec.Plan, error) {
	src, dst, err := pictures(op, in, out)
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
	// part plans columns [left, right), in pixels, with one kind of kernel.
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
				p := stencilParams{
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
					Kernel: variant(op, src.dtype, phase, texel),
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
				// The last texel may end beyond the buffer, where it reads as
				// nothing; so its neighbour is left to the kernel without texels.
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
	plan.Steps = []spec.Step{{Kernel: clearFlags, Bind: []spec.Bind{flags}, Groups: [3]uint32{1, 1, 1}}}
	if err := all(); err != nil {
		return nil, err
	}
	phase = ".alpha"
	return plan, all()
}
