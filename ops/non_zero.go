package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// NonZero finds the elements that are not zero, in row-major order. NaN is not zero, and −0 is. Output
// indices has the index of each along every dimension, [rank,n] for n elements of the input, a column for each
// that is found, and zeros in the columns that are left. Output count, [1], says how many are found. It is on the
// device: Device.Find reads it, and returns the columns that count, as NonZero of ONNX. The indices are I32, or I64
// with Wide. The input has at most 2^30 elements.
type NonZero struct {
	Wide bool `attr:"wide" doc:"the indices are i64, as in ONNX, instead of i32"`
}

// Spec returns the declaration.
func (NonZero) Spec() *spec.Op { return nonZeroOp.Op() }

var nonZeroOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	spirv.LinkReduce()
	return spec.Define(spec.Definition[*NonZero]{
		Name: "non_zero", Group: "move",
		Doc: "The indices of the elements that are not zero, in row-major order, and how many there are. NaN is not zero, and -0 is.",
		In:  []spec.Arg{{Name: "in", Doc: "any dtype and shape; n elements"}},
		Out: []spec.Arg{
			{Name: "indices", Doc: "[rank,n], i32 or i64: a column for each element that is found, then zeros"},
			{Name: "count", Doc: "[1], i32: how many are found"},
		},
		Traits:    spec.Traits{Class: spec.Indexing, ONNX: []string{"NonZero"}},
		Kernels:   indexing.NonZeroKernels(),
		WritesAll: true,
		Counts:    func(*NonZero, []tensor.Desc) int { return 1 },
		Shape: func(c *NonZero, in []tensor.Desc) ([]tensor.Desc, error) {
			d := tensor.I32
			if c.Wide {
				d = tensor.I64
			}
			indices := tensor.Contiguous(d, len(in[0].Shape), in[0].Elems())
			return []tensor.Desc{indices, tensor.Contiguous(tensor.I32, 1)}, indices.Check()
		},
		Plan: func(_ *NonZero, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			return indexing.PlanNonZero(t, in[0], out[0])
		},
		Reference: func(_ *NonZero, in, out []*tensor.Host) {
			n, found := in[0].Elems(), 0
			values, k := in[0].Floats(), 0
			indices := make([]float64, out[0].Elems())
			in[0].Each(func(index []int, _ int) {
				if values[k] != 0 {
					for d, i := range index {
						indices[d*n+found] = float64(i)
					}
					found++
				}
				k++
			})
			out[0].SetFloats(indices)
			out[1].SetFloats([]float64{float64(found)})
		},
		Tolerance: func(*NonZero, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "indices are exact"}
		},
		Cost: func(c *NonZero, in []tensor.Desc) spec.Cost {
			each := 4
			if c.Wide {
				each = 8
			}
			return spec.Cost{Flops: int64(in[0].Elems()), Bytes: in[0].Bytes() + int64(in[0].Elems())*int64(each*len(in[0].Shape))}
		},
		Cases: spec.CasesOf[*NonZero]{
			DTypes: tensor.DTypes(), Calls: []*NonZero{{}, {Wide: true}}, Specials: true,
			Low: 0, High: 1, // the ends come often
			Range: func(_ *NonZero, _ int, in []tensor.Desc) (float64, float64) {
				if in[0].DType == tensor.I64 { // the low word of the upper end is 0
					return 0, 1 << 33
				}
				return 0, 1
			},
			Dims:  []spec.Dim{{Name: "rows"}, {Name: "columns"}},
			Sizes: [][]int{{3, 66_001}},
			Inputs: func(_ *NonZero, d tensor.DType, dims []int) []tensor.Desc {
				shape := [][]int{{dims[0], dims[1]}, {dims[0] * dims[1]}, {dims[0], 2, dims[1]}, {dims[1], 1, dims[0]}}[dims[0]%4]
				if dims[0] == 1 && dims[1] == 1 {
					shape = nil
				}
				in := tensor.Contiguous(d, shape...)
				if int64(dims[0])*int64(dims[1])*2 > indexing.MostFound {
					return nil
				}
				return []tensor.Desc{in}
			},
			Bench: planner.BenchCases(&NonZero{}, 1),
		},
	})
}}
