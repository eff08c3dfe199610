package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Trim says which pixels are a border.
type Trim struct {
	// Colour is the colour of the border in 0..1. Nil means that of a corner.
	Colour *[4]float64
	// Right and Bottom say which corner.
	Right, Bottom bool
	// Fuzz is how far a component may be from that of the border, in 0..1. Colours are
	// multiplied by alpha first.
	Fuzz float64
}

// trimParams is the push-constant block of trim.comp.
type trimParams struct {
	Left     uint32
	Columns  uint32
	Top      uint32
	Rows     uint32
	Base     uint32
	Pitch    uint32
	Channels uint32
	Corner   uint32
	Given    uint32
	Red      float32
	Green    float32
	Blue     float32
	Alpha    float32
	Most     float32
	Add      uint32
}

// trimBoundsParams is the push-constant block of trim_bounds.comp.
type trimBoundsParams struct {
	Regions uint32
	Width   uint32
	Height  uint32
}

const (
	trimBounds = "image/trim_bounds.i32"
	// trimGroups is the most workgroups that look for pixels. Each writes a region.
	trimGroups = 256
	// trimLast is what the loop over what the invocations of a workgroup have found counts.
	trimLast = 64
	// trimSlack is added to Fuzz, so that levels that differ by just so much are within it whatever
	// roundings do. It is less than a level of 16 bits.
	trimSlack = 1e-5
)

// TrimKernels lists the kernels of PlanTrim.
func TrimKernels() []spec.Kernel {
	list := []spec.Kernel{{Name: trimBounds, Params: trimBoundsParams{}}}
	for _, d := range dtypes {
		list = append(list, spec.Kernel{Name: kernelName("trim", d, "", false), Params: trimParams{}})
	}
	return list
}

// PlanTrim plans the search for the rectangle that has all pixels that are no border.
// Errors: ErrInvalidArgument, ErrStrides.
func PlanTrim(t *spec.Target, in tensor.Desc, m Trim) (*spec.Plan, error) {
	src, err := layoutOf(in)
	if err != nil {
		return nil, err
	}
	workgroups := max(1, min(trimGroups, int(t.MaxGroups[0]), src.h))
	plan := &spec.Plan{Scratch: []int64{int64(workgroups) * 16}}
	regions := spec.Bind{Buf: spec.Scratch(0)}
	white := Full(src.dtype) * Full(src.dtype)
	params := trimParams{Pitch: uint32(src.pitch), Channels: uint32(src.c), Most: float32((m.Fuzz + trimSlack) * white)}
	if c := m.Colour; c != nil {
		alpha := c[3]
		if src.c < 4 {
			alpha = 1
		}
		params.Given, params.Alpha = 1, float32(alpha*white)
		params.Red, params.Green, params.Blue = float32(c[0]*alpha*white), float32(c[1]*alpha*white), float32(c[2]*alpha*white)
	}
	long := func(w, h int) bool {
		count := loopCost(int(groups(h, workgroups)), loopCost(int(groups(w, 64)), 0)) + trimLast
		return checkIterations(t, count) != nil && w*h > 1
	}
	corner := rect{0, 1, 0, 1}
	if m.Right {
		corner.left, corner.right = src.w-1, src.w
	}
	if m.Bottom {
		corner.top, corner.bottom = src.h-1, src.h
	}
	var part func(r rect) error
	part = func(r rect) error {
		w, h := r.right-r.left, r.bottom-r.top
		if src.bytes(r) > room(t, false) || long(w, h) {
			return halves(r, h == 1, part)
		}
		s, first, q := rectWindow(t, spec.In(0), src, r, 0, 1), rectWindow(t, spec.In(0), src, corner, 0, 1), params
		q.Left, q.Columns, q.Top, q.Rows, q.Base = uint32(r.left), uint32(w), uint32(r.top), uint32(h), s.base
		q.Corner = first.base + uint32(corner.top)*uint32(src.pitch) + uint32(corner.left)
		q.Add = one(len(plan.Steps) > 0)
		plan.Steps = append(plan.Steps, spec.Step{
			Module: kernel("trim", src.dtype, "", false), Params: q, Bind: []spec.Bind{s.bind, regions, first.bind},
			Groups: [3]uint32{uint32(workgroups), 1, 1},
		})
		return nil
	}
	if src.w > 0 && src.h > 0 {
		if err := part(rect{0, src.w, 0, src.h}); err != nil {
			return nil, err
		}
	} else {
		workgroups = 0 // There are no regions.
	}
	plan.Steps = append(plan.Steps, spec.Step{
		Module: spirv.Kernel(trimBounds), Params: trimBoundsParams{Regions: uint32(workgroups), Width: uint32(src.w), Height: uint32(src.h)},
		Bind: []spec.Bind{regions, {Buf: spec.Out(0)}}, Groups: [3]uint32{1, 1, 1},
	})
	return plan, nil
}

// TrimReference searches in float64.
func TrimReference(m Trim, in *tensor.Host) [4]int {
	h, w, channels, full := in.Shape[0], in.Shape[1], in.Shape[2], Full(in.DType)
	at := func(y, x int) (v [4]float64) {
		v[3] = 1
		if channels == 4 {
			v[3] = in.At(y, x, 3) / full
		}
		for c := range min(channels, 3) {
			v[c] = in.At(y, x, c) / full * v[3]
		}
		for c := channels; c < 3; c++ {
			v[c] = v[0]
		}
		return v
	}
	if h == 0 || w == 0 {
		return [4]int{0, 0, w, h}
	}
	var border [4]float64
	switch {
	case m.Colour == nil:
		y, x := 0, 0
		if m.Bottom {
			y = h - 1
		}
		if m.Right {
			x = w - 1
		}
		border = at(y, x)
	case channels < 4:
		border = [4]float64{m.Colour[0], m.Colour[1], m.Colour[2], 1}
	default:
		a := m.Colour[3]
		border = [4]float64{m.Colour[0] * a, m.Colour[1] * a, m.Colour[2] * a, a}
	}
	left, top, right, bottom := w, h, 0, 0
	for y := range h {
		for x := range w {
			var most float64
			for c, v := range at(y, x) {
				most = max(most, math.Abs(v-border[c]))
			}
			if most > m.Fuzz+trimSlack {
				left, top, right, bottom = min(left, x), min(top, y), max(right, x+1), max(bottom, y+1)
			}
		}
	}
	if right == 0 {
		return [4]int{0, 0, w, h}
	}
	return [4]int{left, top, right - left, bottom - top}
}
