package picture

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// wordsParams is the push-constant block of remap_words.comp.
type wordsParams struct {
	Columns, Rows, SrcBase, ByColumn, ByRow, BySquare, DstBase, DstPitch, Turned, Mirrored uint32
}

// wordsRows is ROWS in shaders/image/remap_words.comp.
const wordsRows = 4

// wordsKernels lists the kernels of image/remap_words.
func wordsKernels() []spec.Kernel {
	return []spec.Kernel{
		{Name: kernelName("remap_words", tensor.U8, "", false), Params: wordsParams{}},
		{Name: kernelName("remap_words", tensor.U8, "", true), Params: wordsParams{}},
	}
}

// squares returns the part of r, from its upper left corner on, that consists of whole squares
// of pixels in the source and in the result. It is empty if there are none.
func (m Remap) squares(t *spec.Target, src, dst layout, r rect) rect {
	none := rect{r.left, r.left, r.top, r.top}
	if !texelFits(t, 64, src, dst) || src.w%4 != 0 || r.left%4 != 0 {
		return none
	}
	x := m.XX*r.left + m.XY*r.top + m.X0 // where the first pixel comes from
	if m.XX+m.XY < 0 {
		x -= 3
	}
	if x%4 != 0 {
		return none
	}
	if r.right -= (r.right - r.left) % 4; m.XY != 0 {
		r.bottom -= (r.bottom - r.top) % 4
	}
	if r.right == r.left || r.bottom == r.top {
		return none
	}
	return r
}

// words returns the parameters that copy part r. base is the index of the first pack of row 0 of
// the source, and to that of the result.
func (m Remap) words(src, dst layout, r rect, pack int, base, to uint32) wordsParams {
	pitch := src.pitch / pack
	sx, sy := m.XX*r.left+m.XY*r.top+m.X0, m.YX*r.left+m.YY*r.top+m.Y0
	p := wordsParams{
		Columns: uint32((r.right - r.left) / pack), Rows: uint32(r.bottom - r.top),
		ByColumn: uint32(m.XX + m.YX*pitch), ByRow: uint32(m.XY + m.YY*pitch),
		DstBase: to + uint32(r.top)*uint32(dst.pitch/pack) + uint32(r.left/pack), DstPitch: uint32(dst.pitch / pack),
	}
	if pack > 1 {
		if m.XX+m.XY < 0 {
			sx -= pack - 1
			p.Mirrored = 1
		}
		if p.BySquare = uint32(m.YY * wordsRows * pitch); m.XY != 0 {
			p.Turned = 1
			p.ByColumn, p.ByRow, p.BySquare = uint32(m.YX*pack*pitch), uint32(m.YX*pitch), uint32(m.XY)
		}
	}
	p.SrcBase = base + uint32(sy)*uint32(pitch) + uint32(sx/pack)
	return p
}
