package ops

import (
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

const checkIndex = "move/check_index"

type checkIndexParams struct{ Count, First, Limit uint32 }

// isIndex reports whether tensors of d may be indices.
func isIndex(d tensor.DType) bool { return d == tensor.I32 || d == tensor.I64 }

// addIndexCheck appends to a plan the launches that look whether count indices,
// contiguous and of dtype I32 or I64, are all from 0 to limit-1, and gives the
// plan the Fault that says which is not: the first one. Kernels after it bind
// spec.FaultWords to read, and do nothing unless word 0 is 0.
func addIndexCheck(plan *spec.Plan, t *spec.Target, op string, ref spec.Ref, d tensor.DType, count, limit int) error {
	plan.Fault = func(words [4]uint32) error {
		at, value := math.MaxUint32-words[0], int64(uint64(words[2])<<32|uint64(words[1]))
		return fmt.Errorf("ops: %s: %w: index %d at position %d (want 0 to %d)", op, errs.ErrInvalidArgument, value, at, limit-1)
	}
	if int64(count) >= math.MaxUint32 { // positions are words
		return &errs.LimitError{Name: "indices", Want: int64(count), Have: math.MaxUint32 - 1}
	}
	params := func(first, count int) any {
		return checkIndexParams{Count: uint32(count), First: uint32(first), Limit: uint32(min(int64(limit), math.MaxUint32))}
	}
	k := flatVariant(t, checkIndex, d)
	k.packs, k.params = 1, params
	if err := addFlat(plan, t, k, count, flatOperand{ref, d}); err != nil {
		return err
	}
	// One more launch for each part, of one invocation: only the winner's value
	// may be written.
	first := len(plan.Steps)
	if err := addFlat(plan, t, flatKernel{name: checkIndex + "." + d.String() + ".value", local: math.MaxInt32 / 16, packs: 1, params: params}, count, flatOperand{ref, d}); err != nil {
		return err
	}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		if i >= first {
			s.Groups = [3]uint32{1, 1, 1}
		}
		s.Bind = append(s.Bind, spec.Bind{Buf: spec.FaultWords})
	}
	return nil
}

// checkIndexKernels are the kernels of addIndexCheck.
var checkIndexKernels = []spec.Kernel{
	{Name: checkIndex + ".i32", Params: checkIndexParams{}},
	{Name: checkIndex + ".i32.texel", Params: checkIndexParams{}},
	{Name: checkIndex + ".i32.value", Params: checkIndexParams{}},
	{Name: checkIndex + ".i64", Params: checkIndexParams{}},
	{Name: checkIndex + ".i64.texel", Params: checkIndexParams{}},
	{Name: checkIndex + ".i64.value", Params: checkIndexParams{}},
}
