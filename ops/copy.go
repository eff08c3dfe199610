package ops

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Copy copies a tensor to one of the same dtype and shape. Both may have any
// strides, the input also 0. Elements are moved as bits.
type Copy struct{}

// Spec returns the declaration.
func (Copy) Spec() *spec.Op { return copyOp }

// PlanFrom plans a copy that begins src elements into the input and dst elements
// into the output.
// Errors: ErrInvalidArgument: no target, tensors that are not alike, or a beginning
// before the first element.
func (Copy) PlanFrom(t *spec.Target, in, out tensor.Desc, src, dst int) (*spec.Plan, error) {
	if err := cmp.Or(in.Check(), out.Check()); err != nil {
		return nil, fmt.Errorf("ops: copy: %w", err)
	}
	if t == nil || in.DType != out.DType || !slices.Equal(in.Shape, out.Shape) || src < 0 || dst < 0 {
		return nil, fmt.Errorf("ops: copy: %w", planner.Invalid("from %v at %d to %v at %d (want tensors of one shape and dtype, and a target)", in, src, out, dst))
	}
	from, to := planner.OperandOf(spec.In(0), in), planner.OperandOf(spec.Out(0), out)
	from.Base, to.Base = src, dst
	plan := &spec.Plan{}
	return plan, movement.AddCopy(plan, t, out.DType, out.Shape, from, to)
}

var copyOp = movement.Define(movement.Movement[Copy]{
	Name: "copy", Kernels: movement.CopyKernels(), ONNX: []string{"Identity"},
	Doc:   "Copies a tensor from any strides to any strides, bit by bit.",
	In:    spec.Arg{Name: "in", Doc: "a tensor of any dtype and shape"},
	Out:   "the copy, of the same dtype and shape",
	Shape: func(_ Copy, in []tensor.Desc) ([]int, error) { return in[0].Shape, nil },
	Copies: func(_ Copy, in []tensor.Desc, out tensor.Desc) []movement.Copy {
		return []movement.Copy{{Shape: out.Shape, Src: planner.OperandOf(spec.In(0), in[0]), Dst: planner.OperandOf(spec.Out(0), out)}}
	},
	Origin: func(_ Copy, _ []*tensor.Host, index []int) (int, []int) { return 0, index },
	Cases: spec.CasesOf[Copy]{
		Dims:   []spec.Dim{{Name: "planes"}, {Name: "rows", Tiles: []int{4, 32}}, {Name: "columns", Tiles: []int{4, 8, 16, 32}}},
		Inputs: planner.SameInputs[Copy](1),
	},
})
