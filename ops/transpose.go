package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Transpose reorders dimensions: dimension i of the output is dimension Perm[i] of the input.
// A negative number in Perm counts from the end. An empty Perm reverses the order of all
// dimensions.
type Transpose struct {
	Perm []int `attr:"perm" onnx:"perm" doc:"for each dimension of the output, the dimension of the input; an empty list reverses the order"`
}

// Spec returns the declaration.
func (Transpose) Spec() *spec.Op { return transposeOp.Op() }

// Gradient declares the gradient: dy with the opposite order of dimensions.
func (c Transpose) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	back := make([]int, len(c.Perm))
	for i, d := range c.Perm {
		back[from(d, len(back))] = i
	}
	t.SetGradient(0, t.Transpose(dy, back...))
}

// perm is the complete permutation for a rank, counted from 0.
// Errors: ErrInvalidArgument.
func (c Transpose) perm(rank int) ([]int, error) {
	perm, seen := make([]int, rank), make([]bool, rank)
	if len(c.Perm) != 0 && len(c.Perm) != rank {
		return nil, planner.Invalid("perm %v (want %d dimensions)", c.Perm, rank)
	}
	for i := range perm {
		d := rank - 1 - i
		if len(c.Perm) != 0 {
			if d = c.Perm[i]; d < 0 {
				d += rank
			}
		}
		if d < 0 || d >= rank || seen[d] {
			return nil, planner.Invalid("perm %v (want each of %d dimensions once)", c.Perm, rank)
		}
		perm[i], seen[d] = d, true
	}
	return perm, nil
}

// Source declares that the result has the elements of the input in another order.
func (c Transpose) Source(in tensor.Desc) (tensor.Desc, bool) {
	perm, err := c.perm(len(in.Shape))
	if err != nil {
		return tensor.Desc{}, false
	}
	return tensor.Desc{DType: in.DType, Shape: movement.Permute(in.Shape, perm), Strides: movement.Permute(in.ElementStrides(), perm)}, true
}

var transposeOp = spec.Declaration{Define: func() *spec.Op {
	return movement.Define(movement.Movement[*Transpose]{
		Name: "transpose", ONNX: []string{"Transpose"},
		Doc: "Reorders the dimensions of a tensor.",
		In:  spec.Arg{Name: "in", Doc: "a tensor of any dtype and shape"},
		Out: "the same elements; dimension i is dimension perm[i] of the input",
		Shape: func(c *Transpose, in []tensor.Desc) ([]int, error) {
			perm, err := c.perm(len(in[0].Shape))
			if err != nil {
				return nil, err
			}
			return movement.Permute(in[0].Shape, perm), nil
		},
		Copies: func(c *Transpose, in []tensor.Desc, out tensor.Desc) []movement.Copy {
			perm, err := c.perm(len(in[0].Shape))
			if err != nil {
				return nil // Shape has refused it
			}
			src := planner.Operand{Ref: spec.In(0), Strides: movement.Permute(in[0].ElementStrides(), perm)}
			return []movement.Copy{{Shape: out.Shape, Src: src, Dst: planner.OperandOf(spec.Out(0), out)}}
		},
		Origin: func(c *Transpose, in []*tensor.Host, index []int) (int, []int) {
			rank := len(index)
			at := make([]int, rank)
			for i, k := range index {
				d := rank - 1 - i
				if len(c.Perm) != 0 {
					d = (c.Perm[i] + rank) % rank
				}
				at[d] = k
			}
			return 0, at
		},
		Cases: spec.CasesOf[*Transpose]{
			Calls:   []*Transpose{{Perm: []int{0, 2, 1}}, {Perm: []int{1, 0, 2}}, {Perm: []int{-1, 0, 1}}},
			Invalid: []*Transpose{{Perm: []int{0, 1}}, {Perm: []int{0, 1, 1}}, {Perm: []int{0, 1, 3}}, {Perm: []int{0, 1, -4}}},
			Dims:    []spec.Dim{{Name: "planes"}, {Name: "rows", Tiles: []int{4, 32}}, {Name: "columns", Tiles: []int{4, 16, 32}}},
			Inputs:  planner.SameInputs[*Transpose](1),
		},
	})
}}
