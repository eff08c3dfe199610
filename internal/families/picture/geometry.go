package picture

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Border says what is outside of a picture.
type Border uint32

// These are the borders. Their numbers are those of shaders/image/remap.comp.
const (
	BorderColour Border = iota // one colour
	BorderEdge                 // The pixels of the edge are repeated.
	BorderMirror               // The picture is mirrored. The pixels of the edge come twice.
	BorderTile                 // The picture is repeated.
)

// Remap says which pixel of the source each pixel of the result is. The source of pixel (x,y)
// is (XX·x + XY·y + X0, YX·x + YY·y + Y0).
type Remap struct {
	XX, XY, X0, YX, YY, Y0 int
	Border                 Border
	// Colour is the colour of the border, in 0..1.
	Colour [4]float64
}

// Geometry describes an operation that copies pixels to other places, as Remap says. Its
// attributes have type A.
type Geometry[A spec.Call] struct {
	// Name, Doc, Aliases, Forms and Defaults are those of spec.Definition.
	Name, Doc      string
	Aliases, Forms []string
	Defaults       A
	// Check checks the attributes that do not depend on the size of the source. Nil means that
	// all are valid.
	// Errors: ErrInvalidArgument.
	Check func(a A) error
	// Remap returns where pixels come from, and the size of the result, for a source of h by w
	// pixels.
	// Errors: ErrInvalidArgument.
	Remap func(a A, h, w int) (m Remap, height, width int, err error)
	// Part says which rows a call has. WithPart returns a copy of the call for other rows.
	Part     func(a A) Part
	WithPart func(a A, p Part) A
	// Transparent says that the result of an opaque picture may be transparent.
	Transparent bool
	// Reference computes the result. It shares no code with Remap.
	Reference func(a A, in, out *tensor.Host)
	// Calls are attributes to try, the defaults first. Invalid are attributes that must be
	// refused.
	Calls, Invalid []A
	// Bench is that of Filter.
	Bench spec.Call
}

// DefineGeometry declares an operation that copies pixels to other places.
func DefineGeometry[A spec.Call](g Geometry[A]) *spec.Op {
	filter := Filter[A]{
		Name: g.Name, Aliases: g.Aliases, Forms: g.Forms, Doc: g.Doc, Defaults: g.Defaults,
		Kernels: remapKernels(), Check: g.Check,
		Size: PartSize(g.Part, func(a A, h, w int) (int, int, error) {
			_, height, width, err := g.Remap(a, h, w)
			return height, width, err
		}),
		Plan: func(a A, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			p := g.Part(a)
			h := p.Height(in.Shape[0])
			m, height, _, err := g.Remap(a, h, in.Shape[1])
			if err != nil {
				return nil, err
			}
			return planRemap(t, in, out, m, h, p.From(), p.Rows(height))
		},
		Strips: PartStrips(g.WithPart, func(a A, h, w int, out spec.RowRange) spec.RowRange {
			m, _, width, err := g.Remap(a, h, w)
			if err != nil {
				return spec.RowRange{To: h}
			}
			return m.rowsOf(h, rect{0, width, out.From, out.To})
		}),
		Reference: g.Reference,
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "pixels are copied"}
		},
		Flops: func(A) int64 { return 0 },
		Calls: g.Calls, Invalid: g.Invalid, Bench: g.Bench,
	}
	if !g.Transparent {
		filter.ForOpaque = func(a A) A { return a }
	}
	return Define(filter)
}

// remapKernels lists the kernels of planRemap.
func remapKernels() []spec.Kernel {
	list := append(wordsKernels(), rowsKernels()...)
	for _, d := range dtypes {
		for _, phase := range []string{"", ".narrow", ".rows"} {
			list = append(list, spec.Kernel{Name: kernelName("remap", d, phase, false), Params: remapParams{}})
		}
	}
	return list
}

// remapParams is the push-constant block of remap.comp.
type remapParams struct {
	Column   uint32
	Columns  uint32
	Row      uint32
	SrcBase  uint32
	SrcPitch uint32
	DstBase  uint32
	DstPitch uint32
	Channels uint32
	Width    int32
	Height   int32
	Xx       int32
	Xy       int32
	X0       int32
	Yx       int32
	Yy       int32
	Y0       int32
	Border   uint32
	Red      float32
	Green    float32
	Blue     float32
	Alpha    float32
	Rows     uint32
}

// remapNarrow is the width and the height of the workgroups of the .narrow variants of remap.comp, and remapFew the
// most columns for which they are used.
const remapNarrow, remapFew = 8, 32

