package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Expand broadcasts a tensor to Shape by NumPy's rule. The dimensions are matched from the
// last to the first, and dimensions of size 1 are repeated.
//
// It differs from ONNX in that Shape is the shape of the result: it has at least as many dimensions as the tensor, and no 1
// where the tensor has another size.
type Expand struct {
	Shape []int `attr:"shape,required" doc:"the output's shape"`
}

// Spec returns the declaration.
func (Expand) Spec() *spec.Op { return expandOp.Op() }

// Gradient declares the gradient: the sum of dy over what was repeated.
func (Expand) Gradient(t *spec.Tape) {
	t.SetGradient(0, t.Gradient(0))
}

// Source declares that the result repeats elements of the input.
func (c Expand) Source(in tensor.Desc) (tensor.Desc, bool) {
	if len(c.Shape) < len(in.Shape) {
		return tensor.Desc{}, false
	}
	return tensor.Desc{DType: in.DType, Shape: c.Shape, Strides: planner.BroadcastStrides(in, c.Shape)}, true
}

var expandOp = spec.Declaration{Define: func() *spec.Op {
	return movement.Define(movement.Movement[*Expand]{
		Name: "expand", ONNX: []string{"Expand"},
		Doc:      "Broadcasts a tensor to a shape. The dimensions are matched from the last to the first, and dimensions of size 1 are repeated.",
		In:       spec.Arg{Name: "in", Doc: "a tensor of any dtype; the size of each dimension is 1 or that of the output"},
		Out:      "the repeated elements, of the shape of the attribute",
		Defaults: &Expand{Shape: []int{3, 2, 5, 7}},
		Shape: func(c *Expand, in []tensor.Desc) ([]int, error) {
			skip := len(c.Shape) - len(in[0].Shape)
			if skip < 0 {
				return nil, planner.Invalid("%v to shape %v (want %d dimensions or more)", in[0], c.Shape, len(in[0].Shape))
			}
			for i, n := range in[0].Shape {
				if n != 1 && n != c.Shape[skip+i] {
					return nil, planner.Invalid("%v to shape %v: dimension %d of the tensor has %d elements, and %d of the result %d (want 1, or as many)", in[0], c.Shape, i, n, skip+i, c.Shape[skip+i])
				}
			}
			return slices.Clone(c.Shape), nil
		},
		Copies: func(_ *Expand, in []tensor.Desc, out tensor.Desc) []movement.Copy {
			src := planner.Operand{Ref: spec.In(0), Strides: planner.BroadcastStrides(in[0], out.Shape)}
			return []movement.Copy{{Shape: out.Shape, Src: src, Dst: planner.OperandOf(spec.Out(0), out)}}
		},
		Origin: func(_ *Expand, in []*tensor.Host, index []int) (int, []int) {
			at := index[len(index)-len(in[0].Shape):]
			for i, n := range in[0].Shape {
				if n == 1 {
					at[i] = 0
				}
			}
			return 0, at
		},
		Cases: spec.CasesOf[*Expand]{
			Calls:   []*Expand{{Shape: []int{600, 2, 5, 7}}, {Shape: []int{70, 2, 5, 7}}},
			Invalid: []*Expand{{Shape: nil}, {Shape: []int{2}}, {Shape: []int{2, -5, 7}}, {Shape: []int{1 << 30, 1 << 30, 1 << 30, 5, 7}}},
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 2, 7)}, {tensor.Contiguous(tensor.F32, 1, 3, 2, 5, 7)}},
			Dims:    []spec.Dim{{Name: "planes", Only: []int{1, 2}}, {Name: "rows", Only: []int{1, 5}}, {Name: "columns", Only: []int{7, 1}}},
			Inputs: func(_ *Expand, d tensor.DType, dims []int) []tensor.Desc {
				if dims[0] == 1 { // one dimension less
					dims = dims[1:]
				}
				return []tensor.Desc{tensor.Contiguous(d, dims...)}
			},
			Bench: planner.BenchCalls(func(d tensor.DType, rows, columns int) (spec.Call, []tensor.Desc) { // a row to many
				return Expand{Shape: []int{rows, columns}}, []tensor.Desc{tensor.Contiguous(d, columns)}
			}),
		},
	})
}}
