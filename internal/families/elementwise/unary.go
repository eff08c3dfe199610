// Package elementwise declares the operations that compute each element of the output
// from the elements at the same index of the inputs. They are functions of one element,
// the gradients of such functions, and functions of two elements that are broadcast
// together.
package elementwise

import (
	"math"
	"path"

	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// flatParams is the push-constant block of lib/unary.glsl. Count is the number of
// elements.
type flatParams struct{ Count uint32 }

// Unary describes a function of one element.
type Unary struct {
	// Name, Doc, Source and Aliases are those of spec.Definition.
	Name, Doc, Source string
	Aliases           []string
	// Shader is the name of the kernels without the dtype, "group/name".
	Shader string
	// F is the function, computed in float64.
	F func(float64) float64
	// Ulps is the largest error of the device's result before it is rounded to the dtype,
	// in units in the last place. Abs is an additional absolute error, in units in the
	// last place of 1. It does not shrink with the result.
	Ulps, Abs float64
	// Why says where Ulps and Abs come from.
	Why string
	// Low and High bound the random inputs that are tried.
	Low, High float64
	// Flops is the number of arithmetic operations for an element. 0 means 1.
	Flops int64
	// ONNX lists the ONNX operators that do the same.
	ONNX []string
	// Integers is the function of integers. Without it there are none.
	Integers logic.Arithmetic
}

// Numbers says which numbers the calls of a function of one element carry. A kernel gets up to two
// as push constants, so that no tensor holds them.
type Numbers[A spec.Call] struct {
	// Of returns the numbers of a call. They may be infinite. Unless the elements are F64, they are
	// rounded to F32.
	Of func(a A) [2]float64
	// F is the function of an element and of these numbers, computed in float64.
	F func(x float64, n [2]float64) float64
	// Check returns ErrInvalidArgument for a call that makes no sense. Nil means that all do.
	Check func(a A) error
	// Defaults are the default attributes.
	Defaults A
	// Calls are the calls to try beside Defaults, and Invalid are those to refuse.
	Calls, Invalid []A
}

// numbersParams is the push-constant block of lib/unary.glsl with NUMBERS. First and Second are
// as Words returns them.
type numbersParams struct {
	Count         uint32
	First, Second [2]uint32
}

// Words returns the bits of a number as the kernels for elements of d take it: as F64 in two words,
// low first, or as F32 in the first one.
func Words(x float64, d tensor.DType) [2]uint32 {
	if d == tensor.F64 {
		bits := math.Float64bits(x)
		return [2]uint32{uint32(bits), uint32(bits >> 32)}
	}
	return [2]uint32{math.Float32bits(float32(x))}
}

// DefineUnary declares a function of one element, with attributes of type A. The result
// may overwrite the input.
func DefineUnary[A spec.Call](u Unary) *spec.Op {
	var call A
	return defineUnary(u, flatParams{}, Numbers[A]{
		F:        func(x float64, _ [2]float64) float64 { return u.F(x) },
		Defaults: call,
	})
}

// DefineUnaryWith declares a function of one element and of numbers that the attributes give. u
// has no F.
func DefineUnaryWith[A spec.Call](u Unary, n Numbers[A]) *spec.Op {
	return defineUnary(u, numbersParams{}, n)
}

func defineUnary[A spec.Call](u Unary, params any, n Numbers[A]) *spec.Op {
	spirv.LinkLogic()
	spirv.LinkMath()
	spirv.LinkNN()
	dtypes, kernels := u.Integers.Types(planner.Floats), planner.DTypeVariants(u.Shader, params, planner.Floats, hasTexels)
	return spec.Define(spec.Definition[A]{
		Name: u.Name, Aliases: u.Aliases, Group: groupOf(u.Shader), Doc: u.Doc, Source: u.Source,
		In:       []spec.Arg{{Name: "in", Doc: "a tensor of any shape", DTypes: dtypes}},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the same dtype and shape", InPlace: []int{0}}},
		Traits:   spec.Traits{Class: spec.Elementwise, ONNX: u.ONNX},
		Defaults: n.Defaults,
		Kernels:  append(append(kernels, lanesKernel(u.Shader, params)), u.Integers.Kernels()...),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			if err := n.check(a); err != nil {
				return nil, err
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			if !isFloat(in[0].DType) {
				return u.Integers.Plan(t, in, out[0])
			}
			return planFlat(u.Shader, t, in, spec.Out(0), n.params(a, in[0].DType))
		},
		Strategies: func(a A, t *spec.Target, in, out []tensor.Desc) []string {
			if !isFloat(in[0].DType) {
				return nil
			}
			return planner.FlatStrategies(a, t, in, out)
		},
		SizeClass: planner.ElementCounts[A],
		Part: func(a A, _ *spec.Target, in []tensor.DType) spec.Part {
			if !isFloat(in[0]) {
				return u.Integers.Part(in[0])
			}
			return n.part(a, u.Shader, in)
		},
		Scalar: func(a A, x []float64) float64 { return n.F(x[0], n.of(a)) },
		Reference: func(a A, in, out []*tensor.Host) {
			values, numbers := in[0].Floats(), n.rounded(a, in[0].DType)
			for i, x := range values {
				values[i] = n.F(x, numbers)
				if !isFloat(in[0].DType) {
					values[i] = u.Integers.Of(in[0].DType, values[i], 1)
				}
			}
			out[0].SetFloats(values)
		},
		Tolerance: func(_ A, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			if !isFloat(d) {
				return spec.Tolerance{Why: "integers wrap"}
			}
			return planner.ElementTolerance(d, u.Ulps, u.Abs, u.Why)
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			n := int64(in[0].Elems())
			return spec.Cost{Flops: n * max(u.Flops, 1), Bytes: 2 * n * int64(in[0].DType.Size())}
		},
		Cases: spec.CasesOf[A]{
			DTypes: dtypes, Calls: append([]A{n.Defaults}, n.Calls...), Invalid: n.Invalid,
			Dims:   []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 256}}},
			Inputs: planner.SameInputs[A](1),
			Bench:  planner.BenchCases(n.Defaults, 1),
			Low:    u.Low, High: u.High, Specials: true,
		},
	})
}

