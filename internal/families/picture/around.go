package picture

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// aroundRows is how many rows an invocation of a kernel of shaders/lib/around.glsl makes, and
// aroundTaps is TAPS in those kernels.
const (
	aroundRows = 4
	aroundTaps = 4
)

// aroundMost is the number of pixels that the invocations of a launch look at, so that no driver
// takes it for a launch without an end.
const aroundMost = 1 << 35

// aroundKernels lists kernels of passes, and those that copy columns for them. params is a value
// of the type of their parameters.
func aroundKernels(ops, phases []string, params any) []spec.Kernel {
	var list []spec.Kernel
	for _, d := range dtypes {
		list = append(list, spec.Kernel{Name: kernelName("pointwise", d, "", false), Params: pointwiseParams{}})
		for _, op := range ops {
			for _, phase := range phases {
				list = append(list, spec.Kernel{Name: kernelName(op, d, phase, false), Params: params})
			}
		}
	}
	return list
}

// plane is a picture in a buffer, or a part of one whose first pixel is that in a row and a
// column of the picture.
type plane struct {
	ref spec.Ref
	layout
	row, column int
}

// region is a part of a picture.
type region struct{ top, bottom, left, right int }

// pass describes launches of one kernel, which computes an area of a picture from the pixels
// around each pixel. Outside of the picture the pixels of the edge are repeated.
type pass struct {
	kernel *spv.Module
	// height and width are those of the picture.
	height, width int
	// above is how many rows above and below a result depends on, and beside how many columns
	// to the left and right.
	above, beside int
	// rows and columns are the pixels that an invocation makes, and most bounds the pixels of a
	// launch. 0 means no bound.
	rows, columns int
	most          int64
	// texel says that the kernel reads texel buffers.
	texel bool
	// binds are those after the source and the result.
	binds []spec.Bind
	// steps, if not 0, says that few workgroups make all tiles, of so many loop iterations each.
	steps int
	// image, if not nil, is a picture whose rows of the result are bound before binds.
	image *plane
	// finish adds the parameters of the kernel. base is the index of the first pixel of row 0
	// of image.
	finish func(p StencilParams, base uint32) any
}

// aroundPlan is a plan that consists of passes.
type aroundPlan struct {
	t    *spec.Target
	plan *spec.Plan
	// stripe is the scratch buffer to which columns of the source are copied. It grows as
	// needed.
	stripe int
}

// newAroundPlan returns a plan with scratch buffers for flags and for columns of the source.
func newAroundPlan(t *spec.Target) *aroundPlan {
	return &aroundPlan{t: t, plan: &spec.Plan{Scratch: []int64{flagBytes, 0}}, stripe: 1}
}

// flags is the binding of the flags that say whether a picture is opaque.
func (a *aroundPlan) flags() spec.Bind { return spec.Bind{Buf: spec.Scratch(0)} }

// scratch grows a scratch buffer to a size.
func (a *aroundPlan) scratch(index int, bytes int64) spec.Ref {
	for len(a.plan.Scratch) <= index {
		a.plan.Scratch = append(a.plan.Scratch, 0)
	}
	a.plan.Scratch[index] = max(a.plan.Scratch[index], bytes)
	return spec.Scratch(index)
}

// add appends the launches of a pass that computes an area of dst from src. If the rows that one
// row of the result needs do not fit a binding, as many columns of them as fit are copied first.
// Errors: *LimitError, ErrStrides.
func (a *aroundPlan) add(p pass, src, dst plane, to region) error {
	tall, err := bandRows(a.t, p.texel, dst.layout, 0, int(min(int64(a.t.MaxGroups[1])*int64(p.rows), int64(p.height))))
	if err != nil {
		return err
	}
	if p.image != nil {
		if tall, err = bandRows(a.t, p.texel, p.image.layout, 0, tall); err != nil {
			return err
		}
	}
	if p.most > 0 {
		tall = int(min(int64(tall), max(p.most/int64(to.right-to.left), 1)))
	}
	room := room(a.t, p.texel)
	rows := min(room/src.rowBytes()-2*int64(p.above), int64(tall))
	if int64(src.h) <= room/src.rowBytes() {
		rows = int64(tall) // All rows fit, with those around.
	}
	if rows >= 1 {
		return spans(to.bottom-to.top, int(rows), func(i, j int) error {
			part := region{to.top + i, to.top + j, to.left, to.right}
			a.launch(p, src, dst, part)
			return nil
		})
	}
	if src.sparse(a.t) {
		return spec.ErrStrides
	}
	// A stripe has at least some columns more than those around a column. Where that leaves few rows, it has
	// as many as are around them, so that pixels are not copied anew for each row.
	around := int64(2 * p.above)
	fit := func(columns int) int64 { return room/(src.pixelBytes()*int64(min(columns, p.width))) - around }
	rows = max(fit(2*p.beside+64), min(around, fit(2*p.beside+1)), 1)
	rows = min(rows, int64(tall))
	wide := room/(src.pixelBytes()*(rows+2*int64(p.above))) - 2*int64(p.beside)
	if wide < 1 {
		return &errs.LimitError{Name: "MaxBinding", Want: (1 + 2*int64(p.above)) * int64(1+2*p.beside) * src.pixelBytes(), Have: room}
	}
	return spans(to.bottom-to.top, int(rows), func(i, j int) error {
		return spans(to.right-to.left, int(wide), func(k, l int) error {
			return a.addStripe(p, src, dst, region{to.top + i, to.top + j, to.left + k, to.left + l})
		})
	})
}

