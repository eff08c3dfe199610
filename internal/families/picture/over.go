package picture

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Over describes an operation that lays a picture over an image, as Composite says. Its attributes
// have type A.
type Over[A spec.Call] struct {
	// Name, Doc, Source, Aliases and Defaults are those of spec.Definition.
	Name, Doc, Source string
	Aliases           []string
	Defaults          A
	// Of returns what the attributes say.
	Of func(a A) Composite
	// Part returns the attributes with parts of the two pictures.
	Part func(a A, backdrop, source Part) A
	// Tolerance returns the tolerance for pictures of a dtype.
	Tolerance func(a A, d tensor.DType) spec.Tolerance
	// Calls are attributes to try, the defaults first. Invalid are attributes that must be
	// refused.
	Calls, Invalid []A
}

// DefineOver declares an operation that lays a picture over an image.
func DefineOver[A spec.Call](o Over[A]) *spec.Op {
	spirv.LinkImage()
	return spec.Define(spec.Definition[A]{
		Name: o.Name, Aliases: o.Aliases, Group: "image", Doc: o.Doc, Source: o.Source,
		In: []spec.Arg{
			{Name: "in", Doc: "the image, f32 [H,W,C] in 0..1 with C = 1, 3 or 4, or u8 [H,W,4]", DTypes: dtypes, Strides: spec.Rows},
			{Name: "image", Doc: "the picture, of the same dtype and any size above 0: f32 with 1, 3 or 4 channels, or u8 with 4; over an image of one channel, its luma", DTypes: dtypes, Strides: spec.Rows},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the dtype and shape of the image", Strides: spec.Rows, InPlace: []int{0}}},
		Traits:   spec.Traits{Class: spec.Filter},
		Defaults: o.Defaults, Kernels: CompositeKernels(),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			c := o.Of(a)
			if err := c.Check(); err != nil {
				return nil, err
			}
			if in[0].DType != in[1].DType {
				return nil, planner.Invalid("dtypes (got %v and %v, want the same for both)", in[0].DType, in[1].DType)
			}
			var pictures [2]layout
			for i, d := range in {
				var err error
				if pictures[i], err = layoutOf(tensor.Contiguous(d.DType, d.Shape...)); err != nil {
					return nil, err
				}
			}
			if err := c.CheckPlace(in[0], in[1]); err != nil {
				return nil, err
			}
			p := pictures[0]
			return []tensor.Desc{tensor.Contiguous(p.dtype, p.h, p.w, p.c)}, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			return PlanComposite(t, in[0], in[1], out[0], o.Of(a))
		},
		Strips: &spec.StripsOf[A]{
			Need: func(a A, in []tensor.Desc, i int, out spec.RowRange) spec.RowRange {
				if i == 0 || len(in) < 2 {
					return out
				}
				return o.Of(a).SourceRows(in[0], in[1], out)
			},
			Part: func(a A, in []tensor.Desc, have []spec.RowRange, out spec.RowRange) (A, spec.RowRange) {
				if len(in) < 2 || len(have) < 2 {
					return a, out
				}
				return o.Part(a, NewPart(in[0].Shape[0], have[0], out), NewPart(in[1].Shape[0], have[1], spec.RowRange{})), have[0]
			},
		},
		Reference: func(a A, in, out []*tensor.Host) { CompositeReference(o.Of(a), in[0], in[1], out[0]) },
		Tolerance: func(a A, d tensor.DType, _ []tensor.Desc) spec.Tolerance { return o.Tolerance(a, d) },
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			pixels := int64(in[0].Shape[0]) * int64(in[0].Shape[1])
			return spec.Cost{Flops: 30 * pixels, Bytes: 2*in[0].Bytes() + in[1].Bytes()}
		},
		Cases: spec.CasesOf[A]{
			DTypes: dtypes,
			Calls:  o.Calls,
			Dims: []spec.Dim{
				{Name: "H", Tiles: []int{8}},
				{Name: "W", Tiles: []int{64}},
				{Name: "C", Only: []int{4, 3, 1}},
				{Name: "h", Only: []int{19, 40}},
				{Name: "w", Only: []int{23, 1}},
				{Name: "c", Only: []int{4, 3, 1}},
			},
			Inputs: func(a A, d tensor.DType, dims []int) []tensor.Desc {
				if d == tensor.U8 && (dims[2] != 4 || dims[5] != 4) {
					return nil
				}
				in := []tensor.Desc{tensor.Contiguous(d, dims[:3]...), tensor.Contiguous(d, dims[3:]...)}
				if o.Of(a).CheckPlace(in[0], in[1]) != nil {
					return nil
				}
				return in
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var list []spec.BenchCase
				for _, s := range [][]int{{480, 640, 4}, {1080, 1920, 4}, {4000, 6000, 4}} {
					list = append(list, spec.BenchCase{Call: o.Calls[0], In: []tensor.Desc{tensor.Contiguous(d, s...), tensor.Contiguous(d, s...)}})
				}
				return list
			},
			Low: 0, High: 1,
			Invalid: o.Invalid,
		},
	})
}
