package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// PadTensor adds elements before and after a tensor along its dimensions. Pads has the numbers
// before each of Axes, and then those after each. A negative number takes elements away. What
// new elements are says Mode: Value (constant), the nearest element (edge), the tensor mirrored
// at the middle of its first and last element (reflect), or the tensor again (wrap). A tensor
// that is mirrored or repeated goes on as often as needed. The number of launches grows with the
// number of dimensions that have pads: 3 to its power, unless Mode is constant.
type PadTensor struct {
	Pads  []int   `attr:"pads,required" onnx:"pads" doc:"elements before each dimension, then after each; negative ones crop"`
	Mode  string  `attr:"mode" onnx:"mode" doc:"constant, edge, reflect or wrap; empty means constant"`
	Value float64 `attr:"value" doc:"the new elements of mode constant"`
	Axes  []int   `attr:"axes" onnx:"axes" doc:"the dimensions of pads, each once; empty means all"`
}

// Spec returns the declaration.
func (PadTensor) Spec() *spec.Op { return padTensorOp.Op() }

// Gradient declares the gradient: dy without what was added, or with it added to the elements that it was copied from.
func (c PadTensor) Gradient(t *spec.Tape) {
	dy, shape := t.Gradient(0), t.Shape(t.In(0))
	if dy == spec.NoValue {
		return
	}
	before, after, err := c.sides(shape)
	if err != nil {
		return // Shape has refused it.
	}
	if c.Mode == "" || c.Mode == "constant" {
		back := make([]int, 0, 2*len(shape))
		for _, n := range slices.Concat(before, after) {
			back = append(back, -n)
		}
		if len(back) > 0 {
			dy = t.Call(PadTensor{Pads: back}, dy)
		}
		t.SetGradient(0, dy)
		return
	}
	for d, n := range shape {
		if before[d] == 0 && after[d] == 0 {
			continue
		}
		places := make([]float64, before[d]+n+after[d])
		for i := range places {
			places[i] = float64(c.place(i-before[d], n))
		}
		dy = t.Call(ScatterAdd{Size: n, Axis: d}, t.Constant(tensor.I32, []int{len(places)}, places), dy)
	}
	t.SetGradient(0, dy)
}

// sides returns the pads before and after each dimension of a shape.
// Errors: ErrInvalidArgument.
func (c PadTensor) sides(shape []int) (before, after []int, err error) {
	axes := c.Axes
	if len(axes) == 0 {
		for d := range shape {
			axes = append(axes, d)
		}
	}
	if len(c.Pads) != 2*len(axes) {
		return nil, nil, planner.Invalid("pads %v (want %d numbers)", c.Pads, 2*len(axes))
	}
	before, after = make([]int, len(shape)), make([]int, len(shape))
	seen := make([]bool, len(shape))
	for i, dim := range axes {
		d, err := planner.Axis(dim, len(shape))
		if err != nil {
			return nil, nil, err
		}
		if seen[d] {
			return nil, nil, planner.Invalid("axes %v (want each dimension once)", c.Axes)
		}
		seen[d] = true
		before[d], after[d] = c.Pads[i], c.Pads[len(axes)+i]
	}
	return before, after, nil
}

// place returns which of n elements the element at k is a copy of, where k may be outside. Mode is edge, reflect or wrap.
func (c PadTensor) place(k, n int) int {
	switch {
	case c.Mode == "edge":
		return min(max(k, 0), n-1)
	case c.Mode == "wrap":
		return ((k % n) + n) % n
	case n == 1:
		return 0
	}
	period := 2 * (n - 1)
	k = ((k % period) + period) % period
	return min(k, period-k)
}

// shape checks the call and returns the output's shape.
// Errors: ErrInvalidArgument.
func (c PadTensor) shape(in tensor.Desc) ([]int, error) {
	const most = math.MaxInt / 4
	if !slices.Contains([]string{"", "constant", "edge", "reflect", "wrap"}, c.Mode) {
		return nil, planner.Invalid("mode %q (want constant, edge, reflect or wrap)", c.Mode)
	}
	if !holds(in.DType, c.Value) {
		return nil, planner.Invalid("value (got %v, want one that %v can hold)", c.Value, in.DType)
	}
	before, after, err := c.sides(in.Shape)
	if err != nil {
		return nil, err
	}
	shape, constant := slices.Clone(in.Shape), c.Mode == "" || c.Mode == "constant"
	for d, n := range in.Shape {
		b, a := before[d], after[d]
		if max(n, b, a) > most || min(b, a) < -most || n+b+a < 0 || n == 0 && b+a > 0 && !constant {
			return nil, planner.Invalid("%v: pads %d and %d of dimension %d (want sizes of at least 0, and elements to repeat)", in, b, a, d)
		}
		shape[d] = n + b + a
	}
	return shape, nil
}

