package movement

import (
	"encoding/binary"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

const fillShader = "move/fill"

// fillParams is the push-constant block of move/fill.comp. Count is the number of bytes
// to write. X, Y, Z and W are 16 bytes of repeated values.
type fillParams struct{ Count, X, Y, Z, W uint32 }

// FillKernels names the kernels that PlanFill launches.
func FillKernels() []spec.Kernel {
	return planner.DTypeVariants(fillShader, fillParams{}, []tensor.DType{tensor.U8}, func(tensor.DType) bool { return true })
}

// PlanFill plans that every element of the output becomes value. The output is
// contiguous.
// Errors: ErrInvalidArgument for a dtype that cannot hold numbers, *LimitError.
func PlanFill(value float64, t *spec.Target, out tensor.Desc) (*spec.Plan, error) {
	plan := &spec.Plan{}
	return plan, AddFill(plan, t, value, out.DType, spec.Out(0), out.Elems())
}

// AddFill appends to a plan the launches that make the first n elements of ref, of dtype d, a
// value.
// Errors: those of PlanFill.
func AddFill(plan *spec.Plan, t *spec.Target, value float64, d tensor.DType, ref spec.Ref, n int) error {
	values := make([]float64, planner.Pack/d.Size())
	for i := range values {
		values[i] = value
	}
	pack, err := tensor.FromFloats(d, []int{len(values)}, values)
	if err != nil {
		return err
	}
	var w [4]uint32
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(pack.Data[4*i:])
	}
	k := planner.FlatVariant(t, fillShader, tensor.U8)
	k.Params = func(_, count int) any { return fillParams{uint32(count), w[0], w[1], w[2], w[3]} }
	return planner.AddFlat(plan, t, k, n*d.Size(), planner.Flat(ref, tensor.U8))
}
