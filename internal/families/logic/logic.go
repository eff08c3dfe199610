// Package logic declares the operations on the bits of elements: comparisons, logic, shifts, and the
// choice between two tensors. Their kernels know how large an element is, and get the rest as
// numbers. So one kernel serves all element types of one size, and no device lacks one.
package logic

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Repeats reports whether an earlier one of planner.Integers has the size of d. Then both have the same kernels
// and plans, so that sizes and ways of broadcasting need not all be tried with both.
func Repeats(d tensor.DType) bool {
	first := slices.IndexFunc(planner.Integers, func(e tensor.DType) bool { return e.Size() == d.Size() })
	return slices.Index(planner.Integers, d) > first
}

// Function describes a function of the bits of one element, or of two elements that are broadcast
// together, with attributes of type A.
type Function[A spec.Call] struct {
	// Name, Doc, Source and Aliases are those of spec.Definition.
	Name, Doc, Source string
	Aliases           []string
	// ONNX lists the ONNX operators that do the same.
	ONNX []string
	// Shader is the name of the kernels without the size of elements, "group/name".
	Shader string
	// Operands is the number of inputs, 1 or 2. Twice says that the only one is both inputs of the
	// kernel.
	Operands int
	Twice    bool
	// DTypes are the dtypes of the inputs.
	DTypes []tensor.DType
	// Result is the dtype of the result. Invalid means that of the inputs.
	Result tensor.DType
	// Words returns the numbers of a call for the kernel.
	Words func(a A, d tensor.DType) [3]uint32
	// F is the function in float64, for inputs of dtype d.
	F func(a A, d tensor.DType, x, y float64) float64
	// Check returns an error for a call that makes no sense, or that cannot have inputs of dtype d.
	// Nil means that there is none.
	Check func(a A, d tensor.DType) error
	// Defaults are the default attributes.
	Defaults A
	// Calls are the calls to try beside Defaults, and Invalid are those to refuse.
	Calls, Invalid []A
	// Refused are further inputs of the default call to refuse.
	Refused [][]tensor.Desc
	// Low and High bound the random inputs that are tried.
	Low, High float64
	// Range bounds those of input i of dtype d instead, if it is set.
	Range func(a A, i int, d tensor.DType) (low, high float64)
	// Flops is the number of operations for an element. 0 means 1.
	Flops int64
}

// Define declares a function.
func Define[A spec.Call](f Function[A]) *spec.Op {
	spirv.LinkLogic()
	in := []spec.Arg{{Name: "in", Doc: "a tensor of any shape", DTypes: f.DTypes}}
	out := spec.Arg{Name: "out", Doc: "the result, of the same shape"}
	if f.Operands == 2 {
		in[0].Strides = spec.AnyStrides
		in = append(in, spec.Arg{Name: "b", Doc: "a tensor of the same dtype whose shape can be broadcast together with that of in", DTypes: f.DTypes, Strides: spec.AnyStrides})
		out.Doc = "the result, of the shape to which both are broadcast"
	}
	if f.Result == tensor.Invalid || slices.Equal(f.DTypes, []tensor.DType{f.Result}) {
		for i := range in {
			out.InPlace = append(out.InPlace, i)
		}
	}
	d := spec.Definition[A]{
		Name: f.Name, Aliases: f.Aliases, Group: "logic", Doc: f.Doc, Source: f.Source,
		In: in, Out: []spec.Arg{out},
		Traits:   spec.Traits{Class: spec.Elementwise, ONNX: f.ONNX},
		Defaults: f.Defaults,
		Kernels:  f.kernels(),
		Shape:    f.shape,
		Plan:     f.plan,
		Part: func(a A, _ *spec.Target, in []tensor.DType) spec.Part {
			if in[0] != in[len(in)-1] {
				return spec.Part{}
			}
			p := partOf(f.Shader, in[0])
			if p.Twice = f.Twice; f.Words != nil {
				p.Words = f.Words(a, in[0])
			}
			return p
		},
		Scalar: func(a A, x []float64) float64 {
			return f.F(a, f.DTypes[0], x[0], x[len(x)-1])
		},
		Reference: f.reference,
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "the results are exact"}
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			out := f.result(in)
			bytes := out.Bytes()
			for _, d := range in {
				bytes += d.Bytes()
			}
			return spec.Cost{Flops: int64(out.Elems()) * max(f.Flops, 1), Bytes: bytes}
		},
		Cases: f.cases(),
	}
	return spec.Define(d)
}

func (f Function[A]) kernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range f.DTypes {
		name := f.Shader + sizeName(d)
		if slices.ContainsFunc(ks, func(k spec.Kernel) bool { return k.Name == name }) {
			continue
		}
		ks = append(ks, spec.Kernel{Name: name, Params: flatParams{}})
		if f.Operands == 2 {
			ks = append(ks, spec.Kernel{Name: name + ".strided", Params: stridedParams{}})
		}
	}
	return ks
}

// result describes the output for inputs that can be broadcast together.
func (f Function[A]) result(in []tensor.Desc) tensor.Desc {
	d, shape := f.Result, in[0].Shape
	if d == tensor.Invalid {
		d = in[0].DType
	}
	if len(in) == 2 {
		shape, _ = planner.BroadcastShape(in[0].Shape, in[1].Shape)
	}
	return tensor.Contiguous(d, shape...)
}

