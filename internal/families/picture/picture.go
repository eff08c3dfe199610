// Package picture declares the operations on pictures. Filters compute each pixel from
// the pixels around it. Pointwise operations compute each pixel from itself. A picture is
// a tensor [H,W,C]: F32 in 0..1 with C = 1, 3 or 4, or U8 with C = 4.
package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxFactor bounds numeric attributes. No useful value is that large, and no intermediate
// value overflows.
const MaxFactor = 1e6

// dtypes are the element types of pictures.
var dtypes = []tensor.DType{tensor.U8, tensor.F32}

// Filter describes an operation on one picture whose result is a picture of the same dtype
// and the same channels. Its attributes have type A.
type Filter[A spec.Call] struct {
	// Name, Doc, Source, Aliases, Forms, Internal, Defaults and Kernels are those of
	// spec.Definition.
	Name, Doc, Source string
	Aliases, Forms    []string
	Internal          bool
	Defaults          A
	Kernels           []spec.Kernel
	// InPlace says that the result may overwrite the source.
	InPlace bool
	// Check checks the attributes. Nil means that all are valid.
	// Errors: ErrInvalidArgument.
	Check func(a A) error
	// Size returns the height and width of the result for a source of h by w pixels. Nil
	// means that they are those of the source.
	// Errors: ErrInvalidArgument.
	Size func(a A, h, w int) (int, int, error)
	// Strips is that of spec.Definition.
	Strips *spec.StripsOf[A]
	// Plan, Strategies and SizeClass are those of spec.Definition.
	Plan       func(a A, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error)
	Strategies func(a A, t *spec.Target, in, out tensor.Desc) []string
	SizeClass  func(a A, in tensor.Desc) []int
	// Halo returns how many pixels in each direction a result depends on. Nil means 0.
	Halo func(a A) int
	// ForOpaque and ForGrey are those of spec.Definition.
	ForOpaque, ForGrey func(a A) A
	// Reference computes the result in float64.
	Reference func(a A, in, out *tensor.Host)
	// Tolerance is that of spec.Definition.
	Tolerance func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance
	// Flops returns the number of arithmetic operations for a pixel.
	Flops func(a A) int64
	// Calls are attributes to try, the defaults first. Invalid are attributes that must be
	// refused.
	Calls, Invalid []A
	// Bench is the call that benchmarks measure. Nil means the first of Calls.
	Bench spec.Call
	// MostPixels, if not nil, bounds the pixels of the cases of a call, such as those of an operation
	// that needs the whole picture in one binding. 0 means no bound.
	MostPixels func(a A) int
}

// input is the argument of operations on one picture.
var input = spec.Arg{Name: "in", Doc: "the image, f32 [H,W,C] in 0..1 with C = 1, 3 or 4, or u8 [H,W,4]", DTypes: dtypes, Strides: spec.Rows}

// Define declares an operation on pictures.
func Define[A spec.Call](f Filter[A]) *spec.Op {
	spirv.LinkImage()
	out := spec.Arg{Name: "out", Doc: "the result, of the same dtype and shape", Strides: spec.Rows}
	if f.Size != nil {
		out.Doc = "the result, of the same dtype and channels"
	}
	if f.InPlace {
		out.InPlace = []int{0}
	}
	d := spec.Definition[A]{
		Name: f.Name, Aliases: f.Aliases, Forms: f.Forms, Group: "image", Doc: f.Doc, Source: f.Source, Internal: f.Internal,
		In:       []spec.Arg{input},
		Out:      []spec.Arg{out},
		Traits:   spec.Traits{Class: spec.Filter},
		Defaults: f.Defaults, Kernels: f.Kernels,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			if f.Check != nil {
				if err := f.Check(a); err != nil {
					return nil, err
				}
			}
			// The shape of the result does not depend on the strides. An image whose strides
			// are not spec.Rows is valid: the executor packs it before it asks for a plan.
			p, err := layoutOf(tensor.Contiguous(in[0].DType, in[0].Shape...))
			if err != nil {
				return nil, err
			}
			if f.Size != nil {
				if p.h, p.w, err = f.Size(a, p.h, p.w); err != nil {
					return nil, err
				}
			}
			return []tensor.Desc{tensor.Contiguous(p.dtype, p.h, p.w, p.c)}, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			return f.Plan(a, t, in[0], out[0])
		},
		Halo: f.Halo, Strips: f.Strips, ForOpaque: f.ForOpaque, ForGrey: f.ForGrey,
		Reference: func(a A, in, out []*tensor.Host) { f.Reference(a, in[0], out[0]) },
		Tolerance: f.Tolerance,
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			h, w, c := in[0].Shape[0], in[0].Shape[1], max(1, in[0].Shape[2])
			pixels := int64(h) * int64(w)
			flops, all := f.Flops(a)*pixels, 2*pixels
			if f.Size != nil {
				if h, w, err := f.Size(a, h, w); err == nil {
					all = pixels + int64(h)*int64(w)
				}
			}
			return spec.Cost{Flops: flops, Bytes: all * int64(c) * int64(in[0].DType.Size())}
		},
		Cases: cases(f),
	}
	if f.Strategies != nil {
		d.Strategies = func(a A, t *spec.Target, in, out []tensor.Desc) []string {
			return f.Strategies(a, t, in[0], out[0])
		}
	}
	if f.SizeClass != nil {
		d.SizeClass = func(a A, in []tensor.Desc) []int { return f.SizeClass(a, in[0]) }
	}
	return spec.Define(d)
}

