package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ScatterElements is data with other elements at some places. The element of updates at an index
// goes to the same index of data, but with indices[index] along dimension Axis. Updates have the
// shape of indices, and no dimension but Axis is larger than that of data. Reduction says how an
// update changes its element: none replaces it, add, mul, min and max combine both. If several
// updates have one element, they change it in the row-major order of the indices: the last one
// replaces, and each sum or product is rounded, in f32 for dtypes of 16 bits. So results are
// the same each time and on every device. Min and max are NaN if either is. Integers wrap.
// Negative indices and errors are those of Gather. More than 2^30 updates are ErrLimit.
type ScatterElements struct {
	Axis      int    `attr:"axis" onnx:"axis" doc:"the dimension of the indices; a negative number counts from the end"`
	Reduction string `attr:"reduction" onnx:"reduction" doc:"none, add, mul, min or max; empty means none"`
}

// Spec returns the declaration.
func (ScatterElements) Spec() *spec.Op { return scatterElementsOp.Op() }

// Gradient declares the gradients of data and updates, for the reductions none and add. Updates that another one replaces have the gradient 0.
func (c ScatterElements) Gradient(t *spec.Tape) {
	scatterGradient(t, c, GatherElements{Axis: c.Axis}, c.Reduction)
}

var scatterElementsOp = spec.Declaration{Define: func() *spec.Op {
	return indexing.DefineScatter(indexing.Scatter[*ScatterElements]{
		Name: "scatter_elements", ONNX: []string{"ScatterElements"},
		Doc:       "Changes single elements at indices along a dimension. Updates of one element count in their order; an index out of range is an error.",
		Indices:   "no dimension but axis is larger than in data; each from -n to n-1",
		Updates:   "of the shape of indices",
		Out:       "data with the updates",
		Defaults:  &ScatterElements{},
		Reduction: func(c *ScatterElements) string { return c.Reduction },
		Address: func(c *ScatterElements, data, indices []int) (indexing.Addressing, error) {
			return indexing.ElementIndices(data, indices, c.Axis)
		},
		Origin: func(c *ScatterElements, in []*tensor.Host, at func(int, ...int) int, index []int) []int {
			k := (c.Axis + len(index)) % len(index)
			index[k] = at(in[0].Shape[k], index...)
			return index
		},
		Cases: spec.CasesOf[*ScatterElements]{
			DTypes:  tensor.DTypes(),
			Calls:   []*ScatterElements{{}, {Axis: 1, Reduction: "add"}, {Axis: -1, Reduction: "mul"}, {Reduction: "max"}, {Axis: 1, Reduction: "min"}, {Axis: -1, Reduction: "none"}, {Reduction: "add"}},
			Invalid: []*ScatterElements{{Axis: 3}, {Axis: -4}, {Reduction: "sum"}},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.I32, 3, 4), tensor.Contiguous(tensor.F32, 3, 3)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.I32, 3, 4), tensor.Contiguous(tensor.F16, 3, 4)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F32, 3, 4)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.I32, 3, 5), tensor.Contiguous(tensor.F32, 3, 5)},
				{tensor.Contiguous(tensor.F32, 0, 4), tensor.Contiguous(tensor.I32, 3, 4), tensor.Contiguous(tensor.F32, 3, 4)},
			},
			Dims: []spec.Dim{{Name: "indices"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4}}, {Name: "bits", Only: []int{32, 64}}},
			// More updates of one element than an invocation may combine.
			Sizes: [][]int{{100_000, 1, 1, 32}},
			Inputs: func(c *ScatterElements, d tensor.DType, dims []int) []tensor.Desc {
				if c.Reduction != "" && c.Reduction != "none" && !indexing.Reduces(d) {
					return nil
				}
				in := elementInputs(c.Axis, d, dims)
				if in == nil || in[1].Elems() > 1<<21 {
					return nil
				}
				return append(in, tensor.Contiguous(d, in[1].Shape...))
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, s := range [][]int{{64, 256}, {512, 1024}, {4096, 1024}} {
					x := tensor.Contiguous(d, s...)
					cases = append(cases, spec.BenchCase{Call: ScatterElements{Axis: 1}, In: []tensor.Desc{x, tensor.Contiguous(tensor.I32, s[0], s[1]/4), tensor.Contiguous(d, s[0], s[1]/4)}})
				}
				return cases
			},
			Faults: indexing.BadUpdates([]int{7, 3}, []int{2, 3}, []int{2, 3}, 7, true),
		},
	})
}}
