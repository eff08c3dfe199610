package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Concat joins tensors along dimension Dim, which counts from the end if it is
// negative. In all other dimensions they are alike.
type Concat struct {
	Dim int `attr:"dim" doc:"the dimension they are joined along; negative counts from the end"`
}

// Spec returns the declaration.
func (Concat) Spec() *spec.Op { return concatOp }

// dim counts from 0 on.
func (c Concat) dim(rank int) int {
	if c.Dim < 0 {
		return c.Dim + rank
	}
	return c.Dim
}

var concatOp = newMover(mover{
	name: "concat", call: Concat{},
	doc:   "Joins tensors along a dimension.",
	in:    spec.Arg{Name: "in", Doc: "tensors of one dtype, alike in all dimensions but that one", Variadic: true},
	out:   "the tensors one after the other",
	bench: benchCases(Concat{}, 2),
	shape: func(c spec.Call, in []tensor.Desc) ([]int, error) {
		shape := slices.Clone(in[0].Shape)
		dim := c.(Concat).dim(len(shape))
		if dim < 0 || dim >= len(shape) {
			return nil, invalid("concat", "dimension %d of %v", c.(Concat).Dim, in[0])
		}
		for i, d := range in[1:] {
			if len(d.Shape) != len(shape) {
				return nil, invalid("concat", "input %d is %v, the first one %v", i+1, d, in[0])
			}
			for k, n := range d.Shape {
				if k == dim {
					shape[k] += n
				} else if n != shape[k] {
					return nil, invalid("concat", "input %d is %v, the first one %v (want them alike but for dimension %d)", i+1, d, in[0], dim)
				}
			}
		}
		return shape, nil
	},
	plan: func(plan *spec.Plan, c spec.Call, t *spec.Target, in []tensor.Desc, out tensor.Desc) error {
		dst := placeOf(spec.Out(0), out)
		dim := c.(Concat).dim(len(out.Shape))
		for i, d := range in {
			if err := addCopy(plan, t, out.DType, d.Shape, placeOf(spec.In(i), d), dst); err != nil {
				return err
			}
			dst.base += d.Shape[dim] * dst.steps[dim]
		}
		return nil
	},
	from: func(c spec.Call, in []*tensor.Host, index []int) (int, []int) {
		dim := c.(Concat).Dim
		if dim < 0 {
			dim += len(index)
		}
		i := 0
		for index[dim] >= in[i].Shape[dim] {
			index[dim] -= in[i].Shape[dim]
			i++
		}
		return i, index
	},
	calls:   []spec.Call{Concat{Dim: -1}, Concat{Dim: 1}},
	invalid: []spec.Call{Concat{Dim: 3}, Concat{Dim: -4}},
	refused: [][]tensor.Desc{
		{tensor.Contiguous(tensor.F32)},
		{tensor.Contiguous(tensor.F32, 2, 3, 4), tensor.Contiguous(tensor.F32, 2, 3)},
		{tensor.Contiguous(tensor.F32, 2, 3, 4), tensor.Contiguous(tensor.F32, 2, 4, 5)},
		{tensor.Contiguous(tensor.F32, 2, 3, 4), tensor.Contiguous(tensor.F16, 2, 3, 4)},
	},
	dims: []spec.Dim{{Name: "tensors", Only: []int{2, 1, 11}}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 16}}},
	inputs: func(d tensor.DType, dims []int) []tensor.Desc {
		var in []tensor.Desc
		for range dims[0] {
			in = append(in, tensor.Contiguous(d, 2, dims[1], dims[2]))
		}
		return in
	},
})
