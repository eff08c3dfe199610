package elementwise

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Arithmetic are the dtypes that can be added and subtracted.
var Arithmetic = append(slices.Clone(planner.Floats), tensor.I32, tensor.I64)

// Binary describes a function of two elements.
type Binary struct {
	// Name, Doc, Source and Aliases are those of spec.Definition.
	Name, Doc, Source string
	Aliases           []string
	// Shader is the name of the kernels without the dtype, "group/name".
	Shader string
	// Wide names kernels that compute in double precision what Shader computes for dtypes of 16 and
	// 32 bits. CPU drivers run them, which have texel buffers and doubles. It may be empty.
	Wide string
	// DTypes are the dtypes of the elements. All of them are in Arithmetic.
	DTypes []tensor.DType
	// Integers is the function of the integers that are not in DTypes. Without it there are none.
	Integers logic.Arithmetic
	// F is the function, computed in float64.
	F func(a, b float64) float64
	// Ulps is the largest error of the device's result before it is rounded to the dtype,
	// in units in the last place. It counts for floating-point dtypes only. Integers are
	// exact.
	Ulps float64
	// Why says where Ulps comes from.
	Why string
	// Low and High bound the random inputs that are tried.
	Low, High float64
	// Flops is the number of arithmetic operations for an element. 0 means 1.
	Flops int64
	// ONNX lists the ONNX operators that do the same.
	ONNX []string
	// OneWay says that b is broadcast to the shape of in, which is the shape of the result.
	OneWay bool
}

// DefineBinary declares a function of two elements, with attributes of type A. The inputs
// are broadcast together by the rule of NumPy, and may have any strides. The result may
// overwrite any input that has its shape.
func DefineBinary[A spec.Call](b Binary) *spec.Op {
	spirv.LinkLogic()
	spirv.LinkMath()
	spirv.LinkMove()
	var call A
	dtypes := b.Integers.Types(b.DTypes)
	ofFloats := func(d tensor.DType) bool { return slices.Contains(b.DTypes, d) }
	refused := tensor.U8
	if b.Integers != logic.None {
		refused = tensor.Bool
	}
	return spec.Define(spec.Definition[A]{
		Name: b.Name, Aliases: b.Aliases, Group: groupOf(b.Shader), Doc: b.Doc, Source: b.Source,
		In: []spec.Arg{
			{Name: "in", Doc: "a tensor of any shape", DTypes: dtypes, Strides: spec.AnyStrides},
			{Name: "b", Doc: "a tensor of the same dtype whose shape can be broadcast together with that of in", DTypes: dtypes, Strides: spec.AnyStrides},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the shape to which both are broadcast", InPlace: []int{0, 1}}},
		Traits:   spec.Traits{Class: spec.Elementwise, ONNX: b.ONNX},
		Defaults: call,
		Kernels:  slices.Concat(BinaryKernels(b.Shader, b.DTypes), b.wideKernels(), b.Integers.Kernels()),
		Shape: func(_ A, in []tensor.Desc) ([]tensor.Desc, error) {
			if in[0].DType != in[1].DType {
				return nil, planner.Invalid("b (got %v, want the dtype of in, %v)", in[1], in[0])
			}
			shape, ok := planner.BroadcastShape(in[0].Shape, in[1].Shape)
			if !ok {
				return nil, planner.Invalid("shapes %v and %v cannot be broadcast together", in[0].Shape, in[1].Shape)
			}
			if b.OneWay && !slices.Equal(shape, in[0].Shape) {
				return nil, planner.Invalid("shape %v cannot be broadcast to %v", in[1].Shape, in[0].Shape)
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, shape...)}, nil
		},
		Plan: func(_ A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			if !ofFloats(in[0].DType) {
				return b.Integers.Plan(t, in, out[0])
			}
			plan := &spec.Plan{}
			return plan, AddBinary(plan, t, b.shaderFor(t, in[0].DType), in, out[0], BinaryRefs)
		},
		Strategies: func(a A, t *spec.Target, in, out []tensor.Desc) []string {
			if !ofFloats(in[0].DType) {
				return nil
			}
			return planner.FlatStrategies(a, t, in, out)
		},
		SizeClass: planner.ElementCounts[A],
		Part: func(_ A, t *spec.Target, in []tensor.DType) spec.Part {
			switch {
			case in[0] != in[1]:
				return spec.Part{}
			case !ofFloats(in[0]):
				return b.Integers.Part(in[0])
			}
			return partOf(b.shaderFor(t, in[0]), in[0])
		},
		Scalar: func(_ A, x []float64) float64 { return b.F(x[0], x[1]) },
		Reference: func(_ A, in, out []*tensor.Host) {
			x, y, results, d := in[0].Floats(), in[1].Floats(), make([]float64, 0, out[0].Elems()), in[0].DType
			out[0].Each(func(index []int, _ int) {
				v, w := x[planner.BroadcastIndex(index, in[0].Shape)], y[planner.BroadcastIndex(index, in[1].Shape)]
				r := b.F(v, w)
				if !ofFloats(d) {
					r = b.Integers.Of(d, r, w)
				}
				results = append(results, r)
			})
			out[0].SetFloats(results)
		},
		Tolerance: func(_ A, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			if !slices.Contains(planner.Floats, d) {
				return spec.Tolerance{Why: "integers wrap"}
			}
			return planner.ElementTolerance(d, b.Ulps, 0, b.Why)
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			shape, _ := planner.BroadcastShape(in[0].Shape, in[1].Shape)
			n := int64(tensor.Contiguous(in[0].DType, shape...).Elems())
			return spec.Cost{Flops: n * max(b.Flops, 1), Bytes: (n + int64(in[0].Elems()) + int64(in[1].Elems())) * int64(in[0].DType.Size())}
		},
		Cases: spec.CasesOf[A]{
			DTypes: dtypes, Calls: []A{call},
			Dims: []spec.Dim{
				{Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 256}},
				{Name: "shapes", Only: []int{0, 1, 2, 3, 4, 5, 6, 7}},
			},
			Sizes: [][]int{{700, 1024, 0}, {700, 1024, 1}, {700, 1024, 2}, {700, 1024, 3}, {700, 1024, 4}, {511, 1027, 1}, {511, 1027, 2}, {661, 661, 1}, {100000, 7, 1}},
			Inputs: func(_ A, d tensor.DType, dims []int) []tensor.Desc {
				// The ways of broadcasting have a kernel each for a row and for one number.
				if !ofFloats(d) && logic.Repeats(d) && (max(dims[0], dims[1]) > 64 || dims[2] != 1 && dims[2] != 3) {
					return nil
				}
				in := binaryInputs(d, dims)
				if shape, _ := planner.BroadcastShape(in[0].Shape, in[1].Shape); b.OneWay && !slices.Equal(shape, in[0].Shape) {
					return nil
				}
				return in
			},
			Bench: planner.AllBenchCases(planner.BenchCases(call, 2), planner.BenchCasesOf(call, func(d tensor.DType, rows, columns int) []tensor.Desc {
				return binaryInputs(d, []int{rows, columns, 1}) // The second operand is one row, added to every row.
			})),
			Low: b.Low, High: b.High, Specials: true,
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F32, 4, 3)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F32, 0)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F16, 3, 4)},
				{tensor.Contiguous(refused, 3), tensor.Contiguous(refused, 3)},
			},
		},
	})
}

