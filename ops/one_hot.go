package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// OneHot makes a new dimension Axis, of Depth elements, of a tensor of indices. The element whose
// place along it is the index is values[1], all others are values[0]. An index from -Depth to -1
// counts from the end. Any other index has values[0] everywhere, as in ONNX.
type OneHot struct {
	Depth int `attr:"depth,required" doc:"the size of the new dimension, at least 1 and less than 2^30"`
	Axis  int `attr:"axis" onnx:"axis" doc:"the place of the new dimension in the output; a negative number counts from the end"`
}

// Spec returns the declaration.
func (OneHot) Spec() *spec.Op { return oneHotOp.Op() }

// Gradient declares the gradient of the two values: the sums of dy where each of them is.
func (c OneHot) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	hot := t.Call(c, t.In(0), t.Constant(t.Desc(dy).DType, []int{2}, []float64{0, 1}))
	on := t.Call(ReduceSum{}, times(t, dy, hot))
	off := difference(t, t.Call(ReduceSum{}, dy), on)
	t.SetGradient(1, t.Call(Concat{}, t.Reshape(off, 1), t.Reshape(on, 1)))
}

var oneHotOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return spec.Define(spec.Definition[*OneHot]{
		Name: "one_hot", Group: "move", Doc: "Makes a dimension of indices: one value at the index, another elsewhere. An index out of range is nowhere.",
		In: []spec.Arg{
			{Name: "indices", Doc: "i32 or i64 of any shape", DTypes: indexing.DTypes},
			{Name: "values", Doc: "[2] of any dtype: the value elsewhere, and the value at the index"},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "the shape of indices with the new dimension, of the dtype of values"}},
		Traits:   spec.Traits{Class: spec.Indexing, ONNX: []string{"OneHot"}},
		Defaults: &OneHot{Depth: 10},
		Kernels:  indexing.OneHotKernels(),
		Shape: func(c *OneHot, in []tensor.Desc) ([]tensor.Desc, error) {
			if c.Depth < 1 || c.Depth >= 1<<30 {
				return nil, planner.Invalid("depth %d (want 1 to 2^30-1)", c.Depth)
			}
			if !slices.Equal(in[1].Shape, []int{2}) {
				return nil, planner.Invalid("input values is %v (want [2])", in[1])
			}
			k, err := planner.Axis(c.Axis, len(in[0].Shape)+1)
			if err != nil {
				return nil, err
			}
			return []tensor.Desc{tensor.Contiguous(in[1].DType, slices.Insert(slices.Clone(in[0].Shape), k, c.Depth)...)}, nil
		},
		Plan: func(c *OneHot, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			k, err := planner.Axis(c.Axis, len(out[0].Shape))
			if err != nil {
				return nil, err
			}
			return indexing.PlanOneHot(t, in, c.Depth, planner.ViewAxis(out[0].Shape, k).Inner, out[0])
		},
		Reference: func(c *OneHot, in, out []*tensor.Host) {
			k, size := c.Axis, out[0].DType.Size()
			if k < 0 {
				k += len(out[0].Shape)
			}
			at := in[1].ElementStrides()[0]
			out[0].Each(func(index []int, to int) {
				v, from := in[0].At(slices.Delete(slices.Clone(index), k, k+1)...), 0
				if v == float64(index[k]) || v == float64(index[k]-c.Depth) {
					from = at
				}
				copy(out[0].Data[to*size:(to+1)*size], in[1].Data[from*size:])
			})
		},
		Tolerance: func(*OneHot, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "bits are moved"}
		},
		Cost: func(c *OneHot, in []tensor.Desc) spec.Cost {
			return spec.Cost{Bytes: int64(in[0].Elems()) * int64(in[0].DType.Size()+c.Depth*in[1].DType.Size())}
		},
		Cases: spec.CasesOf[*OneHot]{
			DTypes:  tensor.DTypes(),
			Calls:   []*OneHot{{Depth: 10}, {Depth: 7, Axis: -1}, {Depth: 3, Axis: 1}, {Depth: 1, Axis: -2}},
			Invalid: []*OneHot{{}, {Depth: -1}, {Depth: 1 << 30}, {Depth: 2, Axis: 3}, {Depth: 2, Axis: -4}},
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F32, 2)}, {tensor.Contiguous(tensor.I32, 3), tensor.Contiguous(tensor.F32, 3)}},
			Dims:    []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4}}, {Name: "bits", Only: []int{32, 64}}},
			Sizes:   [][]int{{2, 300_000, 32}, {300_000, 1, 64}},
			Inputs: func(_ *OneHot, d tensor.DType, dims []int) []tensor.Desc {
				index := tensor.I32
				if dims[2] == 64 {
					index = tensor.I64
				}
				if int64(dims[0])*int64(dims[1]) > 1<<20 {
					return nil
				}
				return []tensor.Desc{tensor.Contiguous(index, dims[0], dims[1]), tensor.Contiguous(d, 2)}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, s := range [][]int{{64, 256}, {512, 1024}, {4096, 1024}} {
					cases = append(cases, spec.BenchCase{Call: OneHot{Depth: s[1], Axis: -1}, In: []tensor.Desc{tensor.Contiguous(tensor.I32, s[0]), tensor.Contiguous(d, 2)}})
				}
				return cases
			},
			Range: func(c *OneHot, i int, in []tensor.Desc) (float64, float64) {
				if i == 0 {
					return -float64(c.Depth) - 2, float64(c.Depth) + 1
				}
				if in[1].DType == tensor.Bool {
					return 0, 1
				}
				return 0, 100
			},
			Specials: true,
		},
	})
}}
