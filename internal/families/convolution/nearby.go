package convolution

import (
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// nearby holds the part of an operand that a run reads, without gaps.
type nearby struct {
	ref  spec.Ref
	size int64
}

// copyFrom appends a copy of what a run reads of an operand, and makes the operand that copy, if the run reads
// a little of many places which together exceed a binding. Else each launch would reach few of these
// places, and a run would need a launch for each pair of places of both operands. sizes are the numbers of indices
// along the strides of p, and elems is the number of elements that follow each other.
// Errors: *LimitError.
func (v *nearby) copyFrom(plan *spec.Plan, t *spec.Target, p *plane, sizes [4]int, elems int) error {
	strides := [4]int{p.b, p.g, p.k, p.c}
	span, apart := int64(elems), sizes[0]*sizes[1]*sizes[2]
	for a, n := range sizes {
		span += int64(n-1) * int64(strides[a])
	}
	size := int64(p.dtype.Size())
	one := size * int64(sizes[3]) * int64(elems)
	if size*span <= t.MaxBinding || apart == 1 || one > t.MaxBinding/8 {
		return nil
	}
	if n := one * int64(apart); v.size < n { // The first run is the longest one.
		v.ref, v.size = planner.AddScratch(plan, n), n
	}
	shape, from := append(sizes[:], elems), append(strides[:], 1)
	to := tensor.Contiguous(p.dtype, shape...)
	err := movement.AddCopy(plan, t, p.dtype, shape, planner.Operand{Ref: p.ref, Strides: from, Base: p.first}, planner.Operand{Ref: v.ref, Strides: to.ElementStrides()})
	near := to.ElementStrides()
	for a := range strides {
		if strides[a] == 0 { // It does not vary.
			near[a] = 0
		}
	}
	*p = plane{ref: v.ref, dtype: p.dtype, b: near[0], g: near[1], k: near[2], c: near[3]}
	return err
}
