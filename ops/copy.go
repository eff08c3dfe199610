package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Copy copies a tensor to another of the same dtype and shape. Both may have any strides. A
// stride of the input may be 0. All bits of the elements are kept.
type Copy struct{}

// Spec returns the declaration.
func (Copy) Spec() *spec.Op { return copyOp.Op() }

// Gradient declares the gradient, dy.
func (Copy) Gradient(t *spec.Tape) {
	t.SetGradient(0, t.Gradient(0))
}

// Source declares that the result has the elements of the input.
func (Copy) Source(in tensor.Desc) (tensor.Desc, bool) { return in, true }

var copyOp = spec.Declaration{Define: func() *spec.Op {
	return movement.Define(movement.Movement[*Copy]{
		Name: "copy", ONNX: []string{"Identity"},
		Doc:   "Copies a tensor from any strides to any strides, bit by bit.",
		In:    spec.Arg{Name: "in", Doc: "a tensor of any dtype and shape"},
		Out:   "the copy, of the same dtype and shape",
		Shape: func(_ *Copy, in []tensor.Desc) ([]int, error) { return in[0].Shape, nil },
		Copies: func(_ *Copy, in []tensor.Desc, out tensor.Desc) []movement.Copy {
			return []movement.Copy{{Shape: out.Shape, Src: planner.OperandOf(spec.In(0), in[0]), Dst: planner.OperandOf(spec.Out(0), out)}}
		},
		Origin: func(_ *Copy, _ []*tensor.Host, index []int) (int, []int) { return 0, index },
		Cases: spec.CasesOf[*Copy]{
			Dims:   []spec.Dim{{Name: "planes"}, {Name: "rows", Tiles: []int{4, 32}}, {Name: "columns", Tiles: []int{4, 8, 16, 32}}},
			Inputs: planner.SameInputs[*Copy](1),
		},
	})
}}
