package conformance

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Sample returns the everyday call of an operation, which is the first of its cases, random
// inputs for it, and the outputs of its reference. Every free dimension has size n, or a smaller
// size if the operation has no such case, or if the product of all sizes were above 2²⁸.
// Errors: ErrInvalidArgument if there is no case at all, if op is no declaration, or if n is
// below 1; and errors in the declaration.
func Sample(op *spec.Op, d tensor.DType, n int) (call spec.Call, in, want []*tensor.Host, err error) {
	if err := checkOp(op, false); err != nil {
		return nil, nil, nil, fmt.Errorf("conformance: sample: %w", err)
	}
	if n < 1 {
		return nil, nil, nil, fmt.Errorf("conformance: sample: %w: size %d (want 1 or more)", errs.ErrInvalidArgument, n)
	}
	s := &suite{opts: Options{Seed: DefaultSeed}}
	p := s.sample(&job{op: op, dtype: d}, n, n/2, n/4, 5, 4, 3, 2, 8, 1)
	if p == nil {
		return nil, nil, nil, fmt.Errorf("conformance: %s: %w: no case of %v", op.Name, errs.ErrInvalidArgument, d)
	}
	return p.call, p.in, p.want, p.err
}

// sample returns the everyday call of the job's operation at the first of the sizes for
// which there is a case that is not empty, or nil.
func (s *suite) sample(j *job, sizes ...int) *prepared {
	k := *j
	k.shape = nil
	k.call, k.pattern, k.modes = j.op.Cases.Calls[0], "random", fewModes[:1]
	values := make([][]int, len(j.op.Cases.Dims))
	for i, d := range j.op.Cases.Dims {
		values[i] = awkward(d)
	}
	for _, n := range sizes {
		if k.dims = sizesAt(j.op.Cases.Dims, values, n); tooLarge(k.dims) {
			continue
		}
		if _, _, ok := caseSize(j.op, k.call, k.dtype, k.dims, true); !ok {
			continue
		}
		q := s.prepare(&k)
		if q.err == nil && len(q.want) > 0 && q.want[0].Elems() > 0 && (len(q.in) == 0 || q.in[0].Elems() > 0) {
			return q
		}
	}
	return nil
}

// tooLarge reports whether the product of sizes is above 2²⁸.
func tooLarge(dims []int) bool {
	product := 1.0
	for _, n := range dims {
		product *= float64(n)
	}
	return product > 1<<28
}
