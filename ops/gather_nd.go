package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// GatherND copies slices of a tensor. The last dimension of indices holds k numbers, an index
// into the k dimensions of data after the first BatchDims: out[b..., i..., c...] =
// data[b..., indices[b..., i..., :], c...]. The first BatchDims dimensions of both are the
// same. Negative indices, errors and limits are those of Gather.
type GatherND struct {
	BatchDims int `attr:"batch_dims" onnx:"batch_dims" doc:"how many dimensions data and indices share, at least 0"`
}

// Spec returns the declaration.
func (GatherND) Spec() *spec.Op { return gatherNDOp.Op() }

// Gradient declares the gradient of data, by ScatterND. There is none with BatchDims.
func (c GatherND) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	if c.BatchDims > 0 {
		t.Refuse("batch_dims %d (want 0)", c.BatchDims)
		return
	}
	t.SetGradient(0, t.Call(ScatterND{Reduction: "add"}, zeros(t, t.In(0)), t.In(1), dy))
}

var gatherNDOp = spec.Declaration{Define: func() *spec.Op {
	return indexing.DefineGather(indexing.Gather[*GatherND]{
		Name: "gather_nd", ONNX: []string{"GatherND"},
		Doc:      "Copies slices at indices along several dimensions. Negative ones count from the end; one out of range is an error.",
		Indices:  "[b...,i...,k], k components of an index; each from -n to n-1",
		Out:      "[b...,i...], then the dimensions of data without an index",
		Defaults: &GatherND{},
		Address: func(c *GatherND, in []tensor.Desc) (indexing.Addressing, error) {
			return indexing.TupleIndices(in[0].Shape, in[1].Shape, c.BatchDims)
		},
		Origin: func(c *GatherND, in []*tensor.Host, at func(int, ...int) int, index []int) []int {
			last := len(in[1].Shape) - 1
			from := slices.Clone(index[:c.BatchDims])
			for j := range in[1].Shape[last] {
				from = append(from, at(in[0].Shape[c.BatchDims+j], append(slices.Clone(index[:last]), j)...))
			}
			return append(from, index[last:]...)
		},
		Cases: spec.CasesOf[*GatherND]{
			Calls:   []*GatherND{{}, {BatchDims: 1}},
			Invalid: []*GatherND{{BatchDims: -1}, {BatchDims: 2}, {BatchDims: 4}},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F32, 3, 2)}, {tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.I32, 3)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.I32, 5, 0)}, {tensor.Contiguous(tensor.F32, 3, 0), tensor.Contiguous(tensor.I32, 5, 2)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.I32)}, {tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.I32, 1)},
			},
			Dims: []spec.Dim{{Name: "indices"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 16}}, {Name: "components", Only: []int{2, 1, 3}}, {Name: "bits", Only: []int{32, 64}}},
			Inputs: func(c *GatherND, d tensor.DType, dims []int) []tensor.Desc {
				data, index := []int{3, dims[1], 2, dims[2]}, []int{dims[0], min(dims[3], 3-c.BatchDims)}
				if c.BatchDims == 1 {
					index = append([]int{3}, index...)
				}
				if slices.Contains(dims[1:3], 0) || 6*int64(dims[1])*int64(dims[2]) > math.MaxUint32 {
					return nil
				}
				bits := tensor.I32
				if dims[4] == 64 {
					bits = tensor.I64
				}
				return []tensor.Desc{tensor.Contiguous(d, data...), tensor.Contiguous(bits, index...)}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, n := range []int{64, 1024, 8192} {
					cases = append(cases, spec.BenchCase{Call: GatherND{}, In: []tensor.Desc{tensor.Contiguous(d, n, 4, 256), tensor.Contiguous(tensor.I32, n, 2)}})
				}
				return cases
			},
			Faults: indexing.BadIndices([]int{7, 7, 3}, []int{5, 2}, 7),
		},
	})
}}
