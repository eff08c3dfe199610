package ops

import (
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

const checkIndex = "move/check_index"

type checkIndexParams struct{ Count, First, Limit, Words uint32 }

// isIndex reports whether tensors of d may be indices.
func isIndex(d tensor.DType) bool { return d == tensor.I32 || d == tensor.I64 }

// addIndexCheck appends to a plan the launches that look whether count indices,
// contiguous and of dtype I32 or I64, are all from 0 to limit-1, and gives the
// plan the Fault that says which is not: the first one. Kernels after it bind
// spec.Status(0) to read, and do nothing unless word 0 is 0.
func addIndexCheck(plan *spec.Plan, t *spec.Target, op string, ref spec.Ref, d tensor.DType, count, limit int) error {
	plan.Checks = append(plan.Checks, spec.DeviceCheck{Error: func(words [4]uint32) error {
		at, value := math.MaxUint32-words[0], int64(uint64(words[2])<<32|uint64(words[1]))
		return fmt.Errorf("ops: %s: %w: index %d at position %d (want 0 to %d)", op, errs.ErrInvalidArgument, value, at, limit-1)
	}})
	if int64(count) >= math.MaxUint32 { // positions are words
		return &errs.LimitError{Name: "indices", Want: int64(count), Have: math.MaxUint32 - 1}
	}
	scratch := spec.Scratch(len(plan.Scratch))
	plan.Scratch = append(plan.Scratch, 4*maxCheckWords)
	pack := 16 / d.Size()
	words := func(count int) uint32 { return uint32(min(ceilDiv(count, pack), maxCheckWords)) }
	// Both stages of a part, then those of the next: groups are not by elements.
	k := flatVariant(t, checkIndex, d)
	local := uint32(k.local)
	k.local, k.packs = math.MaxInt32/16, 1
	k.params = func(first, count int) any {
		return checkIndexParams{Count: uint32(count), First: uint32(first), Limit: uint32(min(int64(limit), math.MaxUint32)), Words: words(count)}
	}
	parts := &spec.Plan{}
	if err := addFlat(parts, t, k, count, flatOperand{ref, d}); err != nil {
		return err
	}
	for _, look := range parts.Steps {
		p := look.Params.(checkIndexParams)
		fold := spec.Step{Kernel: checkIndex + "." + d.String() + ".value", Params: p, Groups: [3]uint32{1, 1, 1},
			Bind: []spec.Bind{look.Bind[0], {Buf: scratch}, {Buf: spec.Status(0)}}}
		look.Bind = append(look.Bind, spec.Bind{Buf: scratch})
		look.Groups = [3]uint32{ceilDiv(p.Words, local), 1, 1}
		plan.Steps = append(plan.Steps, look, fold)
	}
	return nil
}

// maxCheckWords is how many invocations look at indices at most: enough to keep
// a device busy, few enough to fold in one workgroup, and to fit any grid.
const maxCheckWords = 4096

// checkIndexKernels are the kernels of addIndexCheck.
var checkIndexKernels = []spec.Kernel{
	{Name: checkIndex + ".i32", Params: checkIndexParams{}},
	{Name: checkIndex + ".i32.texel", Params: checkIndexParams{}},
	{Name: checkIndex + ".i32.value", Params: checkIndexParams{}},
	{Name: checkIndex + ".i64", Params: checkIndexParams{}},
	{Name: checkIndex + ".i64.texel", Params: checkIndexParams{}},
	{Name: checkIndex + ".i64.value", Params: checkIndexParams{}},
}
