package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ScatterND is data with other slices at some places. The last dimension of indices holds k
// numbers, an index into the first k dimensions of data: updates[i..., c...] goes to
// data[indices[i..., :], c...]. Reduction, the order of several updates of one slice, errors and
// limits are those of ScatterElements.
type ScatterND struct {
	Reduction string `attr:"reduction" onnx:"reduction" doc:"none, add, mul, min or max; empty means none"`
}

// Spec returns the declaration.
func (ScatterND) Spec() *spec.Op { return scatterNDOp.Op() }

// Gradient declares the gradients of data and updates, for the reductions none and add. Updates that another one replaces have the gradient 0.
func (c ScatterND) Gradient(t *spec.Tape) {
	scatterGradient(t, c, GatherND{}, c.Reduction)
}

var scatterNDOp = spec.Declaration{Define: func() *spec.Op {
	return indexing.DefineScatter(indexing.Scatter[*ScatterND]{
		Name: "scatter_nd", ONNX: []string{"ScatterND"},
		Doc:       "Changes slices at indices along the first dimensions. Updates of one slice count in their order; an index out of range is an error.",
		Indices:   "[i...,k], k components of an index; each from -n to n-1",
		Updates:   "[i...], then the dimensions of data without an index",
		Out:       "data with the updates",
		Defaults:  &ScatterND{},
		Reduction: func(c *ScatterND) string { return c.Reduction },
		Address: func(_ *ScatterND, data, indices []int) (indexing.Addressing, error) {
			return indexing.TupleIndices(data, indices, 0)
		},
		Origin: func(_ *ScatterND, in []*tensor.Host, at func(int, ...int) int, index []int) []int {
			last := len(in[1].Shape) - 1
			var to []int
			for j := range in[1].Shape[last] {
				to = append(to, at(in[0].Shape[j], append(slices.Clone(index[:last]), j)...))
			}
			return append(to, index[last:]...)
		},
		Cases: spec.CasesOf[*ScatterND]{
			DTypes:  tensor.DTypes(),
			Calls:   []*ScatterND{{}, {Reduction: "add"}, {Reduction: "mul"}, {Reduction: "min"}, {Reduction: "max"}},
			Invalid: []*ScatterND{{Reduction: "sum"}},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.I32, 3, 1), tensor.Contiguous(tensor.F32, 3, 3)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.I32, 3, 3), tensor.Contiguous(tensor.F32, 3)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.I32, 3, 1), tensor.Contiguous(tensor.I32, 3, 4)},
			},
			Dims: []spec.Dim{{Name: "indices"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4}}, {Name: "components", Only: []int{2, 1, 3}}, {Name: "bits", Only: []int{32, 64}}},
			Inputs: func(c *ScatterND, d tensor.DType, dims []int) []tensor.Desc {
				if c.Reduction != "" && !indexing.Reduces(d) || slices.Contains(dims[1:3], 0) {
					return nil
				}
				data, k, bits := []int{dims[1], 3, dims[2]}, dims[3], tensor.I32
				if dims[4] == 64 {
					bits = tensor.I64
				}
				if int64(dims[0])*int64(dims[2])*3 > 1<<21 || int64(dims[1])*int64(dims[2])*3 > 1<<21 {
					return nil
				}
				return []tensor.Desc{tensor.Contiguous(d, data...), tensor.Contiguous(bits, dims[0], k), tensor.Contiguous(d, append([]int{dims[0]}, data[k:]...)...)}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, n := range []int{64, 1024, 8192} {
					cases = append(cases, spec.BenchCase{Call: ScatterND{}, In: []tensor.Desc{tensor.Contiguous(d, 2*n, 256), tensor.Contiguous(tensor.I32, n, 1), tensor.Contiguous(d, n, 256)}})
				}
				return cases
			},
			Faults: indexing.BadUpdates([]int{7, 7, 3}, []int{5, 2}, []int{5, 3}, 7, true),
		},
	})
}}
