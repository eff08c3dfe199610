package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ScatterAdd adds slices to a tensor of zeros whose dimension Axis has Size elements:
// out[a..., indices[i...], b...] is the sum of all updates[a..., i..., b...] with that index. It is
// the gradient of Gather with the same Axis, and of Embedding with Axis 0 and Size V. The order of
// the sums, errors and limits are those of ScatterElements.
type ScatterAdd struct {
	Size int `attr:"size,required" doc:"the size of dimension axis of the output, at most 2147483647"`
	Axis int `attr:"axis" doc:"the dimension of the indices in the output; a negative number counts from the end"`
}

// Spec returns the declaration.
func (ScatterAdd) Spec() *spec.Op { return scatterAddOp.Op() }

// Gradient declares the gradient of updates, by Gather.
func (c ScatterAdd) Gradient(t *spec.Tape) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		t.SetGradient(1, t.Call(Gather{Axis: c.Axis}, dy, t.In(0)))
	}
}

var scatterAddOp = spec.Declaration{Define: func() *spec.Op {
	return indexing.DefineScatter(indexing.Scatter[*ScatterAdd]{
		Name:     "scatter_add",
		Doc:      "Adds slices at indices along a dimension: the gradient of gather and embedding. An index out of range is an error.",
		Indices:  "any shape; each from -size to size-1",
		Updates:  "the shape of the output, with that of indices in place of axis",
		Out:      "the sums, of the dtype of updates",
		Defaults: &ScatterAdd{Size: 7},
		Data: func(c *ScatterAdd, indices, updates []int) ([]int, error) {
			return indexing.ScatterData(indices, updates, c.Axis, c.Size)
		},
		Address: func(c *ScatterAdd, data, indices []int) (indexing.Addressing, error) {
			return indexing.AxisIndices(data, indices, c.Axis)
		},
		Origin: func(c *ScatterAdd, in []*tensor.Host, at func(int, ...int) int, index []int) []int {
			k, more := c.Axis, len(in[1].Shape)
			if k < 0 {
				k += len(in[0].Shape)
			}
			return slices.Concat(index[:k], []int{at(in[0].Shape[k], index[k:k+more]...)}, index[k+more:])
		},
		Cases: spec.CasesOf[*ScatterAdd]{
			DTypes:  indexing.Reduced,
			Calls:   []*ScatterAdd{{Size: 7}, {Size: 1, Axis: 1}, {Size: 1000, Axis: -1}, {Size: 70_000}},
			Invalid: []*ScatterAdd{{}, {Size: -1}, {Size: 7, Axis: 2}, {Size: 7, Axis: -3}, {Size: math.MaxInt}},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F32, 3, 5)}, {tensor.Contiguous(tensor.I32, 3), tensor.Contiguous(tensor.F32, 4, 5)},
				{tensor.Contiguous(tensor.I32, 3), tensor.Contiguous(tensor.Bool, 3, 5)}, {tensor.Contiguous(tensor.I32, 3, 3), tensor.Contiguous(tensor.F32, 3)},
			},
			Dims:  []spec.Dim{{Name: "indices"}, {Name: "columns", Tiles: []int{4, 16}}, {Name: "bits", Only: []int{32, 64}}},
			Sizes: [][]int{{100_000, 1, 32}, {3, 300_000, 32}},
			Inputs: func(c *ScatterAdd, d tensor.DType, dims []int) []tensor.Desc {
				updates, bits := []int{dims[0], dims[1]}, tensor.I32
				if c.Axis != 0 {
					updates = []int{dims[1], dims[0]}
				}
				if dims[2] == 64 {
					bits = tensor.I64
				}
				if int64(dims[0])*int64(dims[1]) > 1<<21 || int64(c.Size)*int64(dims[1]) > 1<<20 {
					return nil
				}
				return []tensor.Desc{tensor.Contiguous(bits, dims[0]), tensor.Contiguous(d, updates...)}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, n := range []int{64, 1024, 8192} {
					cases = append(cases, spec.BenchCase{Call: ScatterAdd{Size: 2 * n}, In: []tensor.Desc{tensor.Contiguous(tensor.I32, n), tensor.Contiguous(d, n, 256)}})
				}
				return cases
			},
			Faults: indexing.BadUpdates([]int{7, 3}, []int{5}, []int{5, 3}, 7, false),
		},
	})
}}
