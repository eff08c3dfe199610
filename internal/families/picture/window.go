package picture

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// texelFits reports whether the texel variants can work on images: they need
// rows that begin on a texel.
func texelFits(t *spec.Target, local int, images ...layout) bool {
	if !t.CPU || !t.TexelBuffers || int(t.MaxInvocations) < local {
		return false
	}
	for _, p := range images {
		if p.dtype == tensor.U8 && p.pitch%4 != 0 && p.h > 1 || p.dtype == tensor.F32 && p.c != 4 {
			return false
		}
	}
	return true
}

// kernel is the module that kernelName names.
func kernel(op string, d tensor.DType, phase string, texel bool) *spv.Module {
	return spirv.Kernel(kernelName(op, d, phase, texel))
}

// kernelName names the kernel of group image for a dtype, for instance
// ("sharpen", u8, "", true) → "image/sharpen.u8.texel".
func kernelName(op string, d tensor.DType, phase string, texel bool) string {
	name := "image/" + op + "." + d.String() + phase
	if texel {
		name += ".texel"
	}
	return name
}

// packOf is how many pixels a pack has.
func packOf(d tensor.DType, texel bool) int {
	if d == tensor.U8 && texel {
		return 4
	}
	return 1
}

// window is a part of a buffer bound to a kernel: rows [top, bottom) of an image.
type window struct {
	bind spec.Bind
	// base is the index of row 0's first pack counted from the bound offset.
	// It is negative where the window begins below row 0; shaders compute
	// modulo 2³², so that base + row·pitch is right all the same.
	base uint32
}

// rowWindow binds rows [top, bottom) of p, which lies in ref.
func rowWindow(t *spec.Target, ref spec.Ref, p layout, top, bottom, pack int) window {
	start := int64(top) * p.rowBytes()
	end := int64(bottom-1)*p.rowBytes() + int64(p.w)*p.pixelBytes()
	offset := planner.WindowOffset(t, start, p.pixelBytes())
	return window{
		bind: spec.Bind{Buf: ref, Offset: offset, Size: end - offset},
		base: uint32(-offset / (p.pixelBytes() * int64(pack))),
	}
}

// bandRows is the most rows of p that a binding can hold beside halo rows above
// and below, at most most. It fails if not even one fits.
func bandRows(t *spec.Target, texel bool, p layout, halo, most int) (int, error) {
	room := room(t, texel)
	rows := room/p.rowBytes() - 2*int64(halo)
	if int64(p.h) <= room/p.rowBytes() {
		rows = int64(p.h) // it all fits: the halo is inside
	}
	if rows < 1 {
		return 0, &errs.LimitError{Name: "MaxBinding", Want: (1 + 2*int64(halo)) * p.rowBytes(), Have: room}
	}
	return int(min(rows, int64(most))), nil
}

// rowsFit reports whether a texel binding holds a row of the image with so many above
// and below: they may be smaller than those of the other kernels.
func rowsFit(t *spec.Target, halo int, p layout) bool {
	_, err := bandRows(t, true, p, halo, 1)
	return err == nil
}

// room is how many bytes of rows a window may span, whatever it is aligned to.
func room(t *spec.Target, texel bool) int64 {
	return planner.MaxSpan(t, texel) - 3*planner.WindowAlign(t)
}

// spans calls f for consecutive parts [from, to) of [0, n), each at most size.
func spans(n, size int, f func(from, to int) error) error {
	for from := 0; from < n; from += size {
		if err := f(from, min(from+size, n)); err != nil {
			return err
		}
	}
	return nil
}

func groups(n, per int) uint32 { return uint32(planner.CeilDiv(n, per)) }

// Filters weigh colours by alpha in kernels that run after those for opaque images,
// and do nothing unless these have set the first of a few flags: only the device
// knows whether an image is opaque.
const (
	flagBytes  = 16
	clearFlags = "image/clear_flags.u32"
)

// fewGroups is how many workgroups do the work of so many tiles, with so many steps
// of a loop each. That work is mostly none: even a group that finds nothing to do
// costs some microseconds on a CPU driver.
func fewGroups(t *spec.Target, tiles, steps int) uint32 {
	few := 4096
	if t.CPU {
		few = 64
	}
	if most := int(t.MaxIterations); most > 0 {
		few = max(few, int(groups(tiles, max(1, most/(steps+1)-1))))
	}
	return uint32(min(tiles, few, int(t.MaxGroups[0])))
}
