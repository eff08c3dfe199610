package axiswise

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Classified describes an operation on rows of classes, with attributes of type A. Input
// 0 is a tensor [..., C] of classes. Input 1, a tensor [...] of integers, holds the target
// class of each row. The device reports an error for a target that is not in 0 to C-1.
type Classified[A spec.Call] struct {
	// Name, Doc and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// In are the classes, the targets, and then inputs with one value for each row, in the
	// dtype of the classes. Out are the outputs.
	In, Out []spec.Arg
	// Shape returns the descriptions of the outputs.
	Shape func(in []tensor.Desc) []tensor.Desc
	// Kernels lists the kernels that Plan launches.
	Kernels []spec.Kernel
	// Plan appends the steps after the check of the targets to a plan. Steps that write
	// outputs bind status and do nothing if the check has failed. There is at least one
	// row, and at least one class.
	Plan func(plan *spec.Plan, t *spec.Target, in []tensor.Desc, v planner.AxisView, status spec.Ref) error
	// Reference computes the outputs in float64.
	Reference func(v planner.AxisView, in, out []*tensor.Host)
	// Tolerance returns the tolerance for rows of n classes.
	Tolerance func(d tensor.DType, n int) spec.Tolerance
	// Cost is that of spec.Definition.
	Cost func(v planner.AxisView, in []tensor.Desc) spec.Cost
	// Range returns the bounds of the random values of input i, for rows of n classes. It
	// is not called for the targets.
	Range func(i, n int) (low, high float64)
	// Refused lists inputs that Shape must refuse.
	Refused [][]tensor.Desc
}

// DefineClassified declares an operation on rows of classes.
func DefineClassified[A spec.Call](o Classified[A]) *spec.Op {
	spirv.LinkMove()
	spirv.LinkNN()
	var call A
	args := slices.Clone(o.In)
	for i := range args {
		args[i].DTypes = planner.Floats
	}
	args[1].DTypes = indexing.DTypes
	perRow := len(args) - 2 // inputs with one value for each row
	return spec.Define(spec.Definition[A]{
		Name: o.Name, Group: "nn", Doc: o.Doc,
		In: args, Out: o.Out,
		Traits:   spec.Traits{Class: spec.AxisWise, ONNX: o.ONNX},
		Defaults: call, Kernels: append(o.Kernels, indexing.CheckKernels()...),
		Shape: func(_ A, in []tensor.Desc) ([]tensor.Desc, error) {
			if len(in[0].Shape) == 0 {
				return nil, planner.Invalid("a scalar has no classes")
			}
			rows, classes := in[0].Shape[:len(in[0].Shape)-1], in[0].Shape[len(in[0].Shape)-1]
			for i := 1; i < len(in); i++ {
				if !slices.Equal(in[i].Shape, rows) {
					return nil, planner.Invalid("input %s is %v (want %v)", args[i].Name, in[i], rows)
				}
				if i > 1 && in[i].DType != in[0].DType {
					return nil, planner.Invalid("input %s is %v (want %v)", args[i].Name, in[i], in[0].DType)
				}
			}
			if classes == 0 && in[1].Elems() > 0 {
				return nil, planner.Invalid("%v has no classes", in[0])
			}
			return o.Shape(in), nil
		},
		Plan: func(_ A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			if err := planner.CheckTarget(t, in...); err != nil {
				return nil, err
			}
			plan := &spec.Plan{}
			if in[1].Elems() == 0 {
				return plan, nil
			}
			v := lastDim(in[0].Shape)
			status, err := indexing.AddCheck(plan, t, spec.In(1), in[1].DType, v.Outer, v.N)
			if err != nil {
				return nil, err
			}
			return plan, o.Plan(plan, t, in, v, status)
		},
		Reference: func(_ A, in, out []*tensor.Host) { o.Reference(lastDim(in[0].Shape), in, out) },
		Tolerance: func(_ A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			return o.Tolerance(d, lastDim(in[0].Shape).N)
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost { return o.Cost(lastDim(in[0].Shape), in) },
		Cases: spec.CasesOf[A]{
			DTypes: planner.Floats, Calls: []A{call},
			Dims:   []spec.Dim{{Name: "rows"}, {Name: "classes", Tiles: []int{16}}, {Name: "bits", Only: []int{32, 64}}},
			Sizes:  [][]int{{2, 65535, 32}, {2, 65536, 64}, {3, 100000, 32}, {1, 1000000, 64}, {65535, 3, 32}, {65536, 2, 32}, {100000, 5, 64}},
			Inputs: func(_ A, d tensor.DType, dims []int) []tensor.Desc { return classifiedInputs(d, dims, perRow) },
			Bench: planner.BenchCasesOf(call, func(d tensor.DType, rows, columns int) []tensor.Desc {
				in := []tensor.Desc{tensor.Contiguous(d, rows, columns), tensor.Contiguous(tensor.I32, rows)}
				return append(in, slices.Repeat([]tensor.Desc{tensor.Contiguous(d, rows)}, perRow)...)
			}),
			Range: func(_ A, i int, in []tensor.Desc) (low, high float64) {
				n := in[0].Shape[len(in[0].Shape)-1]
				if i == 1 {
					return 0, float64(max(n-1, 0))
				}
				return o.Range(i, n)
			},
			Specials: true, Refused: o.Refused,
			Faults: func(d tensor.DType) [][]*tensor.Host { return classifiedFaults(d, perRow) },
		},
	})
}

// classifiedInputs returns classes [rows, n], targets [rows], and further tensors [rows].
// If the number of rows is even, rows are two dimensions.
func classifiedInputs(d tensor.DType, dims []int, perRow int) []tensor.Desc {
	if dims[1] == 0 && dims[0] > 0 {
		return nil
	}
	index, rows := tensor.I32, []int{dims[0]}
	if dims[2] == 64 {
		index = tensor.I64
	}
	if dims[0]%2 == 0 {
		rows = []int{2, dims[0] / 2}
	}
	in := []tensor.Desc{tensor.Contiguous(d, append(slices.Clone(rows), dims[1])...), tensor.Contiguous(index, rows...)}
	for range perRow {
		in = append(in, tensor.Contiguous(d, rows...))
	}
	return in
}

// classifiedFaults returns inputs with 5 rows of which one has a target out of range.
func classifiedFaults(d tensor.DType, perRow int) [][]*tensor.Host {
	const rows, n = 5, 7
	var sets [][]*tensor.Host
	for _, bad := range []struct {
		d     tensor.DType
		value float64
	}{{tensor.I32, -1}, {tensor.I32, n}, {tensor.I32, math.MaxInt32}, {tensor.I64, -1}, {tensor.I64, n}, {tensor.I64, 1<<32 + 1}} {
		targets := tensor.NewHost(tensor.Contiguous(bad.d, rows))
		targets.SetFloats([]float64{0, n - 1, 2, bad.value, 1})
		set := []*tensor.Host{tensor.NewHost(tensor.Contiguous(d, rows, n)), targets}
		for range perRow {
			set = append(set, tensor.NewHost(tensor.Contiguous(d, rows)))
		}
		sets = append(sets, set)
	}
	return sets
}