func (f Function[A]) shape(a A, in []tensor.Desc) ([]tensor.Desc, error) {
	if f.Check != nil {
		if err := f.Check(a, in[0].DType); err != nil {
			return nil, err
		}
	}
	if len(in) == 2 {
		if in[0].DType != in[1].DType {
			return nil, planner.Invalid("b (got %v, want the dtype of in, %v)", in[1], in[0])
		}
		if _, ok := planner.BroadcastShape(in[0].Shape, in[1].Shape); !ok {
			return nil, planner.Invalid("shapes %v and %v cannot be broadcast together", in[0].Shape, in[1].Shape)
		}
	}
	return []tensor.Desc{f.result(in)}, nil
}

func (f Function[A]) plan(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
	refs := []spec.Ref{spec.In(0), spec.In(1)}
	switch {
	case f.Operands == 1 && f.Twice:
		in, refs = []tensor.Desc{in[0], in[0]}, []spec.Ref{spec.In(0), spec.In(0)}
	case f.Operands == 1:
		refs = refs[:1]
	}
	words := [3]uint32{}
	if f.Words != nil {
		words = f.Words(a, in[0].DType)
	}
	plan := &spec.Plan{}
	return plan, add(plan, t, f.Shader+sizeName(in[0].DType), words, in, out[0], append(refs, spec.Out(0)))
}

func (f Function[A]) reference(a A, in, out []*tensor.Host) {
	d := in[0].DType
	x := in[0].Floats()
	if len(in) == 1 {
		for i := range x {
			x[i] = f.F(a, d, x[i], x[i])
		}
		out[0].SetFloats(x)
		return
	}
	y, results := in[1].Floats(), make([]float64, 0, out[0].Elems())
	out[0].Each(func(index []int, _ int) {
		results = append(results, f.F(a, d, x[planner.BroadcastIndex(index, in[0].Shape)], y[planner.BroadcastIndex(index, in[1].Shape)]))
	})
	out[0].SetFloats(results)
}

func (f Function[A]) cases() spec.CasesOf[A] {
	c := spec.CasesOf[A]{
		DTypes: f.DTypes, Calls: append([]A{f.Defaults}, f.Calls...), Invalid: f.Invalid,
		Dims:   []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 256}}},
		Inputs: planner.SameInputs[A](1),
		Bench:  planner.BenchCases(f.Defaults, 1),
		Low:    f.Low, High: f.High, Specials: true,
		Refused: f.Refused,
	}
	if f.Range != nil {
		c.Range = func(a A, i int, in []tensor.Desc) (low, high float64) { return f.Range(a, i, in[i].DType) }
	}
	if f.Operands == 1 {
		return c
	}
	d := f.DTypes[0]
	c.Dims = append(c.Dims, spec.Dim{Name: "shapes", Only: []int{0, 1, 2, 3, 4, 5, 6, 7}})
	c.Sizes = [][]int{{700, 1024, 0}, {511, 1027, 1}, {511, 511, 2}}
	c.Inputs = func(_ A, d tensor.DType, dims []int) []tensor.Desc { return pairs(d, dims) }
	c.Bench = planner.AllBenchCases(planner.BenchCases(f.Defaults, 2), planner.BenchCasesOf(f.Defaults, func(d tensor.DType, rows, columns int) []tensor.Desc {
		return pairs(d, []int{rows, columns, 1})
	}))
	c.Refused = append(c.Refused, []tensor.Desc{tensor.Contiguous(d, 3, 4), tensor.Contiguous(d, 4, 3)},
		[]tensor.Desc{tensor.Contiguous(d, 3, 4), tensor.Contiguous(d, 0)})
	if len(f.DTypes) > 1 {
		c.Refused = append(c.Refused, []tensor.Desc{tensor.Contiguous(d, 3), tensor.Contiguous(f.DTypes[1], 3)})
	}
	return c
}

// pairs returns one of the pairs of shapes that can be broadcast together. dims are the rows, the
// columns and the number of the pair.
func pairs(d tensor.DType, dims []int) []tensor.Desc {
	r, c := dims[0], dims[1]
	shapes := [][2][]int{
		{{r, c}, {r, c}}, {{r, c}, {c}}, {{r, c}, {r, 1}}, {{r, c}, {}},
		{{c}, {r, c}}, {{r, 1}, {c}}, {{2, r, c}, {r, 1}}, {{}, {3, r, 2, c}},
	}[dims[2]]
	return []tensor.Desc{tensor.Contiguous(d, shapes[0]...), tensor.Contiguous(d, shapes[1]...)}
}

// partOf returns the part of a shader for elements of d.
func partOf(shader string, d tensor.DType) spec.Part {
	return spec.Part{Name: shader + sizeName(d) + ".function", Bits: true}
}

// sizeName is the suffix of the kernels for elements of d.
func sizeName(d tensor.DType) string {
	return map[int]string{1: ".u8", 2: ".u16", 4: ".u32", 8: ".u64"}[d.Size()]
}

// Kinds of elements for kernels.
const (
	unsignedKind = 0
	signedKind   = 1
	floatKind    = 2
)

// kindOf returns the kind of elements that d is.
func kindOf(d tensor.DType) uint32 {
	switch d {
	case tensor.I8, tensor.I16, tensor.I32, tensor.I64:
		return signedKind
	case tensor.Bool, tensor.U8, tensor.U16, tensor.U32, tensor.U64:
		return unsignedKind
	}
	return floatKind
}

// infinityOf returns infinity of a floating-point dtype as bits, or the high word of them. It is the
// largest word for others.
func infinityOf(d tensor.DType) uint32 {
	switch d {
	case tensor.F64:
		return 0x7ff00000
	case tensor.F32:
		return 0x7f800000
	case tensor.F16:
		return 0x7c00
	case tensor.BF16:
		return 0x7f80
	}
	return math.MaxUint32
}
