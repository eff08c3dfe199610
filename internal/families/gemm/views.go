package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// AddProduct appends to a plan the launches for c = a·b. The shape consists of two batch dimensions, m, n and k, and so
// do the strides of the operands, which are 0 where an operand does not vary. a and b have one dtype. c has any
// strides along the batch, m and n. If the kernels cannot write to it where it lies, AddProduct appends nothing and
// returns false. They can if c is row-major and the first batch dimension has size 1.
// Errors: *LimitError.
func AddProduct(plan *spec.Plan, t *spec.Target, shape []int, a, b, c planner.Operand) (made bool, err error) {
	g := newProduct(t, plan, shape, a, b)
	g.far = c.Ref.Kind == spec.RefScratch
	n := g.dimN()
	switch rowMajor := isRowMajor(shape[:g.dimK()], c.Strides); {
	case g.canWrite(c, nil):
		if !rowMajor && c.Strides[n] != 1 && shape[n] > 1 { // Some kernels write rows whose elements lie side by side.
			return false, nil
		}
	case !rowMajor || shape[g.outer()] > 1: // addPart has launches for each index of the outer batch.
		return false, nil
	}
	return true, g.addTo(c, nil)
}

// AddInto appends to a plan the launches for c = a·b. If bias is not nil, each row has a number added. bias returns these numbers, an
// operand of F32 with stride 1 along m, and may append launches that make them; write appends the launches that write them to c, for kernels that cannot
// add them. The shape and the operands are those of AddProduct, and c is F32. If the kernels cannot write to c where it lies, AddInto appends
// nothing and returns false.
// Errors: those of bias and write, *LimitError.
func AddInto(plan *spec.Plan, t *spec.Target, shape []int, a, b, c planner.Operand, bias func() (planner.Operand, error), write func(bias planner.Operand) error) (made bool, err error) {
	g := newProduct(t, plan, shape, a, b)
	g.far = c.Ref.Kind == spec.RefScratch
	if n := g.dimN(); !g.canWrite(c, nil) || c.Strides[n] != 1 && shape[n] > 1 || slices.Contains(shape, 0) {
		return false, nil
	}
	all := planner.RegionOf(shape)
	if bias == nil {
		return true, g.addRegion(all, c, nil, false)
	}
	rows, err := bias()
	switch {
	case err != nil:
		return true, err
	case g.canAddRows():
		return true, g.addRegion(all, c, &rows, false)
	}
	if err := write(rows); err != nil {
		return true, err
	}
	return true, g.addRegion(all, c, nil, true)
}

// isRowMajor reports whether the strides are those of a contiguous tensor. Those of dimensions of size 1 do not matter.
func isRowMajor(shape, strides []int) bool {
	own := 1
	for d, n := range slices.Backward(shape) {
		if n > 1 && strides[d] != own {
			return false
		}
		own *= n
	}
	return true
}
