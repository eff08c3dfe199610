package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// GatherElements copies single elements. The output has the shape of indices. Its element at
// an index is the element of data at the same index, but with indices[index] along dimension
// Axis. Both tensors have the same number of dimensions, and no dimension of indices but Axis
// is larger than that of data. Negative indices, errors and limits are those of Gather.
type GatherElements struct {
	Axis int `attr:"axis" onnx:"axis" doc:"the dimension of the indices; a negative number counts from the end"`
}

// Spec returns the declaration.
func (GatherElements) Spec() *spec.Op { return gatherElementsOp.Op() }

// Gradient declares the gradient of data, by ScatterElements.
func (c GatherElements) Gradient(t *spec.Tape) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		t.SetGradient(0, t.Call(ScatterElements{Axis: c.Axis, Reduction: "add"}, zeros(t, t.In(0)), t.In(1), dy))
	}
}

var gatherElementsOp = spec.Declaration{Define: func() *spec.Op {
	return indexing.DefineGather(indexing.Gather[*GatherElements]{
		Name: "gather_elements", ONNX: []string{"GatherElements"},
		Doc:      "Copies single elements at indices along a dimension. Negative ones count from the end; one out of range is an error.",
		Indices:  "no dimension but axis is larger than in data; each from -n to n-1",
		Out:      "of the shape of indices",
		Defaults: &GatherElements{},
		Address: func(c *GatherElements, in []tensor.Desc) (indexing.Addressing, error) {
			return indexing.ElementIndices(in[0].Shape, in[1].Shape, c.Axis)
		},
		Origin: func(c *GatherElements, in []*tensor.Host, at func(int, ...int) int, index []int) []int {
			k := c.Axis
			if k < 0 {
				k += len(index)
			}
			index[k] = at(in[0].Shape[k], index...)
			return index
		},
		Cases: spec.CasesOf[*GatherElements]{
			Calls:   []*GatherElements{{}, {Axis: 1}, {Axis: -1}},
			Invalid: []*GatherElements{{Axis: 3}, {Axis: -4}},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F32, 3, 4)}, {tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.I32, 3)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.I32, 3, 5)}, {tensor.Contiguous(tensor.F32, 0, 4), tensor.Contiguous(tensor.I32, 3, 4)},
				{tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.I32)},
			},
			Dims: []spec.Dim{{Name: "indices"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 16}}, {Name: "bits", Only: []int{32, 64}}},
			Inputs: func(c *GatherElements, d tensor.DType, dims []int) []tensor.Desc {
				return elementInputs(c.Axis, d, dims)
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, s := range [][]int{{64, 256}, {512, 1024}, {4096, 1024}} {
					cases = append(cases, spec.BenchCase{Call: GatherElements{Axis: 1}, In: []tensor.Desc{tensor.Contiguous(d, s...), tensor.Contiguous(tensor.I32, s...)}})
				}
				return cases
			},
			Faults: indexing.BadIndices([]int{7, 3}, []int{2, 3}, 7),
		},
	})
}}

// elementInputs are data of three dimensions and indices of single elements along an axis.
func elementInputs(axis int, d tensor.DType, dims []int) []tensor.Desc {
	data := []int{dims[1], 3, dims[2]}
	index := []int{dims[1], 3, max(dims[2]-1, 1)}
	k := (axis + 3) % 3
	index[k] = dims[0]
	if k == 2 { // all the rest is as in data
		index[0], data[1], index[1] = dims[1], 2, 2
	}
	elems, rows := int64(index[0])*int64(index[1])*int64(index[2]), int64(data[0])*int64(data[1])*int64(data[2])
	if data[k] == 0 && elems > 0 || dims[2] == 0 || max(elems, rows) > math.MaxUint32 {
		return nil
	}
	bits := tensor.I32
	if dims[3] == 64 {
		bits = tensor.I64
	}
	return []tensor.Desc{tensor.Contiguous(d, data...), tensor.Contiguous(bits, index...)}
}
