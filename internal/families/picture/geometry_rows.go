package picture

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// rowsParams is the push-constant block of copy_rows.comp.
type rowsParams struct {
	Columns, Rows, SrcBase, SrcPitch, DstBase, DstPitch, Last uint32
}

// copyRowsEnds is the kernel for the ends of rows.
const copyRowsEnds = "image/copy_rows.u8.ends"

// copyRowsTexels is TEXELS in shaders/image/copy_rows.comp, copyRowsLocal the size of its workgroups, and
// copyRowsLeast the least number of columns for which it is used.
const (
	copyRowsTexels = 4
	copyRowsLocal  = 256
	copyRowsLeast  = 64
)

// rowsKernels lists the kernels of image/copy_rows.
func rowsKernels() []spec.Kernel {
	return []spec.Kernel{
		{Name: kernelName("copy_rows", tensor.U8, "", true), Params: rowsParams{}},
		{Name: copyRowsEnds, Params: rowsParams{}},
	}
}

// byRows reports whether image/copy_rows makes a part of a result that comes from inside of the source.
func (m Remap) byRows(t *spec.Target, r rect) bool {
	return m.XX == 1 && m.XY == 0 && m.YX == 0 && r.right-r.left >= copyRowsLeast && texelFits(t, copyRowsLocal)
}

// addRows appends the copy of part r of a result, whose windows fit. It comes from part need of the source.
func (m Remap) addRows(plan *spec.Plan, t *spec.Target, from, to plane, r, need rect) error {
	src, dst := from.layout, to.layout
	s, d := rectWindow(t, from.ref, src, need, from.row, 1), rectWindow(t, to.ref, dst, r, to.row, 1)
	s.bind.Size = (s.bind.Size + 15) &^ 15
	d.bind.Size = (d.bind.Size + 15) &^ 15
	return spans(r.right-r.left, int(t.MaxGroups[0])*copyRowsTexels*copyRowsLocal*4, func(a, b int) error {
		p := rowsParams{
			Columns: uint32(b - a), Rows: uint32(r.bottom - r.top), SrcPitch: uint32(m.YY * src.pitch), DstPitch: uint32(dst.pitch),
			SrcBase: s.base + uint32(m.YY*r.top+m.Y0)*uint32(src.pitch) + uint32(r.left+a+m.X0),
			DstBase: d.base + uint32(r.top)*uint32(dst.pitch) + uint32(r.left+a), Last: uint32(s.bind.Size/16) - 1,
		}
		bind := []spec.Bind{s.bind, d.bind}
		plan.Steps = append(plan.Steps, spec.Step{
			Module: kernel("copy_rows", tensor.U8, "", true), Params: p, Bind: bind,
			Groups: [3]uint32{groups(b-a, 4*copyRowsTexels*copyRowsLocal), p.Rows, 1},
		})
		if p.DstBase%4 == 0 && (p.DstPitch%4 == 0 || p.Rows == 1) && p.Columns%4 == 0 {
			return nil // Rows are whole texels.
		}
		return spans(int(p.Rows), int(t.MaxGroups[0])*64, func(top, bottom int) error {
			q := p
			q.Rows = uint32(bottom - top)
			q.SrcBase, q.DstBase = p.SrcBase+uint32(top)*p.SrcPitch, p.DstBase+uint32(top)*p.DstPitch
			plan.Steps = append(plan.Steps, spec.Step{
				Module: spirv.Kernel(copyRowsEnds), Params: q, Bind: bind, Groups: [3]uint32{groups(bottom-top, 64), 1, 1},
			})
			return nil
		})
	})
}
