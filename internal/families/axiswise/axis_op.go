// Package axiswise declares the operations that compute rows along an axis, where each
// element may depend on all elements of its row: softmax, normalisations, cross entropy
// and their gradients.
//
// A plan has two stages. A reducer makes an accumulator of each row. Then a row map
// computes each element of the row from the accumulator. For many short rows there are
// kernels that do both in one launch.
package axiswise

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// AxisOp describes an operation along one dimension, with attributes of type A. All its
// inputs and its output have the same dtype and shape.
type AxisOp[A spec.Call] struct {
	// Name, Doc, Source and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc, Source string
	ONNX              []string
	// In are the inputs.
	In []spec.Arg
	// Call returns the attributes that name a dimension. Dim returns the dimension that
	// attributes name.
	Call func(dim int) A
	Dim  func(A) int
	// Kernels lists the kernels that Plan launches.
	Kernels []spec.Kernel
	// Longest is the longest row, in elements, that one invocation may reduce in a kernel
	// for whole rows. usesRows needs it. 0 means that there are no such kernels.
	Longest int
	// Plan appends the steps for inputs of dtype d to a plan.
	Plan func(plan *spec.Plan, t *spec.Target, d tensor.DType, v planner.AxisView) error
	// PlanCall, if set, is used instead of Plan, and ReferenceCall instead of Reference: they get the
	// attributes too. Check refuses some. Calls and Invalid are cases in addition to those with Call.
	PlanCall       func(c A, plan *spec.Plan, t *spec.Target, d tensor.DType, v planner.AxisView) error
	ReferenceCall  func(c A, v planner.AxisView, in [][]float64) []float64
	Check          func(A) error
	Calls, Invalid []A
	// Reference computes the result in float64. It may overwrite its inputs.
	Reference func(v planner.AxisView, in [][]float64) []float64
	// Tolerance returns the tolerance for rows of n elements.
	Tolerance func(d tensor.DType, n int) spec.Tolerance
	// Low and High bound the random inputs that are tried.
	Low, High float64
	// Flops is the number of arithmetic operations for an element.
	Flops int64
}

// Define declares an operation along a dimension. Its result may overwrite the first
// input.
func Define[A spec.Call](a AxisOp[A]) *spec.Op {
	spirv.LinkNN()
	// view returns the axis view of a call that Shape has accepted.
	view := func(c A, d tensor.Desc) planner.AxisView {
		k, err := planner.Axis(a.Dim(c), len(d.Shape))
		if err != nil {
			return planner.AxisView{}
		}
		return planner.ViewAxis(d.Shape, k)
	}
	args := slices.Clone(a.In)
	for i := range args {
		args[i].DTypes = planner.Floats
	}
	strategies := reduction.Strategies[A]
	if a.Longest > 0 {
		strategies = func(c A, t *spec.Target, in, _ []tensor.Desc) []string {
			return rowStrategies(t, in[0].DType, view(c, in[0]), a.Longest)
		}
	}
	return spec.Define(spec.Definition[A]{
		Name: a.Name, Group: "nn", Doc: a.Doc, Source: a.Source,
		In:       args,
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the same dtype and shape", InPlace: []int{0}}},
		Traits:   spec.Traits{Class: spec.AxisWise, ONNX: a.ONNX},
		Defaults: a.Call(-1), Kernels: a.Kernels,
		Shape: func(c A, in []tensor.Desc) ([]tensor.Desc, error) {
			if a.Check != nil {
				if err := a.Check(c); err != nil {
					return nil, err
				}
			}
			if _, err := planner.Axis(a.Dim(c), len(in[0].Shape)); err != nil {
				return nil, err
			}
			for i, d := range in {
				if err := checkSame(args[i].Name, d, args[0].Name, in[0]); err != nil {
					return nil, err
				}
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
		},
		Plan: func(c A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			plan := &spec.Plan{}
			if err := planner.CheckTarget(t, in...); err != nil {
				return nil, err
			}
			if in[0].Elems() == 0 {
				return plan, nil
			}
			if a.PlanCall != nil {
				return plan, a.PlanCall(c, plan, t, in[0].DType, view(c, in[0]))
			}
			return plan, a.Plan(plan, t, in[0].DType, view(c, in[0]))
		},
		Strategies: strategies,
		SizeClass:  func(c A, in []tensor.Desc) []int { return view(c, in[0]).Sizes() },
		Reference: func(c A, in, out []*tensor.Host) {
			var v [][]float64
			for _, h := range in {
				v = append(v, h.Floats())
			}
			if a.ReferenceCall != nil {
				out[0].SetFloats(a.ReferenceCall(c, view(c, in[0].Desc), v))
				return
			}
			out[0].SetFloats(a.Reference(view(c, in[0].Desc), v))
		},
		Tolerance: func(c A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			return a.Tolerance(d, view(c, in[0]).N)
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			return spec.Cost{Flops: a.Flops * int64(in[0].Elems()), Bytes: int64(len(in)+1) * in[0].Bytes()}
		},
		Cases: spec.CasesOf[A]{
			DTypes: planner.Floats,
			Calls:  append([]A{a.Call(-1), a.Call(1), a.Call(0)}, a.Calls...),
			Dims:   reduction.AxisDims, Sizes: reduction.AxisSizes,
			Inputs: planner.SameInputs[A](len(a.In)),
			Bench:  planner.BenchCases(a.Call(-1), len(a.In)),
			Low:    a.Low, High: a.High, Specials: true,
			Invalid: append([]A{a.Call(3), a.Call(-4)}, a.Invalid...),
			Refused: refusedInputs(len(a.In)),
		},
	})
}

// refusedInputs returns lists of n inputs that Shape must refuse: a scalar, and two
// inputs whose shapes or dtypes differ.
func refusedInputs(n int) [][]tensor.Desc {
	f := tensor.Contiguous
	if n == 1 {
		return [][]tensor.Desc{{f(tensor.F32)}, {f(tensor.I32, 3)}}
	}
	return [][]tensor.Desc{
		{f(tensor.F32), f(tensor.F32)}, {f(tensor.F32, 2, 3), f(tensor.F32, 3, 2)}, {f(tensor.F32, 2, 3), f(tensor.F32, 1, 2, 3)},
		{f(tensor.F32, 2, 3), f(tensor.F16, 2, 3)},
	}
}

// checkSame returns an error unless input d has the dtype and shape of input first.
func checkSame(name string, d tensor.Desc, firstName string, first tensor.Desc) error {
	if d.DType != first.DType || !slices.Equal(d.Shape, first.Shape) {
		return planner.Invalid("input %s is %v (want %v as %s)", name, d, first, firstName)
	}
	return nil
}

// lastDim returns the axis view of a shape along its last dimension.
func lastDim(shape []int) planner.AxisView { return planner.ViewAxis(shape, len(shape)-1) }

// fromDim returns the view in which a row holds all dimensions from k on.
func fromDim(shape []int, k int) planner.AxisView {
	v := planner.ViewAxis(shape, k)
	return planner.AxisView{Outer: v.Outer, N: v.N * v.Inner, Inner: 1}
}
