package reduction

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Logic describes whether any or all elements along dimensions are true, with attributes of type A.
type Logic[A spec.Call] struct {
	// Name and Doc are those of spec.Definition.
	Name, Doc string
	// Call and Attributes are those of Reduction.
	Call       func(dims []int, keep bool) A
	Attributes func(A) (dims []int, keep bool)
	// All says that all elements have to be true.
	All bool
}

// DefineLogic declares such a reduction. The truths become words of 0 and 1. Then all are true if the
// least word is 1, and any is if the largest one is.
func DefineLogic[A spec.Call](r Logic[A]) *spec.Op {
	spirv.LinkMove()
	spirv.LinkReduce()
	f, empty := Reducer{Shader: "reduce/reduce_max", Values: 1, Sign: 1}, 0.0
	if r.All {
		f.Sign, empty = -1, 1
	}
	set := func(a A, shape []int) ([]bool, error) {
		dims, _ := r.Attributes(a)
		return dimensions(dims, len(shape))
	}
	none, one, two := r.Call(nil, false), r.Call([]int{1}, false), r.Call([]int{2, 0}, false)
	return spec.Define(spec.Definition[A]{
		Name: r.Name, Group: "reduce", Doc: r.Doc,
		In:       []spec.Arg{{Name: "in", Doc: "a tensor of any shape", DTypes: []tensor.DType{tensor.Bool}}},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, without the reduced dimensions, or with size 1 in their place"}},
		Traits:   spec.Traits{Class: spec.Reduction},
		Defaults: none,
		Kernels: append(append(f.Kernels(tensor.I32), movement.FillKernels()...),
			elementwise.CastKernelOf(tensor.Bool, tensor.I32), elementwise.CastKernelOf(tensor.I32, tensor.Bool)),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			reduced, err := set(a, in[0].Shape)
			if err != nil {
				return nil, err
			}
			_, keep := r.Attributes(a)
			return []tensor.Desc{tensor.Contiguous(tensor.Bool, reducedShape(in[0].Shape, reduced, keep)...)}, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			plan, n := &spec.Plan{}, in[0].Elems()
			if out[0].Elems() == 0 {
				return plan, nil
			}
			if n == 0 {
				return movement.PlanFill(empty, t, out[0])
			}
			reduced, err := set(a, in[0].Shape)
			if err != nil {
				return nil, err
			}
			words, made := planner.AddScratch(plan, 4*int64(n)), planner.AddScratch(plan, 4*int64(out[0].Elems()))
			if err := elementwise.AddCast(plan, t, tensor.Bool, tensor.I32, n, spec.In(0), words); err != nil {
				return nil, err
			}
			of, to := tensor.Contiguous(tensor.I32, in[0].Shape...), tensor.Contiguous(tensor.I32, out[0].Shape...)
			if _, err := f.addPasses(plan, t, of, to, reduced, stages{}, words, made); err != nil {
				return nil, err
			}
			return plan, elementwise.AddCast(plan, t, tensor.I32, tensor.Bool, out[0].Elems(), made, spec.Out(0))
		},
		Reference: func(a A, in, out []*tensor.Host) {
			s, err := set(a, in[0].Shape)
			if err != nil {
				return
			}
			Reduction[A]{Rows: func(x []float64) float64 {
				for _, v := range x {
					if r.All != (v != 0) {
						return 1 - empty
					}
				}
				return empty
			}}.reference(in[0], out[0], s)
		},
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "a truth is right or wrong"}
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			return spec.Cost{Flops: int64(in[0].Elems()), Bytes: in[0].Bytes()}
		},
		Cases: spec.CasesOf[A]{
			DTypes: []tensor.DType{tensor.Bool},
			Calls:  []A{none, one, r.Call([]int{-1}, true), two},
			Dims:   []spec.Dim{{Name: "outer"}, {Name: "n", Tiles: []int{16}}, {Name: "inner", Tiles: []int{4, 8}}},
			Sizes:  [][]int{{1, 65536, 1}, {2, 100000, 3}, {100000, 2, 1}, {3, 5, 100000}},
			Inputs: planner.SameInputs[A](1),
			Bench:  planner.AllBenchCases(planner.BenchCases(one, 1), planner.BenchCases(none, 1)),
			Low:    0, High: 1,
			Invalid: []A{r.Call([]int{3}, false), r.Call([]int{1, -2}, false)},
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 3)}},
		},
	})
}
