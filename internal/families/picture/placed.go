package picture

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// PlacedParams begins the parameters of kernels that make each pixel from itself and from where
// it lies.
type PlacedParams struct {
	Column   uint32
	Columns  uint32
	Row      uint32
	First    uint32
	SrcBase  uint32
	SrcPitch uint32
	DstBase  uint32
	DstPitch uint32
	Channels uint32
}

// Placed describes an operation that makes each pixel from itself and from where it lies, by the
// kernel that Name and Phases name. Alpha stays.
type Placed[A spec.Call] struct {
	Name, Doc, Source string
	Defaults          A
	// Phases are the variants of the kernel, and Phase returns that of a call. Nil means that
	// there is but one.
	Phases []string
	Phase  func(a A) string
	Check  func(a A) error
	// Params returns the parameters for a picture of h by w pixels. full is the value that stands
	// for 1.
	Params func(a A, p PlacedParams, h, w int, full float64) any
	// Part returns the part of a call, and WithPart a call with another part.
	Part     func(a A) Part
	WithPart func(a A, p Part) A
	// ForGrey is that of spec.Definition.
	ForGrey func(a A) A
	// Pixel computes the new colours of a pixel of a picture of h by w pixels. px has 1 or 3
	// components in 0..1.
	Pixel          func(a A, px []float64, h, w, y, x int)
	Tolerance      func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance
	Flops          int64
	Calls, Invalid []A
}

// DefinePlaced declares such an operation.
func DefinePlaced[A spec.Call](g Placed[A]) *spec.Op {
	if g.Phases == nil {
		g.Phases, g.Phase = []string{""}, func(A) string { return "" }
	}
	var kernels []spec.Kernel
	for _, d := range dtypes {
		for _, phase := range g.Phases {
			kernels = append(kernels, spec.Kernel{Name: kernelName(g.Name, d, phase, false), Params: g.Params(g.Defaults, PlacedParams{}, 1, 1, 1)})
		}
	}
	return Define(Filter[A]{
		Name: g.Name, Doc: g.Doc, Source: g.Source, Defaults: g.Defaults, Kernels: kernels, InPlace: true, Check: g.Check,
		Plan: func(a A, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			part, full := g.Part(a), Full(in.DType)
			h, w := part.Height(in.Shape[0]), in.Shape[1]
			plan := &spec.Plan{}
			return plan, addPlaced(plan, t, in, out, kernelName(g.Name, in.DType, g.Phase(a), false), part.From(), nil, func(p PlacedParams) any {
				return g.Params(a, p, h, w, full)
			})
		},
		Strips:    PlacedStrips(g.WithPart, func(_ A, _, _ int, out spec.RowRange) spec.RowRange { return out }),
		ForOpaque: func(a A) A { return a }, ForGrey: g.ForGrey,
		Reference: func(a A, in, out *tensor.Host) {
			y, x, h, w := 0, 0, in.Shape[0], in.Shape[1]
			EachPixel(in, out, func(px []float64) {
				if g.Pixel(a, px, h, w, y, x); x+1 < w {
					x++
				} else {
					x, y = 0, y+1
				}
			})
		},
		Tolerance: g.Tolerance,
		Flops:     func(A) int64 { return g.Flops },
		Calls:     g.Calls, Invalid: g.Invalid,
	})
}

// PlacedStrips returns the strips of an operation whose result has the size of its source, and
// depends on where in the whole picture a pixel lies. withPart returns a call with a part, of which
// only Height and From matter: the call makes all rows that it has. need returns the rows that rows
// out of the result depend on, for a picture of h by w pixels.
func PlacedStrips[A spec.Call](withPart func(a A, p Part) A, need func(a A, h, w int, out spec.RowRange) spec.RowRange) *spec.StripsOf[A] {
	return &spec.StripsOf[A]{
		Need: func(a A, in []tensor.Desc, _ int, out spec.RowRange) spec.RowRange {
			return need(a, in[0].Shape[0], in[0].Shape[1], out)
		},
		Part: func(a A, in []tensor.Desc, have []spec.RowRange, _ spec.RowRange) (A, spec.RowRange) {
			return withPart(a, NewPart(in[0].Shape[0], have[0], have[0])), have[0]
		},
	}
}

// addPlaced appends launches over a picture whose first row is row first of a whole one. more
// follows the source and the result among the bindings.
// Errors: ErrStrides, *LimitError.
func addPlaced(plan *spec.Plan, t *spec.Target, in, out tensor.Desc, name string, first int, more []spec.Bind, finish func(PlacedParams) any) error {
	src, dst, err := layouts(in, out)
	if err != nil || src.w == 0 || src.h == 0 {
		return err
	}
	module, room := spirv.Kernel(name), room(t, false)
	var part func(r rect) error
	part = func(r rect) error {
		if most := max(src.bytes(r), dst.bytes(r)); most > room || r.bottom-r.top > int(t.MaxGroups[1]) {
			if r.bottom-r.top == 1 && r.right-r.left == 1 {
				return &errs.LimitError{Name: "MaxBinding", Want: most, Have: room}
			}
			return halves(r, r.bottom-r.top == 1, part)
		}
		s, d := rectWindow(t, spec.In(0), src, r, 0, 1), rectWindow(t, spec.Out(0), dst, r, 0, 1)
		return spans(r.right-r.left, int(t.MaxGroups[0])*64, func(a, b int) error {
			plan.Steps = append(plan.Steps, spec.Step{
				Module: module, Bind: append([]spec.Bind{s.bind, d.bind}, more...), Groups: [3]uint32{groups(b-a, 64), uint32(r.bottom - r.top), 1},
				Params: finish(PlacedParams{
					Column: uint32(r.left + a), Columns: uint32(b - a), Row: uint32(r.top), First: uint32(first),
					SrcBase: s.base, SrcPitch: uint32(src.pitch), DstBase: d.base, DstPitch: uint32(dst.pitch), Channels: uint32(src.c),
				}),
			})
			return nil
		})
	}
	return part(rect{0, src.w, 0, src.h})
}
