package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Table describes an operation that maps the colours of a picture by a table, as LUT says. Its
// attributes have type A.
type Table[A spec.Call] struct {
	// Name, Doc, Source, Aliases and Defaults are those of spec.Definition.
	Name, Doc, Source string
	Aliases           []string
	Defaults          A
	// Matrix says that a LUT may have a matrix.
	Matrix bool
	// Of checks the attributes, and returns what is in the table that d describes.
	// Errors: ErrInvalidArgument.
	Of func(a A, d tensor.Desc) (LUT, error)
	// Calls are attributes to try, the defaults first. Invalid are attributes that must be
	// refused.
	Calls, Invalid []A
}

// DefineTable declares such an operation.
func DefineTable[A spec.Call](o Table[A]) *spec.Op {
	spirv.LinkImage()
	sizes, table := []int{9, 2, 1}, tensor.Contiguous(tensor.F32, 33*33, 33, 4)
	name, doc := "table", "the table, f32 [n·n,n,4] or [1,n,4]"
	if o.Matrix {
		sizes, table = []int{1}, tensor.Contiguous(tensor.F32, 1, 4081, 4)
		name, doc = "profile", "the curves, f32 [1,n,4]"
	}
	return spec.Define(spec.Definition[A]{
		Name: o.Name, Aliases: o.Aliases, Group: "image", Doc: o.Doc, Source: o.Source,
		In: []spec.Arg{
			{Name: "in", Doc: "the image, f32 [H,W,C] in 0..1 with C = 1, 3 or 4, or u8 [H,W,4]", DTypes: dtypes, Strides: spec.Rows},
			{Name: name, Doc: doc, DTypes: dtypes},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the dtype and shape of the image", Strides: spec.Rows, InPlace: []int{0}}},
		Traits:   spec.Traits{Class: spec.Filter},
		Defaults: o.Defaults, Kernels: lutKernels(o.Matrix),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			if _, err := o.Of(a, in[1]); err != nil {
				return nil, err
			}
			p, err := layoutOf(tensor.Contiguous(in[0].DType, in[0].Shape...))
			if err != nil {
				return nil, err
			}
			return []tensor.Desc{tensor.Contiguous(p.dtype, p.h, p.w, p.c)}, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			l, err := o.Of(a, in[1])
			if err != nil {
				return nil, err
			}
			return PlanLUT(t, in[0], in[1], out[0], l)
		},
		Strips: &spec.StripsOf[A]{
			Need: func(_ A, in []tensor.Desc, i int, out spec.RowRange) spec.RowRange {
				if i == 0 || i >= len(in) || len(in[i].Shape) == 0 {
					return out
				}
				return spec.RowRange{To: in[i].Shape[0]}
			},
			Part: func(a A, _ []tensor.Desc, have []spec.RowRange, out spec.RowRange) (A, spec.RowRange) {
				if len(have) == 0 {
					return a, out
				}
				return a, have[0]
			},
		},
		ForOpaque: func(a A) A { return a },
		Reference: func(a A, in, out []*tensor.Host) {
			if l, err := o.Of(a, in[1].Desc); err == nil {
				LUTReference(l, in[0], in[1], out[0])
			}
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			steps := 1.0
			if len(in) > 1 {
				if l, err := o.Of(a, in[1]); err == nil {
					for c := range 3 {
						curve, cube := float64(l.Curve)/(l.CurveMax[c]-l.CurveMin[c]), float64(l.Size)/(l.CubeMax[c]-l.CubeMin[c])
						steps = max(steps, max(curve, 1)*max(cube, 1))
					}
					if m := l.Matrix; m != nil {
						most := 0.0
						for row := range 3 {
							most = max(most, math.Abs(m[3*row])+math.Abs(m[3*row+1])+math.Abs(m[3*row+2]))
						}
						steps *= 12.92 * most * float64(max(l.Encode, 1)) // The curve of sRGB is the steepest at 0.
						if l.Size > 0 {
							steps *= 2.4
						}
					}
				}
			}
			return Level(d, 1e-6+1e-6*steps, "places in f32, times the steepest change between colours")
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			pixels := int64(in[0].Shape[0]) * int64(in[0].Shape[1])
			return spec.Cost{Flops: 45 * pixels, Bytes: 2*in[0].Bytes() + in[1].Bytes()}
		},
		Cases: spec.CasesOf[A]{
			DTypes: dtypes,
			Calls:  o.Calls,
			Dims: []spec.Dim{
				{Name: "H", Tiles: []int{8}},
				{Name: "W", Tiles: []int{4, 64}},
				{Name: "C", Only: []int{4, 3, 1}},
				{Name: "size", Only: sizes}, // 1: a curve
			},
			Inputs: func(a A, d tensor.DType, dims []int) []tensor.Desc {
				if d == tensor.U8 && dims[2] != 4 {
					return nil
				}
				table := tensor.Contiguous(tensor.F32, dims[3]*dims[3], dims[3], 4)
				if dims[3] == 1 {
					table = tensor.Contiguous(tensor.F32, 1, 37, 4)
				}
				if l, _ := o.Of(a, table); l.Colours() != table.Elems()/4 {
					table = tensor.Contiguous(tensor.F32, 1, l.Colours(), 4)
				}
				return []tensor.Desc{tensor.Contiguous(d, dims[:3]...), table}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var list []spec.BenchCase
				for _, s := range [][]int{{480, 640, 4}, {1080, 1920, 4}, {4000, 6000, 4}} {
					list = append(list, spec.BenchCase{Call: o.Calls[0], In: []tensor.Desc{tensor.Contiguous(d, s...), table}, Opaque: true})
				}
				return list
			},
			Low: 0, High: 1,
			Invalid: o.Invalid,
		},
	})
}