// hasWide reports whether there are kernels named Wide for a dtype.
func (b Binary) hasWide(d tensor.DType) bool { return b.Wide != "" && d != tensor.F64 }

// shaderFor returns the name of the kernels that a device runs.
func (b Binary) shaderFor(t *spec.Target, d tensor.DType) string {
	if b.hasWide(d) && t.CPU && t.F64 && !t.HostVectors && planner.UsesTexels(t, planner.TexelGroup) {
		return b.Wide
	}
	return b.Shader
}

// wideKernels lists the kernels named Wide.
func (b Binary) wideKernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range b.DTypes {
		if b.hasWide(d) {
			name := b.Wide + "." + d.String()
			ks = append(ks,
				spec.Kernel{Name: name + ".texel", Params: repeatParams{}}, spec.Kernel{Name: name + ".repeat.texel", Params: repeatParams{}},
				spec.Kernel{Name: name + ".strided", Params: binaryStridedParams{}})
		}
	}
	return ks
}

// BinaryKernels lists the kernels that AddBinary launches for dtypes.
func BinaryKernels(shader string, dtypes []tensor.DType) []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range dtypes {
		name := shader + "." + d.String()
		ks = append(ks, spec.Kernel{Name: name, Params: repeatParams{}}, spec.Kernel{Name: name + ".strided", Params: binaryStridedParams{}})
		if d == tensor.F32 {
			ks = append(ks, lanesKernel(shader, repeatParams{}))
			ks = append(ks, binaryLanesKernels(shader)...)
		}
		if d.Size() < 8 {
			ks = append(ks, spec.Kernel{Name: name + ".texel", Params: repeatParams{}}, spec.Kernel{Name: name + ".repeat.texel", Params: repeatParams{}})
		}
	}
	return ks
}

// binaryInputs returns one of the pairs of shapes that can be broadcast together. dims
// are the rows, the columns and the number of the pair.
func binaryInputs(d tensor.DType, dims []int) []tensor.Desc {
	r, c := dims[0], dims[1]
	shapes := [][2][]int{
		{{r, c}, {r, c}}, {{r, c}, {c}}, {{r, c}, {r, 1}}, {{r, c}, {}},
		{{c}, {r, c}}, {{r, 1}, {c}}, {{2, r, c}, {r, 1}}, {{r, 1, 2, c}, {3, 1, 1}},
	}[dims[2]]
	return []tensor.Desc{tensor.Contiguous(d, shapes[0]...), tensor.Contiguous(d, shapes[1]...)}
}

// Larger returns the larger of two numbers, or NaN if one of them is NaN. math.Max would
// return infinity for infinity and NaN.
func Larger(a, b float64) float64 {
	if a > b || math.IsNaN(a) {
		return a
	}
	return b
}
