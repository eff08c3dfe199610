package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Transpose reorders dimensions: dimension i of the output is dimension Perm[i]
// of the input. Negative ones count from the end; nil reverses all.
type Transpose struct {
	Perm []int `attr:"perm" doc:"the input's dimension for each of the output; none reverses all"`
}

// Spec returns the declaration.
func (Transpose) Spec() *spec.Op { return transposeOp }

// perm is the complete permutation for a rank, all from 0 on.
// Errors: ErrInvalidArgument.
func (c Transpose) perm(rank int) ([]int, error) {
	perm, seen := make([]int, rank), make([]bool, rank)
	if c.Perm != nil && len(c.Perm) != rank {
		return nil, invalid("transpose", "perm %v (want %d dimensions)", c.Perm, rank)
	}
	for i := range perm {
		d := rank - 1 - i
		if c.Perm != nil {
			if d = c.Perm[i]; d < 0 {
				d += rank
			}
		}
		if d < 0 || d >= rank || seen[d] {
			return nil, invalid("transpose", "perm %v (want each of %d dimensions once)", c.Perm, rank)
		}
		perm[i], seen[d] = d, true
	}
	return perm, nil
}

// permute is a slice in the order of perm.
func permute(of, perm []int) []int {
	out := make([]int, len(perm))
	for i, d := range perm {
		out[i] = of[d]
	}
	return out
}

var transposeOp = newMover(mover{
	name: "transpose", call: Transpose{},
	doc: "Reorders the dimensions of a tensor.",
	in:  spec.Arg{Name: "in", Doc: "a tensor of any dtype and shape"},
	out: "the same elements, dimension i being dimension perm[i] of the input",
	shape: func(c spec.Call, in []tensor.Desc) ([]int, error) {
		perm, err := c.(Transpose).perm(len(in[0].Shape))
		if err != nil {
			return nil, err
		}
		return permute(in[0].Shape, perm), nil
	},
	plan: func(plan *spec.Plan, c spec.Call, t *spec.Target, in []tensor.Desc, out tensor.Desc) error {
		perm, err := c.(Transpose).perm(len(in[0].Shape))
		if err != nil {
			return err
		}
		return addCopy(plan, t, out.DType, out.Shape, place{ref: spec.In(0), steps: permute(in[0].ElementStrides(), perm)}, placeOf(spec.Out(0), out))
	},
	from: func(c spec.Call, in []*tensor.Host, index []int) (int, []int) {
		rank := len(index)
		at := make([]int, rank)
		for i, k := range index {
			d := rank - 1 - i
			if p := c.(Transpose).Perm; p != nil {
				d = (p[i] + rank) % rank
			}
			at[d] = k
		}
		return 0, at
	},
	calls:   []spec.Call{Transpose{Perm: []int{0, 2, 1}}, Transpose{Perm: []int{1, 0, 2}}, Transpose{Perm: []int{-1, 0, 1}}},
	invalid: []spec.Call{Transpose{Perm: []int{0, 1}}, Transpose{Perm: []int{0, 1, 1}}, Transpose{Perm: []int{0, 1, 3}}, Transpose{Perm: []int{0, 1, -4}}, Transpose{Perm: []int{}}},
	dims:    []spec.Dim{{Name: "planes"}, {Name: "rows", Tiles: []int{4, 32}}, {Name: "columns", Tiles: []int{4, 16, 32}}},
	inputs:  func(d tensor.DType, dims []int) []tensor.Desc { return []tensor.Desc{tensor.Contiguous(d, dims...)} },
})

// Expand broadcasts a tensor to Shape by NumPy's rule: dimensions are matched
// from the last one on, and those of size 1 repeat.
type Expand struct {
	Shape []int `attr:"shape,required" doc:"the output's shape"`
}

// Spec returns the declaration.
func (Expand) Spec() *spec.Op { return expandOp }

var expandOp = newMover(mover{
	name: "expand", call: Expand{Shape: []int{3, 2, 5, 7}},
	doc: "Broadcasts a tensor to a shape: dimensions are matched from the last one on, and those of size 1 repeat.",
	in:  spec.Arg{Name: "in", Doc: "a tensor of any dtype, no dimension of which is other than 1 or the output's"},
	out: "the elements, repeated, of the attribute's shape",
	bench: func(d tensor.DType) []spec.BenchCase {
		var ws []spec.BenchCase
		for _, s := range benchShapes { // a row to many
			ws = append(ws, spec.BenchCase{Call: Expand{Shape: s}, In: []tensor.Desc{tensor.Contiguous(d, s[1])}})
		}
		return ws
	},
	shape: func(c spec.Call, in []tensor.Desc) ([]int, error) {
		shape := c.(Expand).Shape
		skip := len(shape) - len(in[0].Shape)
		if skip < 0 {
			return nil, invalid("expand", "%v to shape %v", in[0], shape)
		}
		for i, n := range in[0].Shape {
			if n != 1 && n != shape[skip+i] {
				return nil, invalid("expand", "%v to shape %v", in[0], shape)
			}
		}
		return slices.Clone(shape), nil
	},
	plan: func(plan *spec.Plan, _ spec.Call, t *spec.Target, in []tensor.Desc, out tensor.Desc) error {
		return addCopy(plan, t, out.DType, out.Shape, place{ref: spec.In(0), steps: broadcastSteps(in[0], out.Shape)}, placeOf(spec.Out(0), out))
	},
	from: func(c spec.Call, in []*tensor.Host, index []int) (int, []int) {
		at := index[len(index)-len(in[0].Shape):]
		for i, n := range in[0].Shape {
			if n == 1 {
				at[i] = 0
			}
		}
		return 0, at
	},
	calls:   []spec.Call{Expand{Shape: []int{600, 2, 5, 7}}, Expand{Shape: []int{70, 2, 5, 7}}},
	invalid: []spec.Call{Expand{Shape: nil}, Expand{Shape: []int{2}}, Expand{Shape: []int{2, -5, 7}}, Expand{Shape: []int{1 << 30, 1 << 30, 1 << 30, 5, 7}}},
	refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 2, 7)}, {tensor.Contiguous(tensor.F32, 1, 3, 2, 5, 7)}},
	dims:    []spec.Dim{{Name: "planes", Only: []int{1, 2}}, {Name: "rows", Only: []int{1, 5}}, {Name: "columns", Only: []int{7, 1}}},
	inputs: func(d tensor.DType, dims []int) []tensor.Desc {
		if dims[0] == 1 { // one dimension less
			dims = dims[1:]
		}
		return []tensor.Desc{tensor.Contiguous(d, dims...)}
	},
})
