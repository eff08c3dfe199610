package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Gather copies slices of a tensor: out[a..., i..., b...] = data[a..., indices[i...], b...],
// where the index is that of dimension Axis. The indices are I32 or I64 and have any shape. An
// index from -n to -1 counts from the end of the dimension, whose size is n. If an index is
// less than -n, or n or more, the next Sync or Read returns an error and the output stays as
// it was. A dimension without elements is an error unless there are no indices. Data or results of
// 2^32 slices or more, and dimensions of 2^31 or more, are ErrLimit. A slice has the elements of the
// dimensions after Axis.
type Gather struct {
	Axis int `attr:"axis" onnx:"axis" doc:"the dimension of the indices; a negative number counts from the end"`
}

// Spec returns the declaration.
func (Gather) Spec() *spec.Op { return gatherOp.Op() }

// Gradient declares the gradient of data, by ScatterAdd.
func (c Gather) Gradient(t *spec.Tape) {
	dy, data := t.Gradient(0), t.Shape(t.In(0))
	if dy == spec.NoValue {
		return
	}
	axis := from(c.Axis, len(data))
	t.SetGradient(0, t.Call(ScatterAdd{Size: data[axis], Axis: axis}, t.In(1), dy))
}

var gatherOp = spec.Declaration{Define: func() *spec.Op {
	return indexing.DefineGather(indexing.Gather[*Gather]{
		Name: "gather", ONNX: []string{"Gather"},
		Doc:      "Copies slices at the given indices along a dimension. Negative ones count from the end; one out of range is an error.",
		Indices:  "any shape; each from -n to n-1 for a dimension of n",
		Out:      "the shape of data, with that of indices in place of axis",
		Defaults: &Gather{},
		Address: func(c *Gather, in []tensor.Desc) (indexing.Addressing, error) {
			return indexing.AxisIndices(in[0].Shape, in[1].Shape, c.Axis)
		},
		Origin: func(c *Gather, in []*tensor.Host, at func(int, ...int) int, index []int) []int {
			k, more := c.Axis, len(in[1].Shape)
			if k < 0 {
				k += len(in[0].Shape)
			}
			return slices.Concat(index[:k], []int{at(in[0].Shape[k], index[k:k+more]...)}, index[k+more:])
		},
		Cases: spec.CasesOf[*Gather]{
			Calls:   []*Gather{{}, {Axis: 1}, {Axis: -1}},
			Invalid: []*Gather{{Axis: 3}, {Axis: -4}},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F32, 3)}, {tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.I32, 3)},
				{tensor.Contiguous(tensor.F32, 0, 4), tensor.Contiguous(tensor.I32, 3)},
			},
			Dims:  []spec.Dim{{Name: "indices"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 16}}, {Name: "bits", Only: []int{32, 64}}},
			Sizes: [][]int{{3, 2, 70_000, 32}, {70_000, 2, 1, 32}},
			Inputs: func(c *Gather, d tensor.DType, dims []int) []tensor.Desc {
				data := []int{dims[1], 3, dims[2]}
				if c.Axis == -1 {
					data = []int{2, dims[2], dims[1]}
				}
				return gatherInputs(d, data, dims[0], dims[3], data[(c.Axis+3)%3])
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, n := range []int{64, 1024, 8192} {
					cases = append(cases, spec.BenchCase{Call: Gather{}, In: []tensor.Desc{tensor.Contiguous(d, 4*n, 256), tensor.Contiguous(tensor.I32, n)}})
				}
				return append(cases, spec.BenchCase{Call: Gather{Axis: 1}, In: []tensor.Desc{tensor.Contiguous(d, 4096, 1024), tensor.Contiguous(tensor.I32, 512)}})
			},
			Faults: indexing.BadIndices([]int{7, 3}, []int{2, 5}, 7),
		},
	})
}}

// gatherInputs are data and indices of a shape with count elements, of that many bits. It
// returns nil if there are indices and nothing to index.
func gatherInputs(d tensor.DType, data []int, count, bits, size int) []tensor.Desc {
	rows := int64(1)
	for _, n := range data {
		rows *= int64(n)
	}
	if size == 0 && count > 0 || count > 1<<20 || rows > math.MaxUint32 || size > 0 && rows/int64(size)*int64(count) > math.MaxUint32 {
		return nil
	}
	if out := rows / int64(max(size, 1)) * int64(count); out > 1<<21 && out < 1<<27 {
		return nil // These show no more than smaller ones, and take long. The larger ones are only planned.
	}
	index, shape := tensor.I32, []int{count}
	if bits == 64 {
		index = tensor.I64
	}
	if count%2 == 0 {
		shape = []int{count / 2, 2}
	}
	return []tensor.Desc{tensor.Contiguous(d, data...), tensor.Contiguous(index, shape...)}
}