// cases returns the Cases of an operation on pictures. The benchmarks have pictures of
// 0.3, 2 and 24 megapixels.
func cases[A spec.Call](f Filter[A]) spec.CasesOf[A] {
	bench := f.Bench
	if bench == nil {
		bench = f.Calls[0]
	}
	return spec.CasesOf[A]{
		DTypes: dtypes,
		Calls:  f.Calls,
		Dims: []spec.Dim{
			{Name: "H", Tiles: []int{8}},
			{Name: "W", Tiles: []int{4, 256}},
			{Name: "C", Only: []int{4, 3, 1}},
		},
		Inputs: func(a A, d tensor.DType, dims []int) []tensor.Desc {
			if d == tensor.U8 && dims[2] != 4 {
				return nil
			}
			if f.MostPixels != nil {
				if most := f.MostPixels(a); most > 0 && dims[0]*dims[1] > most {
					return nil
				}
			}
			if f.Size != nil {
				h, w, err := f.Size(a, dims[0], dims[1])
				if err != nil {
					return nil // such as a crop that is larger than the picture
				}
				if h*w > 16*dims[0]*dims[1]+1<<16 {
					return nil // A long line that is turned would fill a square.
				}
			}
			return []tensor.Desc{tensor.Contiguous(d, dims...)}
		},
		Bench: func(d tensor.DType) []spec.BenchCase {
			var list []spec.BenchCase
			for _, s := range [][]int{{480, 640, 4}, {1080, 1920, 4}, {4000, 6000, 4}} {
				list = append(list, spec.BenchCase{Call: bench, In: []tensor.Desc{tensor.Contiguous(d, s...)}, Opaque: true})
			}
			return list
		},
		Low: 0, High: 1,
		Invalid: f.Invalid,
	}
}

// Finite checks that an attribute is a number within ±MaxFactor. NaN is not.
// Errors: ErrInvalidArgument.
func Finite(name string, v float64) error {
	if !(math.Abs(v) <= MaxFactor) { // The comparison is also false for NaN.
		return planner.Invalid("%s (got %v, want a number within ±%g)", name, v, MaxFactor)
	}
	return nil
}

// layout describes how a picture lies in memory.
type layout struct {
	dtype tensor.DType
	// h, w and c are the height and width in pixels, and the number of channels.
	h, w, c int
	// pitch is the distance from one row to the next, in pixels.
	pitch int
}

// pixelBytes returns the size of a pixel in bytes.
func (p layout) pixelBytes() int64 { return int64(p.c) * int64(p.dtype.Size()) }

// rowBytes returns the distance from one row to the next in bytes.
func (p layout) rowBytes() int64 { return int64(p.pitch) * p.pixelBytes() }

// contiguous reports whether rows follow each other without gaps.
func (p layout) contiguous() bool { return p.pitch == p.w || p.h <= 1 }

// layoutOf returns the layout of a picture.
// Errors: ErrInvalidArgument if the tensor is no picture, and ErrStrides.
func layoutOf(d tensor.Desc) (layout, error) {
	if err := d.Check(); err != nil {
		return layout{}, err
	}
	if len(d.Shape) != 3 {
		return layout{}, planner.Invalid("rank (got %v, want [H,W,C])", d)
	}
	p := layout{dtype: d.DType, h: d.Shape[0], w: d.Shape[1], c: d.Shape[2]}
	switch {
	case d.DType == tensor.U8 && p.c == 4, d.DType == tensor.F32 && (p.c == 1 || p.c == 3 || p.c == 4):
	default:
		return layout{}, planner.Invalid("image (got %v, want f32 with 1, 3 or 4 channels, or u8 with 4)", d)
	}
	if p.h > math.MaxInt32 || p.w > math.MaxInt32 {
		return layout{}, planner.Invalid("image %v has a side of more than 2³¹ pixels", d)
	}
	if !spec.Rows.Takes(d) {
		return layout{}, planner.Strides("%v (pixels must follow each other, and rows be whole pixels apart)", d.Strides)
	}
	if p.pitch = p.w; p.h > 1 {
		p.pitch = d.ElementStrides()[0] / p.c
	}
	return p, nil
}

// layouts returns the layouts of the source and of the result.
func layouts(in, out tensor.Desc) (src, dst layout, err error) {
	if src, err = layoutOf(in); err == nil {
		dst, err = layoutOf(out)
	}
	return src, dst, err
}

// EitherLevel is why a result of U8 may be one level off.
const EitherLevel = "a result near half a level may be rounded up or down"

// Level is the tolerance of operations that round to a level of U8. In F32, f32 is the
// absolute error, and why says where it comes from.
func Level(d tensor.DType, f32 float64, why string) spec.Tolerance {
	if d == tensor.U8 {
		return spec.Tolerance{Abs: 1, Why: EitherLevel}
	}
	return spec.Tolerance{Abs: f32, Why: why}
}