// rowsOf returns the rows of a source of h rows that a part of the result, which is not empty,
// comes from. There is always one row at least, also if only the border's colour is needed.
func (m Remap) rowsOf(h int, r rect) spec.RowRange { return m.sources(m.YX, m.YY, m.Y0, h, r) }

// columnsOf is rowsOf for the columns of a source of w columns.
func (m Remap) columnsOf(w int, r rect) spec.RowRange { return m.sources(m.XX, m.XY, m.X0, w, r) }

// sources returns the range in 0..n-1 of the coordinate byX·x + byY·y + c.
func (m Remap) sources(byX, byY, c, n int, r rect) spec.RowRange {
	if r.left >= r.right || r.top >= r.bottom || n == 0 {
		return spec.RowRange{}
	}
	low, high := c, c
	for _, span := range [][3]int{{byX, r.left, r.right - 1}, {byY, r.top, r.bottom - 1}} {
		low += min(span[0]*span[1], span[0]*span[2])
		high += max(span[0]*span[1], span[0]*span[2])
	}
	if m.Border < BorderMirror || low >= 0 && high < n {
		return spec.RowRange{From: min(max(low, 0), n-1), To: min(max(high, 0), n-1) + 1}
	}
	a, b, copies := m.within(low, n), m.within(high, n), floorDiv(high, n)-floorDiv(low, n)
	switch {
	case copies == 0:
		return spec.RowRange{From: min(a, b), To: max(a, b) + 1}
	case copies > 1 || m.Border == BorderTile:
		return spec.RowRange{To: n}
	case floorDiv(high, n)%2 == 0: // The range is around a mirrored first row.
		return spec.RowRange{To: max(a, b) + 1}
	}
	return spec.RowRange{From: min(a, b), To: n}
}

// within maps a row into 0..h-1 as the border says.
func (m Remap) within(y, h int) int {
	n := floorDiv(y, h)
	if y -= n * h; m.Border == BorderMirror && n%2 != 0 {
		return h - 1 - y
	}
	return y
}

// floorDiv is a/b rounded down. b is positive.
func floorDiv(a, b int) int {
	if q := a / b; a%b >= 0 {
		return q
	}
	return a/b - 1
}

// planRemap plans rows of the result. in has the rows from row first on of a source of h rows.
// Errors: ErrStrides, *LimitError.
func planRemap(t *spec.Target, in, out tensor.Desc, m Remap, h, first int, made spec.RowRange) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	plan := &spec.Plan{}
	from, to := plane{ref: spec.In(0), layout: src, row: first}, plane{ref: spec.Out(0), layout: dst, row: made.From}
	return plan, addRemap(plan, t, from, to, m, h, rect{0, dst.w, made.From, made.To})
}

