package movement

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

const rangeShader = "move/range"

// Ranged are the dtypes of ranges of numbers.
var Ranged = append(slices.Clone(rangeTypes), tensor.I8, tensor.U8, tensor.I16, tensor.U16, tensor.U32, tensor.U64)

// rangeTypes are those of them that have a kernel of their name.
var rangeTypes = []tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.F64, tensor.I32, tensor.I64}

// rangeParams is the push-constant block of move/range.comp.
type rangeParams struct{ Count, First, Start, StartHigh, Delta, DeltaHigh uint32 }

// RangeKernels lists the kernels of PlanRange.
func RangeKernels() []spec.Kernel {
	return append(planner.DTypeVariants(rangeShader, rangeParams{}, rangeTypes, nil),
		spec.Kernel{Name: rangeShader + ".u8", Params: rangeParams{}}, spec.Kernel{Name: rangeShader + ".u16", Params: rangeParams{}})
}

// PlanRange plans that element i of the output becomes start + i·delta.
// Errors: ErrUnsupported, *LimitError.
func PlanRange(t *spec.Target, start, delta float64, out tensor.Desc) (*spec.Plan, error) {
	plan, d, n := &spec.Plan{}, out.DType, out.Elems()
	if err := planner.CheckTarget(t, out); err != nil {
		return nil, err
	}
	if int64(n) > math.MaxUint32 {
		return nil, &errs.LimitError{Name: "elements", Want: int64(n), Have: math.MaxUint32}
	}
	wide, name := d, d.String() // the dtype in which the kernel computes, and the kernel
	isFloat := slices.Contains(planner.Floats, d)
	switch {
	case isFloat && d.Size() == 2:
		wide = tensor.F32
	case !isFloat && d.Size() < 4:
		wide, name = tensor.I32, unitName(d.Size())
	case d == tensor.U32:
		name = tensor.I32.String()
	case d == tensor.U64:
		name = tensor.I64.String()
	}
	var words [4]uint32
	for i, v := range []float64{start, delta} {
		wide := wide
		if !isFloat { // A delta has a sign, and may be larger than a type with a sign holds. Sums of its bits wrap.
			wide = map[bool]tensor.DType{false: tensor.U32, true: tensor.U64}[wide.Size() == 8]
			if v < 0 {
				wide = planner.Signed(wide)
			}
		}
		h, err := tensor.FromFloats(wide, []int{1}, []float64{v})
		if err != nil {
			return nil, err
		}
		for k := 0; 4*k < len(h.Data); k++ {
			words[2*i+k] = binary.LittleEndian.Uint32(h.Data[4*k:])
		}
	}
	k := planner.FlatKernel{Name: rangeShader + "." + name, Local: planner.SmallGroup, Packs: 1}
	k.Params = func(first, count int) any {
		return rangeParams{uint32(count), uint32(first), words[0], words[1], words[2], words[3]}
	}
	return plan, planner.AddFlat(plan, t, k, n, planner.Flat(spec.Out(0), d))
}
