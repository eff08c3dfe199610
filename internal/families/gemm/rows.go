package gemm

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Regions plans a product region by region, for an operation that needs it in parts. The parts are
// in a temporary buffer, in the dtype of the accumulators.
type Regions struct{ g *product }

// NewRegions describes the product. The shape consists of two or more batch dimensions, m, n and k. Both
// operands have a stride for each of them, which is 0 where the operand does not vary.
func NewRegions(t *spec.Target, plan *spec.Plan, shape []int, a, b planner.Operand) Regions {
	g := newProduct(t, plan, shape, a, b)
	g.parts = 1
	return Regions{g}
}

// Add appends the steps for a region, over all of k. The operand c lies in a scratch buffer that can be bound as a
// whole. It has whole vectors of four elements: its base and all strides but that of n are multiples of 4.
// What fills up the last vector of a row may get any value.
// Errors: *LimitError.
func (r Regions) Add(region planner.Region, c planner.Operand) error {
	return r.g.addRegion(region, c, nil, false)
}
