package reduction

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Arg describes the search for the index of the largest or least element along a
// dimension, with attributes of type A.
type Arg[A spec.Call] struct {
	// Name, Doc and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// Call returns the attributes that name a dimension. Dim returns the dimension that
	// attributes name. Last says whether the last of equal elements counts.
	Call func(dim int, last bool) A
	Dim  func(A) int
	Last func(A) bool
	// Sign multiplies the elements. The operation then finds the largest product.
	Sign float32
}

const (
	argStat  = "reduce/arg_max_stat"
	argIndex = "reduce/arg_max"
)

// indexParams is the push-constant block of reduce/arg_max.comp. Count is the number of
// results, and Words the size of an accumulator in words of 4 bytes.
type indexParams struct{ Count, Words uint32 }

// argDTypes are the element types of Arg.
var argDTypes = slices.Concat(planner.Floats, planner.Integers)

// DefineArg declares the search for an index. The first of several equal elements counts, or the
// last one. NaN is larger than any number.
func DefineArg[A spec.Call](r Arg[A]) *spec.Op {
	spirv.LinkReduce()
	f := Reducer{Shader: argStat, Values: 1, Indexed: true, Sign: r.Sign}
	view := func(a A, d tensor.Desc) (planner.AxisView, error) {
		k, err := planner.Axis(r.Dim(a), len(d.Shape))
		if err != nil {
			return planner.AxisView{}, err
		}
		return planner.ViewAxis(d.Shape, k), nil
	}
	return spec.Define(spec.Definition[A]{
		Name: r.Name, Group: "reduce", Doc: r.Doc,
		In:       []spec.Arg{{Name: "in", Doc: "a tensor of any shape but a scalar", DTypes: argDTypes}},
		Out:      []spec.Arg{{Name: "out", Doc: "I32, of the shape of in without the dimension"}},
		Traits:   spec.Traits{Class: spec.Reduction, ONNX: r.ONNX},
		Kernels:  append(f.Kernels(argDTypes...), spec.Kernel{Name: argIndex + ".i32", Params: indexParams{}}),
		Defaults: r.Call(-1, false),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			k, err := planner.Axis(r.Dim(a), len(in[0].Shape))
			if err != nil {
				return nil, err
			}
			set := make([]bool, len(in[0].Shape))
			set[k] = true
			out := tensor.Contiguous(tensor.I32, reducedShape(in[0].Shape, set, false)...)
			if in[0].Shape[k] == 0 && out.Elems() > 0 {
				return nil, noIdentity(in[0])
			}
			return []tensor.Desc{out}, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			if err := planner.CheckTarget(t, in[0]); err != nil {
				return nil, err
			}
			plan := &spec.Plan{}
			if out[0].Elems() == 0 {
				return plan, nil
			}
			v, err := view(a, in[0])
			if err != nil {
				return nil, err
			}
			if v.N > math.MaxInt32 {
				return nil, &errs.LimitError{Name: "index", Want: int64(v.N), Have: math.MaxInt32}
			}
			f := f
			if r.Last(a) {
				f.Sign *= 2
			}
			found, err := Add(plan, t, f, in[0].DType, v, spec.Ref{}, spec.In(0))
			if err != nil {
				return nil, err
			}
			bytes := f.AccumulatorBytes(in[0].DType)
			return plan, AddPerRow(plan, t, argIndex, tensor.I32, out[0].Elems(), func(count int) any {
				return indexParams{uint32(count), uint32(bytes / 4)}
			}, spec.Ref{}, RowOperand{found, bytes}, RowOperand{spec.Out(0), 4})
		},
		Strategies: Strategies[A],
		SizeClass: func(a A, in []tensor.Desc) []int {
			v, err := view(a, in[0])
			if err != nil {
				return nil
			}
			return v.Sizes()
		},
		Reference: func(a A, in, out []*tensor.Host) {
			v, _ := view(a, in[0].Desc)
			x, sign, last, results := in[0].Floats(), float64(r.Sign), r.Last(a), []float64{}
			EachColumn(v, func(at func(int) int) {
				best := 0
				for r := range v.N {
					a, b := x[at(best)]*sign, x[at(r)]*sign
					if b > a || b != b && a == a || last && (a == b || a != a && b != b) {
						best = r
					}
				}
				results = append(results, float64(best))
			})
			out[0].SetFloats(results)
		},
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "an index is right or wrong"}
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			return spec.Cost{Flops: int64(in[0].Elems()), Bytes: in[0].Bytes()}
		},
		Cases: spec.CasesOf[A]{
			DTypes: argDTypes,
			Calls:  []A{r.Call(-1, false), r.Call(1, true), r.Call(0, false), r.Call(-1, true)},
			Dims:   AxisDims, Sizes: AxisSizes,
			Inputs: func(_ A, d tensor.DType, dims []int) []tensor.Desc {
				if slices.Contains(dims, 0) {
					return nil
				}
				return []tensor.Desc{tensor.Contiguous(d, dims...)}
			},
			Bench: planner.BenchCases(r.Call(-1, false), 1),
			Low:   -4, High: 4, Specials: true,
			Range: func(_ A, _ int, in []tensor.Desc) (low, high float64) {
				if d := in[0].DType; isInteger(d) && d != tensor.I32 && d != tensor.I64 {
					return planner.IntegerRange(d)
				}
				return -4, 4
			},
			Invalid: []A{r.Call(3, false), r.Call(-4, false)},
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32)}, {tensor.Contiguous(tensor.Bool, 3)}, {tensor.Contiguous(tensor.F32, 3, 0)}},
		},
	})
}

// EachColumn calls f for every column of v. at returns the position of the column's r-th
// element, counted in elements. References use it.
func EachColumn(v planner.AxisView, f func(at func(r int) int)) {
	for o := range v.Outer {
		for i := range v.Inner {
			f(func(r int) int { return (o*v.N+r)*v.Inner + i })
		}
	}
}

// AxisDims are the free dimensions in the cases of operations along one dimension.
var AxisDims = []spec.Dim{{Name: "outer"}, {Name: "n", Tiles: []int{16}}, {Name: "inner", Tiles: []int{4, 8}}}

// AxisSizes are sizes for AxisDims in which one of the three dimensions is long.
var AxisSizes = [][]int{
	{1, 1, 65535}, {1, 1, 65536}, {2, 1, 100000}, {1, 1, 1000000}, {1, 65535, 2}, {1, 65536, 4}, {2, 100000, 3},
	{65535, 1, 2}, {65536, 2, 2}, {100000, 1, 3}, {600, 1, 1024}, {600, 1, 1000}, {1000, 3, 67}, {3, 5, 100000},
}
