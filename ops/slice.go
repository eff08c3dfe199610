package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Slice copies Size[d] elements along each dimension d. The first one has the index
// Start[d], and Step[d] is the distance from one to the next, in the other direction if it is
// negative. A negative Start counts from the end. An empty Step means 1 in all dimensions.
type Slice struct {
	Start []int `attr:"start,required" doc:"the first index along each dimension; a negative number counts from the end"`
	Size  []int `attr:"size,required" doc:"the number of elements along each dimension"`
	Step  []int `attr:"step" doc:"the distance from one element to the next along each dimension, not 0; an empty list means 1 in all dimensions"`
}

// Spec returns the declaration.
func (Slice) Spec() *spec.Op { return sliceOp.Op() }

// Gradient declares the gradient: dy where the slice is, and zeros elsewhere.
func (c Slice) Gradient(t *spec.Tape) {
	dy, in := t.Gradient(0), t.Shape(t.In(0))
	if dy == spec.NoValue {
		return
	}
	var turned, spread, apart, whole, pads, ends []int
	for d, n := range in {
		start, size, step := from(c.Start[d], n), c.Size[d], 1
		if len(c.Step) > 0 {
			step = c.Step[d]
		}
		if size == 0 {
			start, step = 0, 1
		}
		if step < 0 {
			turned, step, start = append(turned, d), -step, start+(size-1)*step
		}
		if size <= 1 {
			step = 1
		}
		spread, whole = append(spread, size, 1), append(whole, size*step)
		apart = append(apart, 0, step-1)
		pads, ends = append(pads, start), append(ends, n-start-size*step)
	}
	if len(turned) > 0 {
		dy = t.Call(Reverse{Dims: turned}, dy)
	}
	if slices.Max(append(apart, 0)) > 0 { // zeros between the elements
		dy = t.Call(PadTensor{Pads: slices.Concat(make([]int, len(apart)), apart)}, t.Reshape(dy, spread...))
		dy = t.Reshape(dy, whole...)
	}
	if len(in) > 0 {
		dy = t.Call(PadTensor{Pads: slices.Concat(pads, ends)}, dy)
	}
	t.SetGradient(0, dy)
}

// at returns the first index and the step along dimension d of a shape.
func (c Slice) at(shape []int, d int) (start, step int) {
	start, step = c.Start[d], 1
	if start < 0 {
		start += shape[d]
	}
	if len(c.Step) != 0 {
		step = c.Step[d]
	}
	return start, step
}

// shape checks the attributes for an input, and returns the output's shape.
func (c Slice) shape(in tensor.Desc) ([]int, error) {
	if rank := len(in.Shape); len(c.Start) != rank || len(c.Size) != rank || len(c.Step) != 0 && len(c.Step) != rank {
		return nil, planner.Invalid("%v: start %v, size %v, step %v (want %d numbers each)", in, c.Start, c.Size, c.Step, rank)
	}
	for d, n := range in.Shape {
		start, step := c.at(in.Shape, d)
		size := c.Size[d]
		bad := size < 0 || step == 0 || start < 0 || start > n || size > 0 && start >= n
		if !bad && size > 1 {
			room := n - 1 - start // from start to the last index
			if step < 0 {
				room = -start
			}
			bad = size-1 > room/step
		}
		if bad {
			return nil, planner.Invalid("%v: dimension %d from %d, %d elements, step %d (want within 0 to %d, step not 0)", in, d, c.Start[d], size, step, n)
		}
	}
	return slices.Clone(c.Size), nil
}

// view is the view of an input that the slice copies.
func (c Slice) view(in tensor.Desc) planner.Operand {
	src := planner.Operand{Ref: spec.In(0), Strides: slices.Clone(in.ElementStrides())}
	for d := range src.Strides {
		start, step := c.at(in.Shape, d)
		src.Base += start * src.Strides[d]
		src.Strides[d] *= step
	}
	return src
}

var sliceOp = spec.Declaration{Define: func() *spec.Op {
	return movement.Define(movement.Movement[*Slice]{
		Name: "slice", ONNX: []string{"Slice"},
		Doc:      "Copies a region of a tensor, with a step along each dimension.",
		In:       spec.Arg{Name: "in", Doc: "a tensor of any dtype and of at least one dimension"},
		Out:      "the copied elements, of the shape that the attribute size says",
		Defaults: &Slice{Start: []int{0, 1, -5}, Size: []int{2, 2, 4}},
		Shape:    func(c *Slice, in []tensor.Desc) ([]int, error) { return c.shape(in[0]) },
		Copies: func(c *Slice, in []tensor.Desc, out tensor.Desc) []movement.Copy {
			return []movement.Copy{{Shape: out.Shape, Src: c.view(in[0]), Dst: planner.OperandOf(spec.Out(0), out)}}
		},
		Origin: func(c *Slice, in []*tensor.Host, index []int) (int, []int) {
			for d := range index {
				step := 1
				if len(c.Step) != 0 {
					step = c.Step[d]
				}
				index[d] = (c.Start[d]+in[0].Shape[d])%in[0].Shape[d] + index[d]*step
			}
			return 0, index
		},
		Cases: spec.CasesOf[*Slice]{
			Calls: []*Slice{
				{Start: []int{1, 2, 0}, Size: []int{1, 1, 5}, Step: []int{1, 9, 1}},
				{Start: []int{0, 0, -5}, Size: []int{2, 2, 2}, Step: []int{1, 2, 3}},
				{Start: []int{0, 0, 0}, Size: []int{1, 0, 5}},
				{Start: []int{1, 2, -1}, Size: []int{2, 3, 5}, Step: []int{-1, -1, -1}},
				{Start: []int{0, -1, 4}, Size: []int{2, 2, 3}, Step: []int{1, -2, -2}},
				{Start: []int{1, 0, 0}, Size: []int{2, 2, 4}, Step: []int{-1, 1, 1}},
			},
			Invalid: []*Slice{
				{}, {Start: []int{0, 0, 0}, Size: []int{1, 1}}, {Start: []int{0, 0, 0}, Size: []int{1, 1, 1}, Step: []int{1, 1}},
				{Start: []int{0, 0, 0}, Size: []int{1, 1, -1}}, {Start: []int{1 << 30, 0, 0}, Size: []int{1, 1, 1}},
				{Start: []int{0, 0, 0}, Size: []int{1, 1, math.MaxInt >> 8}}, {Start: []int{0, 0, -1 << 30}, Size: []int{1, 1, 1}},
				{Start: []int{0, 0, 0}, Size: []int{1, 1, 1}, Step: []int{1, 1, 0}}, {Start: []int{0, 0, 0}, Size: []int{1, 1, 2}, Step: []int{1, 1, -1}},
				{Start: []int{0, 0, 0}, Size: []int{1, 1, 3}, Step: []int{1, 1, math.MaxInt / 2}},
			},
			Dims: []spec.Dim{{Name: "planes"}, {Name: "rows"}, {Name: "columns", Tiles: []int{8}}},
			Inputs: func(_ *Slice, d tensor.DType, dims []int) []tensor.Desc {
				if dims[0] < 2 || dims[1] < 3 || dims[2] < 5 {
					return nil
				}
				return []tensor.Desc{tensor.Contiguous(d, dims...)}
			},
			Bench: planner.BenchCalls(func(d tensor.DType, rows, columns int) (spec.Call, []tensor.Desc) { // the right half
				return Slice{Start: []int{0, columns / 2}, Size: []int{rows, columns / 2}}, []tensor.Desc{tensor.Contiguous(d, rows, columns)}
			}),
		},
	})
}}
