package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Operation describes an operation of level 3 of BLAS: one on matrices. Its attributes have type A, and F is what they say.
type Operation[A spec.Call, F any] struct {
	// Name, Doc, ONNX and Defaults are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	Defaults  A
	// Of returns what the attributes say.
	Of func(a A) F
	// Calls are attributes to try besides Defaults. Invalid are attributes that must be refused.
	Calls, Invalid []A
}

// form is what the attributes of an operation say, and what depends on that.
type form interface {
	// shape checks the call and returns the description of the result.
	shape(in []tensor.Desc) (tensor.Desc, error)
	// add appends the steps of a call, whose result is not empty.
	add(t *spec.Target, plan *spec.Plan, in []spec.Place, out spec.Place) error
	// reference and tolerance are those of spec.Definition.
	reference(in, out []*tensor.Host)
	tolerance(d tensor.DType, in []tensor.Desc) spec.Tolerance
	// cost is that of a legal call.
	cost(in []tensor.Desc, out tensor.Desc) spec.Cost
	// inputs returns inputs for sizes that the Dims of the cases describe.
	inputs(d tensor.DType, dims []int) []tensor.Desc
}

// float32And64 are the element types of operations that have no mixed precision.
var float32And64 = []tensor.DType{tensor.F32, tensor.F64}

// definition returns the definition of an operation of some element types, but for its operands, its kernels, and
// the sizes of its cases. The result may take the place of the operand inPlace. bench has sizes to measure.
func definition[A spec.Call, F form](m Operation[A, F], source string, types []tensor.DType, inPlace int, bench [][]int) spec.Definition[A] {
	spirv.LinkBLAS()
	return spec.Definition[A]{
		Name: m.Name, Group: "blas", Doc: m.Doc, Source: source,
		Out:       []spec.Arg{{Name: "out", Strides: spec.AnyStrides, InPlace: []int{inPlace}, RoundsByStrides: true}},
		Traits:    spec.Traits{Class: spec.MatrixProduct, ONNX: m.ONNX},
		Defaults:  m.Defaults,
		WritesAll: true,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			out, err := m.Of(a).shape(in)
			return []tensor.Desc{out}, err
		},
		PlanAt: func(a A, t *spec.Target, in, out []spec.Place) (*spec.Plan, error) {
			if err := planner.CheckTarget(t, in[0].Desc); err != nil {
				return nil, err
			}
			plan := &spec.Plan{}
			if out[0].Desc.Elems() == 0 {
				return plan, nil
			}
			return plan, m.Of(a).add(t, plan, in, out[0])
		},
		Reference: func(a A, in, out []*tensor.Host) { m.Of(a).reference(in, out) },
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance { return m.Of(a).tolerance(d, in) },
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			out, err := m.Of(a).shape(in)
			if err != nil {
				return spec.Cost{}
			}
			return m.Of(a).cost(in, out)
		},
		Cases: spec.CasesOf[A]{
			DTypes: types, Calls: slices.Concat([]A{m.Defaults}, m.Calls), Invalid: m.Invalid,
			Inputs: func(a A, d tensor.DType, dims []int) []tensor.Desc { return m.Of(a).inputs(d, dims) },
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, s := range bench {
					cases = append(cases, spec.BenchCase{Call: m.Defaults, In: m.Of(m.Defaults).inputs(d, s)})
				}
				for _, n := range gpuEdges(d) {
					sizes := slices.Repeat([]int{n}, len(bench[0]))
					sizes[0] = bench[0][0] // the form, which is no size
					in := m.Of(m.Defaults).inputs(d, sizes)
					out, err := m.Of(m.Defaults).shape(in)
					if err == nil && m.Of(m.Defaults).cost(in, out).Flops >= gpuFlops {
						cases = append(cases, spec.BenchCase{Call: m.Defaults, In: in, GPU: true})
					}
				}
				return cases
			},
			Low: -1, High: 1,
		},
	}
}
