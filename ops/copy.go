package ops

import (
	"cmp"
	"fmt"
	"slices"

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
		return nil, invalid("copy", "from %v at %d to %v at %d (want tensors of one shape and dtype, and a target)", in, src, out, dst)
	}
	from, to := placeOf(spec.In(0), in), placeOf(spec.Out(0), out)
	from.base, to.base = src, dst
	plan := &spec.Plan{}
	return plan, addCopy(plan, t, out.DType, out.Shape, from, to)
}

var copyOp = newMover(mover{
	name: "copy", call: Copy{},
	doc: "Copies a tensor from any strides to any strides, bit by bit.",
	kernels: []spec.Kernel{
		{Name: copyFlat + ".u8", Params: flatCopyParams{}},
		{Name: copyFlat + ".u8.texel", Params: flatCopyParams{}},
		{Name: copyStrided + ".u8", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u8.texel", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u16", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u16.texel", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u32", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u32.texel", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u128", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u128.texel", Params: stridedCopyParams{}},
		{Name: copyTile + ".u32", Params: tileCopyParams{}},
		{Name: copyTile + ".u32.texel", Params: tileCopyParams{}},
		{Name: copyTile + ".u32.texel.aligned", Params: tileCopyParams{}},
		{Name: copyTile + ".u32.texel.packed", Params: tileCopyParams{}},
	},
	in:    spec.Arg{Name: "in", Doc: "a tensor of any dtype and shape"},
	out:   "the copy, of the same dtype and shape",
	shape: func(_ spec.Call, in []tensor.Desc) ([]int, error) { return in[0].Shape, nil },
	plan: func(plan *spec.Plan, _ spec.Call, t *spec.Target, in []tensor.Desc, out tensor.Desc) error {
		return addCopy(plan, t, out.DType, out.Shape, placeOf(spec.In(0), in[0]), placeOf(spec.Out(0), out))
	},
	from: func(_ spec.Call, _ []*tensor.Host, index []int) (int, []int) { return 0, index },
	dims: []spec.Dim{{Name: "planes"}, {Name: "rows", Tiles: []int{4, 32}}, {Name: "columns", Tiles: []int{4, 8, 16, 32}}},
	inputs: func(d tensor.DType, dims []int) []tensor.Desc {
		return []tensor.Desc{tensor.Contiguous(d, dims...)}
	},
})
