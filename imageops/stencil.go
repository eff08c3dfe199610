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
}

// planStencil runs the three by three kernel op over an image; finish adds the
// kernel's own parameters.
func planStencil(t *spec.Target, op string, in, out tensor.Desc, finish func(stencilParams) any) (*spec.Plan, error) {
	src, dst, err := pictures(op, in, out)
	if err != nil {
		return nil, err
	}
	plan := &spec.Plan{}
	if src.w == 0 || src.h == 0 {
		return plan, nil
	}
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
				plan.Steps = append(plan.Steps, spec.Step{
					Kernel: variant(op, src.dtype, "", texel),
					Params: finish(stencilParams{
						Width: uint32(src.w), Height: uint32(src.h),
						Column: uint32(left/pack + a), Columns: uint32(b - a),
						Row: uint32(top), Rows: uint32(bottom - top),
						SrcBase: s.base, SrcPitch: uint32(src.pitch / pack),
						DstBase: d.base, DstPitch: uint32(max(1, dst.pitch/pack)),
						Channels: uint32(src.c),
					}),
					Bind:   []spec.Bind{s.bind, d.bind},
					Groups: [3]uint32{groups(b-a, 64), groups(bottom-top, stencilRows), 1},
				})
				return nil
			})
		})
	}
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
			return nil, err
		}
	}
	return plan, part(whole, src.w, false)
}
