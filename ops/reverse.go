package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Reverse turns the order of the elements along each of Dims: element i becomes element
// n-1-i, where n is the size of the dimension. Each dimension is named once.
type Reverse struct {
	Dims []int `attr:"dims,required" doc:"the dimensions, each once; negative ones count from the end; none reverses nothing"`
}

// Spec returns the declaration.
func (Reverse) Spec() *spec.Op { return reverseOp.Op() }

// Gradient declares the gradient: dy reversed.
func (c Reverse) Gradient(t *spec.Tape) {
	linear(t, 0, c)
}

// turned reports for each of rank dimensions whether it is reversed.
// Errors: ErrInvalidArgument.
func (c Reverse) turned(rank int) ([]bool, error) {
	turned := make([]bool, rank)
	for _, dim := range c.Dims {
		d, err := planner.Axis(dim, rank)
		if err != nil {
			return nil, err
		}
		if turned[d] {
			return nil, planner.Invalid("dims %v (want each dimension once)", c.Dims)
		}
		turned[d] = true
	}
	return turned, nil
}

var reverseOp = spec.Declaration{Define: func() *spec.Op {
	return movement.Define(movement.Movement[*Reverse]{
		Name:     "reverse",
		Doc:      "Turns the order of the elements along dimensions.",
		In:       spec.Arg{Name: "in", Doc: "a tensor of any dtype and shape"},
		Out:      "the elements in the other order, of the shape of the input",
		Defaults: &Reverse{Dims: []int{-1}},
		Shape: func(c *Reverse, in []tensor.Desc) ([]int, error) {
			if _, err := c.turned(len(in[0].Shape)); err != nil {
				return nil, err
			}
			return slices.Clone(in[0].Shape), nil
		},
		Copies: func(c *Reverse, in []tensor.Desc, out tensor.Desc) []movement.Copy {
			turned, err := c.turned(len(out.Shape))
			if err != nil {
				return nil // Shape has refused it
			}
			src := planner.Operand{Ref: spec.In(0), Strides: slices.Clone(in[0].ElementStrides())}
			for d, n := range in[0].Shape {
				if turned[d] {
					src.Base += (n - 1) * src.Strides[d]
					src.Strides[d] *= -1
				}
			}
			return movement.Unroll(out.DType, movement.Copy{Shape: out.Shape, Src: src, Dst: planner.OperandOf(spec.Out(0), out)})
		},
		Origin: func(c *Reverse, in []*tensor.Host, index []int) (int, []int) {
			for _, d := range c.Dims {
				d = (d + len(index)) % len(index)
				index[d] = in[0].Shape[d] - 1 - index[d]
			}
			return 0, index
		},
		Cases: spec.CasesOf[*Reverse]{
			Calls:   []*Reverse{{Dims: []int{0}}, {Dims: []int{0, 1, 2}}, {Dims: []int{1}}, {Dims: []int{2, -3}}, {}},
			Invalid: []*Reverse{{Dims: []int{3}}, {Dims: []int{-4}}, {Dims: []int{1, 1}}, {Dims: []int{0, -3}}},
			Dims:    []spec.Dim{{Name: "planes"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 16}}},
			Inputs:  planner.SameInputs[*Reverse](1),
		},
	})
}}
