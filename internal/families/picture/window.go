package picture

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// texelFits reports whether the texel kernels can work on the images. Their rows must
// begin at a texel.
func texelFits(t *spec.Target, local int, images ...layout) bool {
	if !t.CPU || t.HostVectors || !t.TexelBuffers || int(t.MaxInvocations) < local {
		return false
	}
	for _, p := range images {
		if p.dtype == tensor.U8 && p.pitch%4 != 0 && p.h > 1 || p.dtype == tensor.F32 && p.c != 4 {
			return false
		}
	}
	return true
}

// kernel returns the module of the kernel that kernelName names.
func kernel(op string, d tensor.DType, phase string, texel bool) *spv.Module {
	return spirv.Kernel(kernelName(op, d, phase, texel))
}

// kernelName returns the name of a kernel of group image. For instance, ("sharpen", u8,
// "", true) gives "image/sharpen.u8.texel".
func kernelName(op string, d tensor.DType, phase string, texel bool) string {
	name := "image/" + op + "." + d.String() + phase
	if texel {
		name += ".texel"
	}
	return name
}

// packOf returns the number of pixels in a pack.
func packOf(d tensor.DType, texel bool) int {
	if d == tensor.U8 && texel {
		return 4
	}
	return 1
}

// window is the range of a buffer that holds rows [top, bottom) of an image.
type window struct {
	bind spec.Bind
	// base is the index of the first pack of row 0, counted from the offset of the
	// binding. It is negative if the range begins after row 0. Shaders compute modulo 2³²,
	// so base + row·pitch is still right.
	base uint32
}

// rowWindow returns the window of rows [top, bottom) of image p, which is in buffer ref.
func rowWindow(t *spec.Target, ref spec.Ref, p layout, top, bottom, pack int) window {
	start := int64(top) * p.rowBytes()
	end := int64(bottom-1)*p.rowBytes() + int64(p.w)*p.pixelBytes()
	offset := planner.WindowOffset(t, start, p.pixelBytes())
	return window{
		bind: spec.Bind{Buf: ref, Offset: offset, Size: end - offset},
		base: uint32(-offset / (p.pixelBytes() * int64(pack))),
	}
}

// rect is columns [left, right) of rows [top, bottom).
type rect struct{ left, right, top, bottom int }

// bytes returns the number of bytes from the first to the last pixel of a part of an image.
func (p layout) bytes(r rect) int64 {
	return int64(r.bottom-r.top-1)*p.rowBytes() + int64(r.right-r.left)*p.pixelBytes()
}

// rectWindow returns the window of part r of an image whose buffer begins with row first. The
// base of the window is that of row 0 all the same. Packs have pack pixels.
func rectWindow(t *spec.Target, ref spec.Ref, p layout, r rect, first, pack int) window {
	start := int64(r.top-first)*p.rowBytes() + int64(r.left)*p.pixelBytes()
	offset := planner.WindowOffset(t, start, p.pixelBytes())
	return window{
		bind: spec.Bind{Buf: ref, Offset: offset, Size: start + p.bytes(r) - offset},
		base: uint32(-offset/(p.pixelBytes()*int64(pack))) - uint32(first)*uint32(p.pitch/pack),
	}
}

// bandRows returns the largest number of rows of p, up to most, that a binding can hold
// together with halo rows above and below.
// Errors: *LimitError if not even one row fits.
func bandRows(t *spec.Target, texel bool, p layout, halo, most int) (int, error) {
	room := room(t, texel)
	rows := room/p.rowBytes() - 2*int64(halo)
	if int64(p.h) <= room/p.rowBytes() {
		rows = int64(p.h) // All rows fit, and the halo is among them.
	}
	if rows < 1 {
		return 0, &errs.LimitError{Name: "MaxBinding", Want: (1 + 2*int64(halo)) * p.rowBytes(), Have: room}
	}
	return int(min(rows, int64(most))), nil
}

// rowsFit reports whether a texel binding holds a row of the image with halo rows above
// and below. Texel bindings may be smaller than others.
func rowsFit(t *spec.Target, halo int, p layout) bool {
	_, err := bandRows(t, true, p, halo, 1)
	return err == nil
}

// room returns the number of bytes that the rows of a window may span, wherever it is
// aligned.
func room(t *spec.Target, texel bool) int64 {
	return planner.MaxSpan(t, texel) - 3*planner.WindowAlign(t)
}

// sparse reports whether a source takes more than a binding, and more than half of that are gaps
// between its rows. Where results need many rows, a copy without the gaps saves most launches.
func (p layout) sparse(t *spec.Target) bool {
	return p.pitch > 2*p.w && int64(p.h)*p.rowBytes() > room(t, false)
}

// spans divides [0, n) into consecutive parts [from, to) of at most size, and calls f
// with each.
func spans(n, size int, f func(from, to int) error) error {
	for from := 0; from < n; from += size {
		if err := f(from, min(from+size, n)); err != nil {
			return err
		}
	}
	return nil
}

// groups returns the number of workgroups for n items if each handles per of them.
func groups(n, per int) uint32 { return uint32(planner.CeilDiv(n, per)) }

// Some filters weight colours by alpha. The kernels for that run after those for opaque
// images. They do nothing unless the first kernels have set the first of some flags,
// because only the device knows whether an image is opaque.
const (
	flagBytes  = 16
	clearFlags = "image/clear_flags.u32"
)

// emptyLoops is the most loops that a loop of our kernels has in it.
const emptyLoops = 4

// loopCost is what a loop of n iterations counts against MaxIterations if each of them has
// loops that count inner. The test that ends a loop counts as an iteration. A CPU driver then runs the rest
// of the iteration without effect, in which each loop counts once more.
func loopCost(n, inner int) int {
	if inner == 0 {
		return n + 1
	}
	return n*(1+inner) + 1 + emptyLoops
}

// checkIterations returns a *LimitError if an invocation may not run loops that count so much.
func checkIterations(t *spec.Target, count int) error {
	if most := int(t.MaxIterations); most > 0 && count > most {
		return &errs.LimitError{Name: "MaxIterations", Want: int64(count), Have: int64(most)}
	}
	return nil
}

// fewGroups returns how many workgroups handle tiles tiles, where each tile takes steps
// loop iterations as loopCost counts them. Often there is nothing to do, and even a group that finds nothing to
// do costs some microseconds on a CPU driver.
func fewGroups(t *spec.Target, tiles, steps int) uint32 {
	few := 4096
	if t.CPU {
		few = 64
	}
	if most := int(t.MaxIterations); most > 0 {
		few = max(few, int(groups(tiles, max(1, (most-1-emptyLoops)/(1+steps))))) // The most tiles with loopCost(tiles, steps) <= most.
	}
	return uint32(min(tiles, few, int(t.MaxGroups[0])))
}