// addRemap appends the steps that make a part of a result. The source has h rows in all, and those
// of its plane.
// Errors: *LimitError.
func addRemap(plan *spec.Plan, t *spec.Target, from, to plane, m Remap, h int, all rect) error {
	src, dst := from.layout, to.layout
	if all.left >= all.right || all.top >= all.bottom {
		return nil
	}
	if inner := m.interior(h, src.w, all); inner != all && inner.left < inner.right && inner.top < inner.bottom {
		// The rows above, those below, and what is left and right between them.
		for _, r := range []rect{
			{all.left, all.right, all.top, inner.top}, {all.left, inner.left, inner.top, inner.bottom}, inner,
			{inner.right, all.right, inner.top, inner.bottom}, {all.left, all.right, inner.bottom, all.bottom},
		} {
			if err := addRemap(plan, t, from, to, m, h, r); err != nil {
				return err
			}
		}
		return nil
	}
	inside := m.inside(h, src.w, all)
	name, words := kernelName("remap", src.dtype, "", false), false
	switch {
	case inside && m.XX == 1 && m.XY == 0 && m.YX == 0 && (t.HostVectors || src.dtype != tensor.U8):
		name = kernelName("remap", src.dtype, ".rows", false)
	case inside && src.dtype == tensor.U8:
		words = true
	}
	full := Full(src.dtype)
	// copies appends the copies of a part of the result whose windows fit. Packs have pack pixels.
	copies := func(r, need rect, pack int) error {
		s := rectWindow(t, from.ref, src, need, from.row, pack)
		d := rectWindow(t, to.ref, dst, r, to.row, pack)
		return spans((r.right-r.left)/pack, int(t.MaxGroups[0])*64, func(a, b int) error {
			step := spec.Step{Module: spirv.Kernel(name), Bind: []spec.Bind{s.bind, d.bind}}
			if words {
				step.Module = kernel("remap_words", src.dtype, "", pack > 1)
				step.Params = m.words(src, dst, rect{r.left + a*pack, r.left + b*pack, r.top, r.bottom}, pack, s.base, d.base)
				step.Groups = [3]uint32{groups(b-a, 64), groups(r.bottom-r.top, wordsRows), 1}
			} else {
				step.Params = remapParams{
					Column: uint32(r.left + a), Columns: uint32(b - a), Row: uint32(r.top),
					SrcBase: s.base, SrcPitch: uint32(src.pitch), DstBase: d.base, DstPitch: uint32(dst.pitch),
					Channels: uint32(src.c), Width: int32(src.w), Height: int32(h),
					Xx: int32(m.XX), Xy: int32(m.XY), X0: int32(m.X0), Yx: int32(m.YX), Yy: int32(m.YY), Y0: int32(m.Y0),
					Border: uint32(m.Border),
					Red:    float32(m.Colour[0] * full), Green: float32(m.Colour[1] * full),
					Blue: float32(m.Colour[2] * full), Alpha: float32(m.Colour[3] * full), Rows: uint32(r.bottom - r.top),
				}
				step.Groups = [3]uint32{groups(b-a, 64), uint32(r.bottom - r.top), 1}
				if name == kernelName("remap", src.dtype, "", false) && r.right-r.left <= remapFew && r.bottom-r.top >= remapNarrow {
					step.Module = kernel("remap", src.dtype, ".narrow", false)
					step.Groups = [3]uint32{groups(b-a, remapNarrow), groups(r.bottom-r.top, remapNarrow), 1}
				}
			}
			plan.Steps = append(plan.Steps, step)
			return nil
		})
	}
	// part appends a part of the result, or divides it until its windows fit.
	var part func(r rect) error
	part = func(r rect) error {
		if r.left == r.right || r.top == r.bottom {
			return nil
		}
		whole, rows := rect{r.left, r.left, r.top, r.top}, words && m.byRows(t, r)
		if words && !rows {
			whole = m.squares(t, src, dst, r)
		}
		texel := whole == r || rows
		if dst.bytes(r) > room(t, texel) || r.bottom-r.top > int(t.MaxGroups[1]) {
			return halves(r, r.bottom-r.top == 1, part)
		}
		lines, columns := m.rowsOf(h, r), m.columnsOf(src.w, r)
		need := rect{columns.From, columns.To, lines.From, lines.To}
		if src.bytes(need) > room(t, texel) && (lines.To-lines.From > 1 || columns.To-columns.From > 1) {
			return halves(r, lines.To-lines.From > 1 && m.YX != 0 || lines.To-lines.From <= 1 && m.XX != 0, part)
		}
		if rows {
			return m.addRows(plan, t, from, to, r, need)
		}
		if texel {
			return copies(r, need, 4)
		}
		if whole.left == whole.right {
			return copies(r, need, 1)
		}
		// The squares, what is to the right of them, and what is below.
		for _, r := range []rect{whole, {whole.right, r.right, r.top, whole.bottom}, {r.left, r.right, whole.bottom, r.bottom}} {
			if err := part(r); err != nil {
				return err
			}
		}
		return nil
	}
	return part(all)
}

// interior returns the pixels of a part of the result that come from inside of a source of h by w
// pixels, if the source is only moved, and else all of the part. They need no test of a border.
func (m Remap) interior(h, w int, all rect) rect {
	if m.XX != 1 || m.XY != 0 || m.YX != 0 || m.YY != 1 || m.inside(h, w, all) {
		return all
	}
	return rect{max(all.left, -m.X0), min(all.right, w-m.X0), max(all.top, -m.Y0), min(all.bottom, h-m.Y0)}
}

// inside reports whether no pixel of a part of the result is outside of a source of h by w
// pixels.
func (m Remap) inside(h, w int, r rect) bool {
	for _, y := range []int{r.top, r.bottom - 1} {
		for _, x := range []int{r.left, r.right - 1} {
			sx, sy := m.XX*x+m.XY*y+m.X0, m.YX*x+m.YY*y+m.Y0
			if sx < 0 || sy < 0 || sx >= w || sy >= h {
				return false
			}
		}
	}
	return true
}

// halves calls f with both halves of a part of the result: with the upper and the lower, or
// the left and the right one.
func halves(r rect, columns bool, f func(rect) error) error {
	a, b := r, r
	if columns {
		a.right = (r.left + r.right) / 2
		b.left = a.right
	} else {
		a.bottom = (r.top + r.bottom) / 2
		b.top = a.bottom
	}
	if err := f(a); err != nil {
		return err
	}
	return f(b)
}
