package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Concat joins tensors along dimension Dim. A negative Dim counts from the end. The tensors
// must have the same sizes in all other dimensions.
type Concat struct {
	Dim int `attr:"dim" onnx:"axis" doc:"the dimension along which the tensors are joined; a negative number counts from the end"`
}

// Spec returns the declaration.
func (Concat) Spec() *spec.Op { return concatOp.Op() }

// Gradient declares the gradients: the part of dy that each tensor is.
func (c Concat) Gradient(t *spec.Tape) {
	dy, start := t.Gradient(0), 0
	if dy == spec.NoValue {
		return
	}
	dim := from(c.Dim, len(t.Shape(dy)))
	for i := range t.Inputs() {
		n := t.Shape(t.In(i))[dim]
		if t.Needs(i) {
			t.SetGradient(i, t.Narrow(dy, dim, start, n))
		}
		start += n
	}
}

// shape checks the inputs, and returns the output's shape.
func (c Concat) shape(in []tensor.Desc) ([]int, error) {
	shape := slices.Clone(in[0].Shape)
	dim, err := planner.Axis(c.Dim, len(shape))
	if err != nil {
		return nil, err
	}
	for i, d := range in[1:] {
		if len(d.Shape) != len(shape) {
			return nil, planner.Invalid("input %d is %v, the first one %v", i+1, d, in[0])
		}
		for k, n := range d.Shape {
			if k == dim {
				shape[k] += n
			} else if n != shape[k] {
				return nil, planner.Invalid("input %d is %v, the first one %v (want them alike but for dimension %d)", i+1, d, in[0], dim)
			}
		}
	}
	return shape, nil
}

var concatOp = spec.Declaration{Define: func() *spec.Op {
	return movement.Define(movement.Movement[*Concat]{
		Name: "concat", ONNX: []string{"Concat"},
		Doc:   "Joins tensors along a dimension.",
		In:    spec.Arg{Name: "in", Doc: "tensors of the same dtype, with the same size in all dimensions but dim", Variadic: true},
		Out:   "the tensors one after the other",
		Shape: (*Concat).shape,
		Copies: func(c *Concat, in []tensor.Desc, out tensor.Desc) []movement.Copy {
			dim, err := planner.Axis(c.Dim, len(out.Shape))
			if err != nil {
				return nil // Shape has refused it
			}
			dst := planner.OperandOf(spec.Out(0), out)
			copies := make([]movement.Copy, len(in))
			for i, d := range in {
				copies[i] = movement.Copy{Shape: d.Shape, Src: planner.OperandOf(spec.In(i), d), Dst: dst}
				dst.Base += d.Shape[dim] * dst.Strides[dim]
			}
			return copies
		},
		Origin: func(c *Concat, in []*tensor.Host, index []int) (int, []int) {
			dim := c.Dim
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
		Cases: spec.CasesOf[*Concat]{
			Calls:   []*Concat{{Dim: -1}, {Dim: 1}},
			Invalid: []*Concat{{Dim: 3}, {Dim: -4}},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32)},
				{tensor.Contiguous(tensor.F32, 2, 3, 4), tensor.Contiguous(tensor.F32, 2, 3)},
				{tensor.Contiguous(tensor.F32, 2, 3, 4), tensor.Contiguous(tensor.F32, 2, 4, 5)},
				{tensor.Contiguous(tensor.F32, 2, 3, 4), tensor.Contiguous(tensor.F16, 2, 3, 4)},
			},
			Dims:  []spec.Dim{{Name: "tensors", Only: []int{2, 1, 11}}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 16}}},
			Sizes: [][]int{{1001, 1, 3}},
			Inputs: func(_ *Concat, d tensor.DType, dims []int) []tensor.Desc {
				if dims[0] > 100 && d != tensor.F32 && d != tensor.U8 {
					return nil // many inputs are planned alike for all element types
				}
				var in []tensor.Desc
				for range dims[0] {
					in = append(in, tensor.Contiguous(d, 2, dims[1], dims[2]))
				}
				return in
			},
			Bench: planner.BenchCases(Concat{}, 2),
		},
	})
}}
