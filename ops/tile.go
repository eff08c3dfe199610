package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Tile repeats a tensor Repeats[d] times along each dimension d. A tensor [n,m] with Repeats
// [a,b] becomes [a·n,b·m], and element [i,j] of it is element [i mod n, j mod m] of the input.
// There is one number for each dimension, at least 0. If more than 4 dimensions that are not
// neighbours repeat, the call takes several launches.
type Tile struct {
	Repeats []int `attr:"repeats,required" doc:"how often the tensor is repeated along each dimension, at least 0"`
}

// Spec returns the declaration.
func (Tile) Spec() *spec.Op { return tileOp.Op() }

// Gradient declares the gradient: the sum of the repeated parts of dy.
func (c Tile) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	var shape, dims []int
	for i, n := range t.Shape(t.In(0)) {
		dims, shape = append(dims, 2*i), append(shape, c.Repeats[i], n)
	}
	if len(dims) == 0 {
		t.SetGradient(0, dy)
		return
	}
	t.SetGradient(0, t.Call(ReduceSum{Dims: dims}, t.Reshape(dy, shape...)))
}

// shape checks the attributes for an input, and returns the output's shape.
func (c Tile) shape(in tensor.Desc) ([]int, error) {
	if len(c.Repeats) != len(in.Shape) {
		return nil, planner.Invalid("%v: repeats %v (want %d numbers)", in, c.Repeats, len(in.Shape))
	}
	shape := make([]int, len(in.Shape))
	for d, n := range in.Shape {
		r := c.Repeats[d]
		if r < 0 || r > 0 && n > math.MaxInt/r {
			return nil, planner.Invalid("%v: repeats %v (want at least 0, and a size that is a number of 64 bits)", in, c.Repeats)
		}
		shape[d] = n * r
	}
	return shape, nil
}

// copies lists the copies. Each dimension of the output is two dimensions of the copy: the
// repeats, along which the input stays where it is, and the indices.
func (c Tile) copies(in, out tensor.Desc) []movement.Copy {
	src, dst := planner.Operand{Ref: spec.In(0)}, planner.Operand{Ref: spec.Out(0)}
	var shape []int
	from, to := in.ElementStrides(), out.ElementStrides()
	for d, n := range in.Shape {
		shape = append(shape, c.Repeats[d], n)
		src.Strides = append(src.Strides, 0, from[d])
		dst.Strides = append(dst.Strides, n*to[d], to[d])
	}
	return movement.Unroll(in.DType, movement.Copy{Shape: shape, Src: src, Dst: dst})
}

// Source declares that the result repeats the elements of the input along each dimension.
func (c Tile) Source(in tensor.Desc) (tensor.Desc, bool) {
	if len(c.Repeats) != len(in.Shape) {
		return tensor.Desc{}, false
	}
	d := tensor.Desc{DType: in.DType}
	for i, s := range in.ElementStrides() {
		d.Shape, d.Strides = append(d.Shape, c.Repeats[i], in.Shape[i]), append(d.Strides, 0, s)
	}
	return d, true
}

var tileOp = spec.Declaration{Define: func() *spec.Op {
	return movement.Define(movement.Movement[*Tile]{
		Name: "tile", ONNX: []string{"Tile"},
		Doc:      "Repeats a tensor along its dimensions.",
		In:       spec.Arg{Name: "in", Doc: "a tensor of any dtype and shape"},
		Out:      "the repeated tensor; the size of each dimension is that of the input, multiplied by its number of repeats",
		Defaults: &Tile{Repeats: []int{2, 1, 3}},
		Shape:    func(c *Tile, in []tensor.Desc) ([]int, error) { return c.shape(in[0]) },
		Copies:   func(c *Tile, in []tensor.Desc, out tensor.Desc) []movement.Copy { return c.copies(in[0], out) },
		Origin: func(_ *Tile, in []*tensor.Host, index []int) (int, []int) {
			for d := range index {
				index[d] %= in[0].Shape[d]
			}
			return 0, index
		},
		Cases: spec.CasesOf[*Tile]{
			Calls: []*Tile{
				{Repeats: []int{1, 2, 1}}, {Repeats: []int{3, 2, 2}}, {Repeats: []int{1, 1, 1}}, {Repeats: []int{2, 0, 1}},
				{Repeats: []int{2, 3, 2, 1, 2, 2}}, // more dimensions than a kernel walks
			},
			Invalid: []*Tile{{}, {Repeats: []int{2, 2}}, {Repeats: []int{1, -1, 1}}, {Repeats: []int{1, 1, math.MaxInt / 2}}, {Repeats: []int{math.MaxInt / 3, math.MaxInt / 3, 1}}},
			Dims:    []spec.Dim{{Name: "planes"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 16}}},
			Inputs: func(c *Tile, d tensor.DType, dims []int) []tensor.Desc {
				if len(c.Repeats) == 6 {
					if dims[0]*dims[1]*dims[2] > 4000 {
						return nil
					}
					return []tensor.Desc{tensor.Contiguous(d, 3, dims[0], 2, dims[1], 2, dims[2])}
				}
				return []tensor.Desc{tensor.Contiguous(d, slices.Clone(dims)...)}
			},
			Bench: planner.BenchCalls(func(d tensor.DType, rows, columns int) (spec.Call, []tensor.Desc) { // the left half, twice
				return Tile{Repeats: []int{1, 2}}, []tensor.Desc{tensor.Contiguous(d, rows, columns/2)}
			}),
		},
	})
}}
