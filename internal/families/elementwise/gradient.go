package elementwise

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Gradient describes the gradient of a function of one element.
type Gradient struct {
	// Name, Doc and Source are those of spec.Definition.
	Name, Doc, Source string
	// Shader is the name of the kernels without the dtype, "group/name".
	Shader string
	// F returns dx in float64, for an element x and the gradient dy of its result.
	F func(x, dy float64) float64
	// Ulps and Abs bound the error of the device's result, as they do in Unary.
	Ulps, Abs float64
	// Why says where Ulps and Abs come from.
	Why string
	// Flops is the number of arithmetic operations for an element.
	Flops int64
}

// GradientNumbers says which numbers the calls of a Gradient carry, as Numbers does.
type GradientNumbers[A spec.Call] struct {
	// F returns dx in float64, for an element x, the gradient dy of its result, and the numbers.
	F func(x, dy float64, n [2]float64) float64
	// Numbers has no F.
	Numbers[A]
}

// DefineGradient declares the gradient of a function of one element, with attributes of
// type A. The result dx may overwrite x or dy.
func DefineGradient[A spec.Call](g Gradient) *spec.Op {
	var call A
	return defineGradient(g, flatParams{}, GradientNumbers[A]{
		F:       func(x, dy float64, _ [2]float64) float64 { return g.F(x, dy) },
		Numbers: Numbers[A]{Defaults: call},
	})
}

// DefineGradientWith declares the gradient of a function of one element and of numbers that the
// attributes give. g has no F.
func DefineGradientWith[A spec.Call](g Gradient, n GradientNumbers[A]) *spec.Op {
	return defineGradient(g, numbersParams{}, n)
}

func defineGradient[A spec.Call](g Gradient, params any, n GradientNumbers[A]) *spec.Op {
	spirv.LinkNN()
	return spec.Define(spec.Definition[A]{
		Name: g.Name, Group: groupOf(g.Shader), Doc: g.Doc, Source: g.Source,
		In: []spec.Arg{
			{Name: "x", Doc: "the input of the function, of any shape", DTypes: planner.Floats},
			{Name: "dy", Doc: "the gradient of the function's result, of the dtype and shape of x", DTypes: planner.Floats},
		},
		Out:      []spec.Arg{{Name: "dx", Doc: "the gradient of x, of the same dtype and shape", InPlace: []int{0, 1}}},
		Traits:   spec.Traits{Class: spec.Elementwise},
		Defaults: n.Defaults,
		Kernels:  append(planner.DTypeVariants(g.Shader, params, planner.Floats, hasTexels), lanesKernel(g.Shader, params)),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			if in[1].DType != in[0].DType || !slices.Equal(in[1].Shape, in[0].Shape) {
				return nil, planner.Invalid("dy (got %v, want x's %v)", in[1], in[0])
			}
			if err := n.check(a); err != nil {
				return nil, err
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
		},
		Plan: func(a A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			return planFlat(g.Shader, t, in, spec.Out(0), n.params(a, in[0].DType))
		},
		Strategies: planner.FlatStrategies[A], SizeClass: planner.ElementCounts[A],
		Part:   func(a A, _ *spec.Target, in []tensor.DType) spec.Part { return n.part(a, g.Shader, in) },
		Scalar: func(a A, x []float64) float64 { return n.F(x[0], x[1], n.of(a)) },
		Reference: func(a A, in, out []*tensor.Host) {
			values, dy, numbers := in[0].Floats(), in[1].Floats(), n.rounded(a, in[0].DType)
			for i, x := range values {
				values[i] = n.F(x, dy[i], numbers)
			}
			out[0].SetFloats(values)
		},
		Tolerance: func(_ A, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return planner.ElementTolerance(d, g.Ulps, g.Abs, g.Why)
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			n := int64(in[0].Elems())
			return spec.Cost{Flops: n * g.Flops, Bytes: 3 * n * int64(in[0].DType.Size())}
		},
		Cases: spec.CasesOf[A]{
			DTypes: planner.Floats, Calls: append([]A{n.Defaults}, n.Calls...), Invalid: n.Invalid,
			Dims:   []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 256}}},
			Inputs: planner.SameInputs[A](2),
			Bench:  planner.BenchCases(n.Defaults, 2),
			Low:    -6, High: 6, Specials: true,
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F32, 4, 3)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F16, 3, 4)},
			},
		},
	})
}
