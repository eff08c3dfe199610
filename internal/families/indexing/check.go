// Package indexing is for the operations that read places which a tensor of indices
// says. It holds the device check that all indices are in range.
package indexing

import (
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// DTypes are the element types of indices.
var DTypes = []tensor.DType{tensor.I32, tensor.I64}

const checkKernel = "move/check_index"

// checkParams is the push-constant block of move/check_index.comp.
type checkParams struct{ Count, First, Limit, Words uint32 }

// maxCheckWords is the most invocations that look at indices: enough to keep a device
// busy, few enough for one workgroup to go over what they found, and to fit any grid.
const maxCheckWords = 4096

// CheckKernels returns the kernels of AddCheck.
func CheckKernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range DTypes {
		for _, variant := range []string{"", ".texel", ".value"} {
			ks = append(ks, spec.Kernel{Name: checkKernel + "." + d.String() + variant, Params: checkParams{}})
		}
	}
	return ks
}

// AddCheck appends to a plan the launches that look whether count indices, contiguous
// and of one of DTypes, are all from 0 to limit-1, and the device check that names the
// first which is not. It returns the check's status words: kernels after it bind them
// to read, and do nothing unless word 0 is 0.
// Errors: *LimitError.
func AddCheck(plan *spec.Plan, t *spec.Target, indices spec.Ref, d tensor.DType, count, limit int) (spec.Ref, error) {
	status := spec.Status(len(plan.Checks))
	plan.Checks = append(plan.Checks, spec.DeviceCheck{Error: func(words [4]uint32) error {
		at, value := math.MaxUint32-words[0], int64(uint64(words[2])<<32|uint64(words[1]))
		return fmt.Errorf("%w: index %d at position %d (want 0 to %d)", errs.ErrInvalidArgument, value, at, limit-1)
	}})
	if int64(count) >= math.MaxUint32 { // positions are words
		return status, &errs.LimitError{Name: "indices", Want: int64(count), Have: math.MaxUint32 - 1}
	}
	found := planner.AddScratch(plan, 4*maxCheckWords) // a word of each invocation
	pack := planner.Pack / d.Size()
	words := func(count int) uint32 { return uint32(min(planner.CeilDiv(count, pack), maxCheckWords)) }
	// Both stages of a part come before those of the next. The number of workgroups does
	// not depend on how many elements there are.
	k := planner.FlatVariant(t, checkKernel, d)
	local := uint32(k.Local)
	k.Local, k.Packs = math.MaxInt32/planner.Pack, 1
	k.Params = func(first, count int) any {
		return checkParams{Count: uint32(count), First: uint32(first), Limit: uint32(min(int64(limit), math.MaxUint32)), Words: words(count)}
	}
	parts := &spec.Plan{}
	if err := planner.AddFlat(parts, t, k, count, planner.Flat(indices, d)); err != nil {
		return status, err
	}
	for _, look := range parts.Steps {
		p := look.Params.(checkParams)
		name := spec.Step{Module: spirv.Kernel(checkKernel + "." + d.String() + ".value"), Params: p, Groups: [3]uint32{1, 1, 1},
			Bind: []spec.Bind{look.Bind[0], {Buf: found}, {Buf: status}}}
		look.Bind = append(look.Bind, spec.Bind{Buf: found})
		look.Groups = [3]uint32{planner.CeilDiv(p.Words, local), 1, 1}
		plan.Steps = append(plan.Steps, look, name)
	}
	return status, nil
}
