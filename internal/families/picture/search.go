package picture

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Search describes an operation that finds a rectangle of a picture. Device.Apply crops the
// picture to it. Its attributes have type A.
type Search[A spec.Call] struct {
	// Name, Doc, Source, Aliases, Forms, Defaults and Kernels are those of spec.Definition.
	Name, Doc, Source string
	Aliases, Forms    []string
	Defaults          A
	Kernels           []spec.Kernel
	// Check checks the attributes that do not depend on the size of the picture.
	// Errors: ErrInvalidArgument.
	Check func(a A) error
	// Size returns the largest height and width of the rectangle in a picture of h by w pixels.
	// Errors: ErrInvalidArgument.
	Size func(a A, h, w int) (int, int, error)
	// Plan plans the search.
	Plan func(a A, t *spec.Target, in tensor.Desc) (*spec.Plan, error)
	// Reference returns the rectangle: its first column, its first row, its width and its height.
	Reference func(a A, in *tensor.Host) [4]int
	// Exact says why the result is exact, and Flops how many operations a pixel takes.
	Exact string
	Flops int64
	// Calls are attributes to try, the defaults first. Invalid are attributes that must be
	// refused.
	Calls, Invalid []A
}

// DefineSearch declares an operation that finds a rectangle of a picture.
func DefineSearch[A spec.Call](s Search[A]) *spec.Op {
	spirv.LinkImage()
	size := func(a A, in tensor.Desc) (int, int, error) {
		p, err := layoutOf(tensor.Contiguous(in.DType, in.Shape...))
		if err != nil {
			return 0, 0, err
		}
		return s.Size(a, p.h, p.w)
	}
	return spec.Define(spec.Definition[A]{
		Name: s.Name, Aliases: s.Aliases, Forms: s.Forms, Group: "image", Doc: s.Doc, Source: s.Source,
		In:       []spec.Arg{input},
		Out:      []spec.Arg{{Name: "bounds", Doc: "first column, first row, width and height; i32 [4]"}},
		Defaults: s.Defaults, Kernels: s.Kernels,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			if err := s.Check(a); err != nil {
				return nil, err
			}
			if _, _, err := size(a, in[0]); err != nil {
				return nil, err
			}
			if max(in[0].Shape[0], in[0].Shape[1]) > MaxSide {
				return nil, planner.Invalid("image %v (want sides of at most %d)", in[0], MaxSide)
			}
			return []tensor.Desc{tensor.Contiguous(tensor.I32, 4)}, nil
		},
		Plan: func(a A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) { return s.Plan(a, t, in[0]) },
		Crops: func(a A, in tensor.Desc) (int, int) {
			h, w, err := size(a, in)
			if err != nil {
				return 0, 0
			}
			return h, w
		},
		Reference: func(a A, in, out []*tensor.Host) {
			for i, v := range s.Reference(a, in[0]) {
				out[0].Set(float64(v), i)
			}
		},
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance { return spec.Tolerance{Why: s.Exact} },
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			return spec.Cost{Flops: s.Flops * int64(in[0].Shape[0]) * int64(in[0].Shape[1]), Bytes: in[0].Bytes()}
		},
		Cases: cases(Filter[A]{Size: s.Size, Calls: s.Calls, Invalid: s.Invalid}),
	})
}
