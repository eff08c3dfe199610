package picture

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// pixelateParams is the push-constant block of pixelate.comp.
type pixelateParams struct {
	Columns  uint32
	Column   uint32
	Row      uint32
	SrcBase  uint32
	SrcPitch uint32
	DstBase  uint32
	DstPitch uint32
	Channels uint32
	Size     uint32
	Offset   uint32
	Low      uint32
	High     uint32
	Width    uint32
	Add      uint32
}

// PixelateKernels lists the kernels that PlanPixelate launches.
func PixelateKernels() []spec.Kernel {
	var list []spec.Kernel
	for _, d := range dtypes {
		for _, phase := range []string{".columns", ".squares", ".fill"} {
			list = append(list, spec.Kernel{Name: kernelName("pixelate", d, phase, false), Params: pixelateParams{}})
		}
	}
	return list
}

// PixelateRows returns the rows of whole squares that have some of the rows.
func PixelateRows(size int, out spec.RowRange) spec.RowRange {
	return spec.RowRange{From: out.From / size * size, To: (out.To + size - 1) / size * size}
}

// pixelatePlan makes the steps of a plan.
type pixelatePlan struct {
	spec.Plan
	t            *spec.Target
	src, dst     layout
	size, offset int
	room         int64
}

// sumBytes is the most that sums may take, so that a CPU keeps them in its cache.
const sumBytes = 4 << 20

// PlanPixelate plans means of squares of a picture whose first row is row first of a whole one.
// Errors: ErrStrides, *LimitError.
func PlanPixelate(t *spec.Target, in, out tensor.Desc, size, first int) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	p := &pixelatePlan{t: t, src: src, dst: dst, size: size, offset: first % size, room: room(t, false)}
	if src.w == 0 || src.h == 0 {
		return &p.Plan, nil
	}
	p.Scratch = make([]int64, 2)
	const px = wideBytes
	// As many squares side by side as their sums and a row of their pixels fit.
	most := min(p.room, sumBytes)
	across := int(min(most/int64(size)/max(px, src.pixelBytes(), dst.pixelBytes()), int64(t.MaxGroups[0])*64/int64(size)))
	if across < 1 {
		return nil, &errs.LimitError{Name: "MaxBinding", Want: int64(size) * px, Have: most}
	}
	squares := planner.CeilDiv(src.h+p.offset, size)
	err = spans(src.w, min(across*size, src.w), func(left, right int) error {
		down := int(max(1, min(most/(int64(right-left)*px), int64(t.MaxGroups[1]))))
		return spans(squares, down, func(from, to int) error {
			p.tile(left, right, from, to)
			return nil
		})
	})
	for i, n := range p.Scratch {
		p.Scratch[i] = (n + planner.Pack - 1) &^ (planner.Pack - 1)
	}
	return &p.Plan, err
}

// tile appends rows [from, to) of squares, for columns [left, right) of the picture.
func (p *pixelatePlan) tile(left, right, from, to int) {
	width, height := right-left, to-from
	squares := planner.CeilDiv(width, p.size)
	p.Scratch[0] = max(p.Scratch[0], int64(width*height)*wideBytes)
	p.Scratch[1] = max(p.Scratch[1], int64(squares*height)*wideBytes)
	sums, means := spec.Bind{Buf: spec.Scratch(0)}, spec.Bind{Buf: spec.Scratch(1)}
	params := pixelateParams{Channels: uint32(p.src.c), Size: uint32(p.size), Offset: uint32(p.offset), High: uint32(p.src.h)}
	add := func(phase string, q pixelateParams, rows int, binds ...spec.Bind) {
		p.Steps = append(p.Steps, spec.Step{
			Module: kernel("pixelate", p.src.dtype, phase, false), Params: q, Bind: binds,
			Groups: [3]uint32{groups(int(q.Columns), 64), uint32(rows), 1},
		})
	}
	top, bottom := max(from*p.size-p.offset, 0), min(to*p.size-p.offset, p.src.h)
	// If the rows do not fit a binding, several launches add up the sums.
	rows := int(max(1, min((p.room-int64(width)*p.src.pixelBytes())/p.src.rowBytes()+1, int64(bottom-top))))
	_ = spans(bottom-top, rows, func(i, j int) error {
		s := rectWindow(p.t, spec.In(0), p.src, rect{left, right, top + i, top + j}, 0, 1)
		q := params
		q.Columns, q.Column, q.Row = uint32(width), uint32(left), uint32(from)
		q.SrcBase, q.SrcPitch, q.DstPitch = s.base, uint32(p.src.pitch), uint32(width)
		if q.Low, q.High = uint32(top+i), uint32(top+j); i > 0 {
			q.Add = 1
		}
		add(".columns", q, height, s.bind, sums)
		return nil
	})
	q := params
	q.Columns, q.Row, q.SrcPitch, q.DstPitch, q.Width = uint32(squares), uint32(from), uint32(width), uint32(squares), uint32(width)
	add(".squares", q, height, sums, means)
	rows = int(max(1, min((p.room-int64(width)*p.dst.pixelBytes())/p.dst.rowBytes()+1, int64(p.t.MaxGroups[1]))))
	_ = spans(bottom-top, rows, func(i, j int) error {
		d := rectWindow(p.t, spec.Out(0), p.dst, rect{left, right, top + i, top + j}, 0, 1)
		q := params
		q.Columns, q.Column, q.Row = uint32(width), uint32(left), uint32(top+i)
		q.SrcBase, q.SrcPitch = -uint32(from*squares+left/p.size), uint32(squares)
		q.DstBase, q.DstPitch = d.base, uint32(p.dst.pitch)
		add(".fill", q, j-i, means, d.bind)
		return nil
	})
}

// PixelateReference computes the means in float64.
func PixelateReference(size int, in, out *tensor.Host) {
	for top := 0; top < in.Shape[0]; top += size {
		for left := 0; left < in.Shape[1]; left += size {
			pixelateSquare(in, out, top, left, min(top+size, in.Shape[0]), min(left+size, in.Shape[1]))
		}
	}
}

// pixelateSquare is PixelateReference for the pixels of one square.
func pixelateSquare(in, out *tensor.Host, top, left, bottom, right int) {
	channels, full := in.Shape[2], Full(in.DType)
	var sum [4]float64
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			a := 1.0
			if channels == 4 {
				a = Clamp01(in.At(y, x, 3) / full)
			}
			for c := range min(channels, 3) {
				sum[c] += a * in.At(y, x, c) / full
			}
			sum[3] += a
		}
	}
	opacity := sum[3] / float64((bottom-top)*(right-left))
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			for c := range channels {
				switch {
				case c == 3:
					Store(out, opacity, y, x, c)
				case Hidden(in.DType, opacity):
					Store(out, 0, y, x, c)
				default:
					Store(out, Clamp01(sum[c]/sum[3]), y, x, c)
				}
			}
		}
	}
}
