package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Slice takes Size[d] elements from Start[d] on along each dimension d, every
// Step[d]-th one. A negative Start counts from the end; nil Step is 1 throughout.
type Slice struct {
	Start []int `attr:"start,required" doc:"the first index along each dimension; negative ones count from the end"`
	Size  []int `attr:"size,required" doc:"how many elements along each dimension"`
	Step  []int `attr:"step" doc:"distance from one to the next, at least 1; none is 1 throughout"`
}

// Spec returns the declaration.
func (Slice) Spec() *spec.Op { return sliceOp }

// start and step along dimension d of a shape.
func (c Slice) at(shape []int, d int) (start, step int) {
	start, step = c.Start[d], 1
	if start < 0 {
		start += shape[d]
	}
	if c.Step != nil {
		step = c.Step[d]
	}
	return start, step
}

var sliceOp = newMover(mover{
	name: "slice", call: Slice{Start: []int{0, 1, -5}, Size: []int{2, 2, 4}},
	doc: "Takes a box out of a tensor, every element of it or one in so many.",
	in:  spec.Arg{Name: "in", Doc: "a tensor of any dtype and of at least one dimension"},
	out: "the elements taken, of the shape that the attribute size says",
	bench: func(d tensor.DType) []spec.BenchCase {
		var ws []spec.BenchCase
		for _, s := range benchShapes { // the right half
			ws = append(ws, spec.BenchCase{Call: Slice{Start: []int{0, s[1] / 2}, Size: []int{s[0], s[1] / 2}}, In: []tensor.Desc{tensor.Contiguous(d, s...)}})
		}
		return ws
	},
	shape: func(call spec.Call, in []tensor.Desc) ([]int, error) {
		c, shape := call.(Slice), in[0].Shape
		if len(c.Start) != len(shape) || len(c.Size) != len(shape) || c.Step != nil && len(c.Step) != len(shape) {
			return nil, invalid("slice", "%v: start %v, size %v, step %v (want %d numbers each)", in[0], c.Start, c.Size, c.Step, len(shape))
		}
		for d, n := range shape {
			start, step := c.at(shape, d)
			size := c.Size[d]
			if size < 0 || step < 1 || start < 0 || start > n || size > 0 && (start >= n || size-1 > (n-1-start)/step) {
				return nil, invalid("slice", "%v: dimension %d from %d, %d elements, step %d (want within 0 to %d, step at least 1)", in[0], d, c.Start[d], size, step, n)
			}
		}
		return slices.Clone(c.Size), nil
	},
	plan: func(plan *spec.Plan, call spec.Call, t *spec.Target, in []tensor.Desc, out tensor.Desc) error {
		c, src := call.(Slice), place{ref: spec.In(0), steps: slices.Clone(in[0].ElementStrides())}
		for d := range src.steps {
			start, step := c.at(in[0].Shape, d)
			src.base += start * src.steps[d]
			src.steps[d] *= step
		}
		return addCopy(plan, t, out.DType, out.Shape, src, placeOf(spec.Out(0), out))
	},
	from: func(call spec.Call, in []*tensor.Host, index []int) (int, []int) {
		c := call.(Slice)
		for d := range index {
			step := 1
			if c.Step != nil {
				step = c.Step[d]
			}
			index[d] = (c.Start[d]+in[0].Shape[d])%in[0].Shape[d] + index[d]*step
		}
		return 0, index
	},
	calls: []spec.Call{
		Slice{Start: []int{1, 2, 0}, Size: []int{1, 1, 5}, Step: []int{1, 9, 1}},
		Slice{Start: []int{0, 0, -5}, Size: []int{2, 2, 2}, Step: []int{1, 2, 3}},
		Slice{Start: []int{0, 0, 0}, Size: []int{1, 0, 5}},
	},
	invalid: []spec.Call{
		Slice{}, Slice{Start: []int{0, 0, 0}, Size: []int{1, 1}}, Slice{Start: []int{0, 0, 0}, Size: []int{1, 1, 1}, Step: []int{1, 1}},
		Slice{Start: []int{0, 0, 0}, Size: []int{1, 1, -1}}, Slice{Start: []int{1 << 30, 0, 0}, Size: []int{1, 1, 1}},
		Slice{Start: []int{0, 0, 0}, Size: []int{1, 1, 1 << 40}}, Slice{Start: []int{0, 0, -1 << 30}, Size: []int{1, 1, 1}},
		Slice{Start: []int{0, 0, 0}, Size: []int{1, 1, 1}, Step: []int{1, 1, 0}}, Slice{Start: []int{0, 0, 0}, Size: []int{1, 1, 2}, Step: []int{1, 1, -1}},
		Slice{Start: []int{0, 0, 0}, Size: []int{1, 1, 3}, Step: []int{1, 1, 1 << 62}},
	},
	dims: []spec.Dim{{Name: "planes"}, {Name: "rows"}, {Name: "columns", Tiles: []int{8}}},
	inputs: func(d tensor.DType, dims []int) []tensor.Desc {
		if dims[0] < 2 || dims[1] < 3 || dims[2] < 5 {
			return nil
		}
		return []tensor.Desc{tensor.Contiguous(d, dims...)}
	},
})
