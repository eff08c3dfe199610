package logic

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const whereShader = "logic/where"

// DefineWhere declares the choice between two tensors of any dtype, with attributes of type A.
func DefineWhere[A spec.Call](name, doc, onnx string) *spec.Op {
	spirv.LinkLogic()
	var call A
	var kernels []spec.Kernel
	for _, d := range []string{".u8", ".u16", ".u32", ".u64"} {
		kernels = append(kernels, spec.Kernel{Name: whereShader + d, Params: flatParams{}}, spec.Kernel{Name: whereShader + d + ".strided", Params: stridedThreeParams{}})
	}
	shape := func(in []tensor.Desc) ([]int, bool) {
		s, ok := planner.BroadcastShape(in[0].Shape, in[1].Shape)
		if !ok {
			return nil, false
		}
		return planner.BroadcastShape(s, in[2].Shape)
	}
	return spec.Define(spec.Definition[A]{
		Name: name, Group: "logic", Doc: doc,
		In: []spec.Arg{
			{Name: "condition", Doc: "a tensor of any shape", DTypes: []tensor.DType{tensor.Bool}, Strides: spec.AnyStrides},
			{Name: "x", Doc: "a tensor of any dtype", Strides: spec.AnyStrides},
			{Name: "y", Doc: "a tensor of the dtype of x", Strides: spec.AnyStrides},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the shape to which all are broadcast", InPlace: []int{1, 2}}},
		Traits:   spec.Traits{Class: spec.Elementwise, ONNX: []string{onnx}},
		Defaults: call,
		Kernels:  kernels,
		Shape: func(_ A, in []tensor.Desc) ([]tensor.Desc, error) {
			if in[1].DType != in[2].DType {
				return nil, planner.Invalid("y (got %v, want the dtype of x, %v)", in[2], in[1])
			}
			s, ok := shape(in)
			if !ok {
				return nil, planner.Invalid("shapes %v, %v and %v cannot be broadcast together", in[0].Shape, in[1].Shape, in[2].Shape)
			}
			return []tensor.Desc{tensor.Contiguous(in[1].DType, s...)}, nil
		},
		Plan: func(_ A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			plan := &spec.Plan{}
			return plan, add(plan, t, whereShader+sizeName(out[0].DType), [3]uint32{}, in, out[0], []spec.Ref{spec.In(0), spec.In(1), spec.In(2), spec.Out(0)})
		},
		Part: func(_ A, _ *spec.Target, in []tensor.DType) spec.Part {
			if in[0] != tensor.Bool || in[1] != in[2] {
				return spec.Part{}
			}
			return partOf(whereShader, in[1])
		},
		Scalar: func(_ A, x []float64) float64 {
			if x[0] != 0 {
				return x[1]
			}
			return x[2]
		},
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "elements are moved"}
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			s, _ := shape(in)
			return spec.Cost{Bytes: tensor.Contiguous(in[1].DType, s...).Bytes() + in[0].Bytes() + in[1].Bytes() + in[2].Bytes()}
		},
		Cases: spec.CasesOf[A]{
			DTypes: tensor.DTypes(), Calls: []A{call},
			Dims:   []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 256}}, {Name: "shapes", Only: []int{0, 1, 2, 3, 4, 5}}},
			Sizes:  [][]int{{700, 512, 1}, {511, 511, 3}},
			Inputs: func(_ A, d tensor.DType, dims []int) []tensor.Desc { return choices(d, dims) },
			Bench: planner.BenchCasesOf(call, func(d tensor.DType, rows, columns int) []tensor.Desc {
				return choices(d, []int{rows, columns, 0})
			}),
			Low: -100, High: 100, Specials: true,
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F32, 3)},
				{tensor.Contiguous(tensor.Bool, 3), tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.I32, 3)},
				{tensor.Contiguous(tensor.Bool, 3), tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F32, 4)},
				{tensor.Contiguous(tensor.Bool, 4), tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F32, 3)},
			},
		},
	})
}

// choices returns one of the lists of shapes of a condition and of two tensors. dims are the rows, the
// columns and the number of the list.
func choices(d tensor.DType, dims []int) []tensor.Desc {
	r, c := dims[0], dims[1]
	shapes := [][3][]int{
		{{r, c}, {r, c}, {r, c}}, {{r, c}, {r, c}, {}}, {{r, c}, {}, {}}, {{r, 1}, {c}, {r, c}}, {{c}, {2, r, 1}, {r, c}}, {{}, {r, 1}, {1, c}},
	}[dims[2]]
	var in []tensor.Desc
	for i, s := range shapes {
		dtype := d
		if i == 0 {
			dtype = tensor.Bool
		}
		in = append(in, tensor.Contiguous(dtype, slices.Clone(s)...))
	}
	return in
}
