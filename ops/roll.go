package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Roll moves elements along dimensions. What is moved past the end of a dimension comes back
// at its start: element i of dimension Dims[k] becomes element (i + Shifts[k]) mod n, where n is
// the size of the dimension. A shift may be negative, and larger than n. A negative dimension
// counts from the end. No dimension may be named twice. Without dimensions, the output is a copy. Each
// dimension that is rolled doubles the number of launches. Tensors of more than eight dimensions that are
// larger than 1 are ErrUnsupported if they are rolled.
type Roll struct {
	Shifts []int `attr:"shifts,required" doc:"how far elements move towards larger indices, one number for each of dims; any number"`
	Dims   []int `attr:"dims,required" doc:"the dimensions, each once; negative ones count from the end"`
}

// Spec returns the declaration.
func (Roll) Spec() *spec.Op { return rollOp.Op() }

// Gradient declares the gradient: dy rolled back.
func (c Roll) Gradient(t *spec.Tape) {
	back := make([]int, len(c.Shifts))
	for i, n := range c.Shifts {
		back[i] = -n
	}
	linear(t, 0, Roll{Shifts: back, Dims: c.Dims})
}

// offsets returns how far each dimension of a shape is rolled, as numbers from 0 to the size.
// Errors: ErrInvalidArgument.
func (c Roll) offsets(shape []int) ([]int, error) {
	if len(c.Shifts) != len(c.Dims) {
		return nil, planner.Invalid("shifts %v of dims %v (want one for each)", c.Shifts, c.Dims)
	}
	by, seen := make([]int, len(shape)), make([]bool, len(shape))
	for i, dim := range c.Dims {
		d, err := planner.Axis(dim, len(shape))
		if err != nil {
			return nil, err
		}
		if seen[d] {
			return nil, planner.Invalid("dims %v (want each dimension once)", c.Dims)
		}
		seen[d] = true
		if n := shape[d]; n > 0 {
			by[d] = (c.Shifts[i]%n + n) % n
		}
	}
	return by, nil
}

// copies lists the copies: the elements that stay before the end of each dimension, those that
// come back at the start, and all combinations.
func (c Roll) copies(in, out tensor.Desc) []movement.Copy {
	by, err := c.offsets(in.Shape)
	if err != nil {
		return nil // Shape has refused it
	}
	list := []movement.Copy{{Shape: slices.Clone(in.Shape), Src: planner.OperandOf(spec.In(0), in), Dst: planner.OperandOf(spec.Out(0), out)}}
	for d, k := range by {
		if k == 0 {
			continue
		}
		var halves []movement.Copy
		for _, whole := range list {
			n, low, high := in.Shape[d], whole, whole
			low.Shape, high.Shape = slices.Clone(whole.Shape), slices.Clone(whole.Shape)
			low.Shape[d], high.Shape[d] = n-k, k
			low.Dst.Base += k * low.Dst.Strides[d]
			high.Src.Base += (n - k) * high.Src.Strides[d]
			halves = append(halves, low, high)
		}
		list = halves
	}
	return list
}

var rollOp = spec.Declaration{Define: func() *spec.Op {
	return movement.Define(movement.Movement[*Roll]{
		Name:     "roll",
		Doc:      "Moves elements along dimensions. What is moved past the end comes back at the start.",
		In:       spec.Arg{Name: "in", Doc: "a tensor of any dtype and shape"},
		Out:      "the elements at their new places, of the shape of the input",
		Defaults: &Roll{Shifts: []int{3}, Dims: []int{-1}},
		Shape: func(c *Roll, in []tensor.Desc) ([]int, error) {
			if _, err := c.offsets(in[0].Shape); err != nil {
				return nil, err
			}
			return slices.Clone(in[0].Shape), nil
		},
		Copies: func(c *Roll, in []tensor.Desc, out tensor.Desc) []movement.Copy { return c.copies(in[0], out) },
		Origin: func(c *Roll, in []*tensor.Host, index []int) (int, []int) {
			for i, d := range c.Dims {
				if d < 0 {
					d += len(index)
				}
				n := in[0].Shape[d]
				if index[d] -= c.Shifts[i] % n; index[d] < 0 {
					index[d] += n
				} else if index[d] >= n {
					index[d] -= n
				}
			}
			return 0, index
		},
		Cases: spec.CasesOf[*Roll]{
			Calls: []*Roll{
				{Shifts: []int{-1}, Dims: []int{0}}, {Shifts: []int{2, -5}, Dims: []int{1, 2}},
				{Shifts: []int{1, math.MaxInt32, math.MinInt32}, Dims: []int{-3, 2, 1}}, {Shifts: []int{0}, Dims: []int{1}}, {},
			},
			Invalid: []*Roll{
				{Shifts: []int{1, 2}, Dims: []int{0}}, {Shifts: []int{1}, Dims: []int{3}}, {Shifts: []int{1}, Dims: []int{-4}},
				{Shifts: []int{1, 1}, Dims: []int{0, -3}},
			},
			Dims:   []spec.Dim{{Name: "planes"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 16}}},
			Inputs: planner.SameInputs[*Roll](1),
		},
	})
}}