// addStripe copies what an area needs of the source, and appends the launches over the copy.
func (a *aroundPlan) addStripe(p pass, src, dst plane, to region) error {
	top, bottom := max(to.top-p.above, 0), min(to.bottom+p.above, p.height)
	left, right := max(to.left-p.beside, 0), min(to.right+p.beside, p.width)
	copied := plane{
		layout: layout{dtype: src.dtype, h: bottom - top, w: right - left, c: src.c, pitch: right - left},
		row:    top, column: left,
	}
	copied.ref = a.scratch(a.stripe, copied.rowBytes()*int64(copied.h))
	steps, err := copyColumns(a.t, src.layout, top-src.row, bottom-src.row, left-src.column, right-src.column, copied.ref, copied.layout)
	if err != nil {
		return err
	}
	for i := range steps {
		steps[i].Bind[0].Buf = src.ref
	}
	a.plan.Steps = append(a.plan.Steps, steps...)
	a.launch(p, copied, dst, to)
	return nil
}

// launch appends the launches for an area whose rows fit bindings.
func (a *aroundPlan) launch(p pass, src, dst plane, to region) {
	s := rowWindow(a.t, src.ref, src.layout, max(to.top-p.above, 0)-src.row, min(to.bottom+p.above, p.height)-src.row, 1)
	d := rowWindow(a.t, dst.ref, dst.layout, to.top-dst.row, to.bottom-dst.row, 1)
	binds, base := []spec.Bind{s.bind, d.bind}, uint32(0)
	if p.image != nil {
		image := rowWindow(a.t, p.image.ref, p.image.layout, to.top-p.image.row, to.bottom-p.image.row, 1)
		binds, base = append(binds, image.bind), image.base
	}
	binds = append(binds, p.binds...)
	_ = spans(to.right-to.left, int(a.t.MaxGroups[0])*64*p.columns, func(i, j int) error {
		q := StencilParams{
			Width: uint32(p.width), Height: uint32(p.height),
			Column: uint32(to.left + i), Columns: uint32(j - i),
			Row: uint32(to.top), Rows: uint32(to.bottom - to.top),
			SrcBase: s.base - uint32(src.row*src.pitch+src.column), SrcPitch: uint32(src.pitch),
			DstBase: d.base - uint32(dst.row*dst.pitch+dst.column), DstPitch: uint32(dst.pitch),
			Channels: uint32(src.c),
		}
		grid := [3]uint32{groups(j-i, 64*p.columns), groups(to.bottom-to.top, p.rows), 1}
		if p.steps > 0 {
			q.Across, q.Tiles = grid[0], grid[0]*grid[1]
			q.Stride = fewGroups(a.t, int(q.Tiles), p.steps)
			grid = [3]uint32{q.Stride, 1, 1}
		}
		a.plan.Steps = append(a.plan.Steps, spec.Step{
			Module: p.kernel, Params: p.finish(q, base), Groups: grid, Bind: binds,
		})
		return nil
	})
}

// around describes an operation by a kernel of shaders/lib/around.glsl.
type around struct {
	name string
	// phase follows the dtype in the names of the kernels.
	phase string
	// radius is how many pixels in each direction a result depends on.
	radius int
	// flags says that the kernel sets flags if a picture is not opaque, and weigh that a kernel
	// with ".alpha" then weights colours by alpha.
	flags, weigh bool
	// steps is the number of loop iterations of an invocation.
	steps int
	// most bounds the pixels of a launch.
	most   int64
	finish func(StencilParams) any
	// opaque, if not nil, appends other launches than those of the kernel without ".alpha".
	opaque func(a *aroundPlan, src, dst plane) error
}

// planAround plans an operation by a kernel of shaders/lib/around.glsl over a picture.
// Errors: ErrStrides, *LimitError.
func planAround(t *spec.Target, in, out tensor.Desc, op around) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	if src.w == 0 || src.h == 0 {
		return &spec.Plan{}, nil
	}
	if err := checkIterations(t, loopCost(1, op.steps)); err != nil {
		return nil, err
	}
	a := newAroundPlan(t)
	whole := region{0, src.h, 0, src.w}
	one := pass{
		kernel: kernel(op.name, src.dtype, op.phase, false), height: src.h, width: src.w,
		above: op.radius, beside: op.radius, rows: aroundRows, columns: 1, most: op.most,
		finish: func(p StencilParams, _ uint32) any { return op.finish(p) },
	}
	if op.flags {
		one.binds = []spec.Bind{a.flags()}
	}
	from, to := plane{ref: spec.In(0), layout: src}, plane{ref: spec.Out(0), layout: dst}
	opaque := func() error { return a.add(one, from, to, whole) }
	if op.opaque != nil {
		opaque = func() error { return op.opaque(a, from, to) }
	}
	if src.c != 4 || !op.weigh {
		return a.plan, opaque()
	}
	a.plan.Steps = append(a.plan.Steps, spec.Step{Module: spirv.Kernel(clearFlags), Bind: []spec.Bind{a.flags()}, Groups: [3]uint32{1, 1, 1}})
	if err := opaque(); err != nil {
		return nil, err
	}
	one.kernel, one.steps = kernel(op.name, src.dtype, op.phase+".alpha", false), max(op.steps, 1)
	return a.plan, a.add(one, from, to, whole)
}