func (n Numbers[A]) check(a A) error {
	if n.Check == nil {
		return nil
	}
	return n.Check(a)
}

// of returns the numbers of a call, or zeros if the function has none.
func (n Numbers[A]) of(a A) [2]float64 {
	if n.Of == nil {
		return [2]float64{}
	}
	return n.Of(a)
}

// rounded returns the numbers of a call as the kernels for elements of d know them.
func (n Numbers[A]) rounded(a A, d tensor.DType) [2]float64 {
	numbers := n.of(a)
	for i, x := range numbers {
		if d != tensor.F64 {
			numbers[i] = float64(float32(x))
		}
	}
	return numbers
}

// params returns the params struct of a call on elements of d for a launch over count elements.
func (n Numbers[A]) params(a A, d tensor.DType) func(_, count int) any {
	if n.Of == nil {
		return flatLaunch
	}
	numbers := n.Of(a)
	return func(_, count int) any {
		return numbersParams{uint32(count), Words(numbers[0], d), Words(numbers[1], d)}
	}
}

// flatLaunch returns the params struct of a function without numbers.
func flatLaunch(_, count int) any { return flatParams{uint32(count)} }

// groupOf returns the group of a shader, which is the folder in its name.
func groupOf(shader string) string { return path.Dir(shader) }

// hasTexels reports whether the kernels of a dtype have a variant for texel buffers.
func hasTexels(d tensor.DType) bool { return d != tensor.F64 }

// usesLanes reports whether to launch the kernels of lib/lanes.glsl instead of k, which
// walk contiguous elements of f32 on devices whose invocations are lanes of a vector.
func usesLanes(t *spec.Target, k planner.FlatKernel, d tensor.DType) bool {
	return t.HostVectors && !k.Texel && d == tensor.F32
}

// lanesKernel lists the kernel of lib/lanes.glsl.
func lanesKernel(shader string, params any) spec.Kernel {
	return spec.Kernel{Name: shader + ".f32.lanes", Params: params}
}

// planFlat plans the launches of a kernel of lib/unary.glsl or lib/unary_gradient.glsl.
// All inputs are contiguous and have one dtype and one shape.
// params returns the params struct of a launch.
// Errors: ErrUnsupported, *LimitError.
func planFlat(shader string, t *spec.Target, in []tensor.Desc, out spec.Ref, params func(first, count int) any) (*spec.Plan, error) {
	if err := planner.CheckTarget(t, in...); err != nil {
		return nil, err
	}
	k := planner.FlatVariant(t, shader, in[0].DType)
	if usesLanes(t, k, in[0].DType) {
		k.Name += ".lanes"
	}
	k.Params = params
	var operands []planner.Operand
	for i, d := range in {
		operands = append(operands, planner.Flat(spec.In(i), d.DType))
	}
	plan := &spec.Plan{}
	return plan, planner.AddFlat(plan, t, k, in[0].Elems(), append(operands, planner.Flat(out, in[0].DType))...)
}

// UnaryKernels lists the kernels that AddUnary launches.
func UnaryKernels(shader string, dtypes ...tensor.DType) []spec.Kernel {
	return append(planner.DTypeVariants(shader, flatParams{}, dtypes, hasTexels), lanesKernel(shader, flatParams{}))
}

// AddUnary appends to a plan the launches of a function of one element, of n contiguous elements
// of from. shader names its kernels.
// Errors: *LimitError.
func AddUnary(plan *spec.Plan, t *spec.Target, shader string, d tensor.DType, n int, from, to spec.Ref) error {
	k := planner.FlatVariant(t, shader, d)
	if usesLanes(t, k, d) {
		k.Name += ".lanes"
	}
	k.Params = func(_, count int) any { return flatParams{uint32(count)} }
	return planner.AddFlat(plan, t, k, n, planner.Flat(from, d), planner.Flat(to, d))
}
