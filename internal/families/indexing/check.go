// Package indexing plans operations that read the elements whose indices another tensor
// holds. It has the device check that all indices are in range.
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

// DTypes are the dtypes that indices may have.
var DTypes = []tensor.DType{tensor.I32, tensor.I64}

const checkKernel = "move/check_index"

// checkParams is the push-constant block of move/check_index.comp.
type checkParams struct{ Count, First, Limit, Shift, Words, Every, Phase uint32 }

// maxCheckWords is the largest number of invocations that check indices. It is large
// enough to keep a device busy. It is small enough for one workgroup to read what they
// found, and for any grid.
const maxCheckWords = 4096

// CheckKernels lists the kernels that AddCheck launches.
func CheckKernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range DTypes {
		for _, variant := range []string{"", ".texel", ".value"} {
			ks = append(ks, spec.Kernel{Name: checkKernel + "." + d.String() + variant, Params: checkParams{}})
		}
	}
	return ks
}

// AddCheck appends to a plan the launches that check count indices. The indices are
// contiguous, and d is one of DTypes. Each must be in 0 to limit-1. AddCheck also appends
// the device check whose error names the first index that is not. It returns the status
// words of the check. Later kernels bind them for reading, and do nothing unless word 0
// is 0.
// Errors: *LimitError.
func AddCheck(plan *spec.Plan, t *spec.Target, indices spec.Ref, d tensor.DType, count, limit int) (spec.Ref, error) {
	return addChecks(plan, t, indices, d, count, []int{limit}, false)
}

// addChecks is AddCheck for indices whose limits differ: that of index i is
// limits[i%len(limits)]. If fromEnd is true, indices from -limit to -1 are allowed too.
func addChecks(plan *spec.Plan, t *spec.Target, indices spec.Ref, d tensor.DType, count int, limits []int, fromEnd bool) (spec.Ref, error) {
	status := spec.Status(len(plan.Checks))
	plan.Checks = append(plan.Checks, faultOf(indices, limits, fromEnd))
	if int64(count) >= math.MaxUint32 { // Positions are stored in words of 32 bits.
		return status, &errs.LimitError{Name: "indices", Want: int64(count), Have: math.MaxUint32 - 1}
	}
	found := planner.AddScratch(plan, 4*maxCheckWords) // Each invocation writes one word.
	pack := planner.Pack / d.Size()
	words := func(count int) uint32 { return uint32(min(planner.CeilDiv(count, pack), maxCheckWords)) }
	// Both stages of a part come before the stages of the next part. The number of
	// workgroups is bounded, whatever the number of elements.
	k := planner.FlatVariant(t, checkKernel, d)
	local := uint32(k.Local)
	k.Local, k.Packs = math.MaxInt32/planner.Pack, 1
	for phase, limit := range limits {
		shift := int64(0)
		if fromEnd {
			if shift = int64(limit); shift > math.MaxInt32 {
				return status, &errs.LimitError{Name: "size of a dimension", Want: shift, Have: math.MaxInt32}
			}
		}
		k.Params = func(first, count int) any {
			return checkParams{
				Count: uint32(count), First: uint32(first), Limit: uint32(min(int64(limit)+shift, math.MaxUint32)), Shift: uint32(shift),
				Words: words(count), Every: uint32(len(limits)), Phase: uint32(phase),
			}
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
	}
	return status, nil
}

// faultOf returns the device check of addChecks.
func faultOf(indices spec.Ref, limits []int, fromEnd bool) spec.DeviceCheck {
	return spec.DeviceCheck{Of: indices, Error: func(words [4]uint32) error {
		at, value := math.MaxUint32-words[0], int64(uint64(words[2])<<32|uint64(words[1]))
		least, limit := 0, limits[int64(at)%int64(len(limits))]
		if fromEnd {
			least = -limit
		}
		return fmt.Errorf("%w: index %d at position %d (want %d to %d)", errs.ErrInvalidArgument, value, at, least, limit-1)
	}}
}