var padTensorOp = spec.Declaration{Define: func() *spec.Op {
	return movement.Define(movement.Movement[*PadTensor]{
		Name: "pad_tensor", ONNX: []string{"Pad"},
		Doc:      "Adds elements around a tensor: a value, the nearest ones, or the tensor mirrored or again. Negative pads crop.",
		In:       spec.Arg{Name: "in", Doc: "a tensor of any dtype and shape"},
		Out:      "the tensor with its pads",
		Defaults: &PadTensor{Pads: []int{0, 1, 2, 0, 3, 5}},
		Shape:    func(c *PadTensor, in []tensor.Desc) ([]int, error) { return c.shape(in[0]) },
		Value:    func(c *PadTensor) float64 { return c.Value },
		Copies: func(c *PadTensor, in []tensor.Desc, out tensor.Desc) []movement.Copy {
			before, after, err := c.sides(in[0].Shape)
			if err != nil {
				return nil // Shape has refused it
			}
			return movement.Pads(c.Mode, before, after, in[0], out)
		},
		Origin: func(c *PadTensor, in []*tensor.Host, index []int) (int, []int) {
			axes := c.Axes
			if len(axes) == 0 {
				axes = []int{0, 1, 2, 3, 4, 5, 6, 7, 8}[:len(index)]
			}
			for i, d := range axes {
				d = (d + len(index)) % len(index)
				n, k := in[0].Shape[d], index[d]-c.Pads[i]
				switch {
				case k >= 0 && k < n:
				case c.Mode == "edge":
					k = min(max(k, 0), n-1)
				case c.Mode == "wrap":
					k = (k%n + n) % n
				case c.Mode == "reflect" && n == 1:
					k = 0
				case c.Mode == "reflect":
					for k < 0 || k >= n {
						k = max(-k, k)
						if k >= n {
							k = 2*(n-1) - k
						}
					}
				default:
					return -1, nil
				}
				index[d] = k
			}
			return 0, index
		},
		Cases: spec.CasesOf[*PadTensor]{
			Calls: []*PadTensor{
				{Pads: []int{0, 1, 2, 0, 3, 5}, Mode: "edge"}, {Pads: []int{0, 1, 2, 0, 1, 3}, Mode: "reflect"}, {Pads: []int{0, 1, 2, 0, 1, 3}, Mode: "wrap"},
				{Pads: []int{-1, 2, -2, 3, -1, 4}, Value: 1}, {Pads: []int{-1, 2, 1, -2}, Mode: "reflect", Axes: []int{-1, 0}},
				{Pads: []int{7, 11}, Mode: "reflect", Axes: []int{1}}, {Pads: []int{40, 27}, Mode: "wrap", Axes: []int{1}}, {Pads: []int{3, 5}, Mode: "edge", Axes: []int{0}},
				{Pads: []int{0, 0, 0, 0, 0, 0}},
			},
			Invalid: []*PadTensor{
				{}, {Pads: []int{1, 1}}, {Pads: []int{1, 1}, Axes: []int{3}}, {Pads: []int{1, 1, 1, 1}, Axes: []int{1, -2}}, {Pads: []int{1, 1}, Axes: []int{0}, Mode: "mirror"},
				{Pads: []int{math.MaxInt, 1}, Axes: []int{0}}, {Pads: []int{math.MinInt, 1}, Axes: []int{0}}, {Pads: []int{1 << 29, math.MaxInt / 8}, Axes: []int{0}},
			},
			Dims: []spec.Dim{{Name: "planes"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 16}}},
			Inputs: func(c *PadTensor, d tensor.DType, dims []int) []tensor.Desc {
				in := tensor.Contiguous(d, dims...)
				if _, err := c.shape(in); err != nil {
					return nil
				}
				return []tensor.Desc{in}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				cases := planner.BenchCases(PadTensor{Pads: []int{1, 1, 1, 1}}, 1)(d)
				return append(cases, spec.BenchCase{Call: PadTensor{Pads: []int{1, 1, 1, 1}, Mode: "reflect"}, In: []tensor.Desc{tensor.Contiguous(d, 4096, 1024)}})
			},
		},
	})
}}
