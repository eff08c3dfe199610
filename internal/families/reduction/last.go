package reduction

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// stages names kernels of the later stages of a reduction: Reduction.Combine, Last and Final.
type stages struct{ combine, last, final string }

// lastParams is the push-constant block of kernels that make results of accumulators, such as
// reduce/reduce_log_sum_exp.comp. Count is the number of results.
type lastParams struct{ Count uint32 }

// lastKernels lists the kernels of Reduction.Last, or those of Final.
func lastKernels(shader string, final bool) []spec.Kernel {
	wide := []tensor.DType{tensor.F32, tensor.F64}
	if final {
		return elementwise.UnaryKernels(shader, wide...)
	}
	return planner.DTypeVariants(shader, lastParams{}, wide, nil)
}

// addLast appends the steps that make results of accumulators of that many bytes, in the dtype
// wide. It returns where they are: in made, or in scratch memory if out has another dtype.
// Errors: *LimitError.
func (m stages) addLast(plan *spec.Plan, t *spec.Target, wide tensor.DType, out tensor.Desc, made spec.Ref, bytes int, from spec.Ref) (spec.Ref, error) {
	n := out.Elems()
	for i, shader := range []string{m.last, m.final} {
		if shader == "" {
			continue
		}
		to := made
		if wide != out.DType || i == 0 && m.final != "" {
			to = planner.AddScratch(plan, int64(n*wide.Size()))
		}
		var err error
		if i == 0 {
			err = AddPerRow(plan, t, shader, wide, n, func(count int) any { return lastParams{uint32(count)} }, spec.Ref{},
				RowOperand{from, bytes}, RowOperand{to, wide.Size()})
		} else {
			err = elementwise.AddUnary(plan, t, shader, wide, n, from, to)
		}
		if err != nil {
			return spec.Ref{}, err
		}
		from = to
	}
	return from, nil
}
