// Package elementwise declares the operations that compute each element of the output
// from the elements at the same index of the inputs. They are functions of one element,
// the gradients of such functions, and functions of two elements that are broadcast
// together.
package elementwise

import (
	"path"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
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
	// Gradient is the name of the operation that computes the gradient, or "".
	Gradient string
	// ONNX lists the ONNX operators that do the same.
	ONNX []string
}

// DefineUnary declares a function of one element, with attributes of type A. The result
// may overwrite the input.
func DefineUnary[A spec.Call](u Unary) *spec.Op {
	var call A
	return spec.Register(spec.Define(spec.Definition[A]{
		Name: u.Name, Aliases: u.Aliases, Group: groupOf(u.Shader), Doc: u.Doc, Source: u.Source,
		In:       []spec.Arg{{Name: "in", Doc: "a tensor of any shape", DTypes: planner.Floats}},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the same dtype and shape", InPlace: []int{0}}},
		Traits:   spec.Traits{Class: spec.Elementwise, Prologue: true, Epilogue: true, Gradient: u.Gradient, ONNX: u.ONNX},
		Defaults: call,
		Kernels:  append(planner.DTypeVariants(u.Shader, flatParams{}, planner.Floats, hasTexels), lanesKernel(u.Shader, flatParams{})),
		Shape: func(_ A, in []tensor.Desc) ([]tensor.Desc, error) {
			return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
		},
		Plan: func(_ A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			return planFlat(u.Shader, t, in, spec.Out(0))
		},
		Strategies: planner.FlatStrategies[A], SizeClass: planner.ElementCounts[A],
		Scalar: func(_ A, x []float64) float64 { return u.F(x[0]) },
		Tolerance: func(_ A, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return planner.ElementTolerance(d, u.Ulps, u.Abs, u.Why)
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			n := int64(in[0].Elems())
			return spec.Cost{Flops: n * max(u.Flops, 1), Bytes: 2 * n * int64(in[0].DType.Size())}
		},
		Cases: spec.CasesOf[A]{
			DTypes: planner.Floats, Calls: []A{call},
			Dims:   []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 256}}},
			Inputs: planner.SameInputs[A](1),
			Bench:  planner.BenchCases(call, 1),
			Low:    u.Low, High: u.High, Specials: true,
		},
	}))
}

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
// Errors: ErrUnsupported, *LimitError.
func planFlat(shader string, t *spec.Target, in []tensor.Desc, out spec.Ref) (*spec.Plan, error) {
	if err := planner.CheckTarget(t, in...); err != nil {
		return nil, err
	}
	k := planner.FlatVariant(t, shader, in[0].DType)
	if usesLanes(t, k, in[0].DType) {
		k.Name += ".lanes"
	}
	k.Params = func(_, count int) any { return flatParams{uint32(count)} }
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
