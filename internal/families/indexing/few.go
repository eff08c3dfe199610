package indexing

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

const checkFew = "move/check_few"

// fewParams is the push-constant block of move/check_few.comp.
type fewParams struct{ Count, Base, Words, Limit uint32 }

// CheckFewKernels lists the kernels that AddFewCheck launches.
func CheckFewKernels() []spec.Kernel { return []spec.Kernel{{Name: checkFew, Params: fewParams{}}} }

// AddFewCheck appends to a plan the launch that checks the indices, of which each must be in 0 to limit-1, and the device check whose
// error names the first one that is not. It returns the status words, as AddCheck does.
func AddFewCheck(plan *spec.Plan, f planner.Few, limit int) spec.Ref {
	status := spec.Status(len(plan.Checks))
	plan.Checks = append(plan.Checks, faultOf(f.Bind.Buf, []int{limit}, false))
	plan.Steps = append(plan.Steps, spec.Step{
		Module: spirv.Kernel(checkFew), Params: fewParams{uint32(f.Count), f.Base, f.Words, uint32(min(uint64(limit), math.MaxUint32))}, Groups: [3]uint32{1, 1, 1},
		Bind: []spec.Bind{f.Bind, {Buf: status}},
	})
	return status
}
