package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// triangleBlock is the number of rows of a diagonal block of a triangular matrix, for which there are kernels of their own.
// Products compute with what is outside these blocks.
const triangleBlock = 32

// triangleCall is a call with a triangular matrix A to the left of a matrix B. Operands have strides along two or more dimensions of
// the batch, rows, columns and k, as those of a product: A along rows and k, B and the result Y along rows and columns.
type triangleCall struct {
	t    *spec.Target
	plan *spec.Plan
	// shape is the size of the batch, the order of A, and the number of columns of B.
	shape       []int
	a, b, y     planner.Operand
	alpha       float64
	upper, unit bool
}

// call describes a call, whose result is not empty. With Right it is the transposed one, op(A)ᵀ on Bᵀ.
func (f Triangle) call(t *spec.Target, plan *spec.Plan, in []spec.Place, out spec.Place) triangleCall {
	last := len(out.Desc.Shape) - 2
	batch := out.Desc.Shape[:last]
	s := triangleCall{t: t, plan: plan, alpha: f.Alpha, upper: f.Upper != f.Trans, unit: f.Unit}
	rows, cols := out.Desc.Shape[last], out.Desc.Shape[last+1]
	if f.Right {
		rows, cols, s.upper = cols, rows, !s.upper
	}
	as, ar, ac := matrixStrides(in[0].Desc, batch, f.Trans != f.Right)
	operand := func(ref spec.Ref, p spec.Place, strides []int) planner.Operand {
		return planner.Operand{Ref: ref, DType: p.Desc.DType, Strides: strides, Base: int(p.Misalignment) / p.Desc.DType.Size()}
	}
	operands, own := []planner.Operand{operand(spec.In(0), in[0], as)}, [][]int{{ar, 0, ac}}
	for i, p := range []spec.Place{in[1], out} {
		strides, r, c := matrixStrides(p.Desc, batch, f.Right)
		ref := []spec.Ref{spec.In(1), spec.Out(0)}[i]
		operands, own = append(operands, operand(ref, p, strides)), append(own, []int{r, c, 0})
	}
	shape, operands := planner.Collapse(batch, operands)
	if len(shape) < 2 {
		shape = append([]int{1}, shape...)
		for i := range operands {
			operands[i].Strides = append([]int{0}, operands[i].Strides...)
		}
	}
	for i := range operands {
		operands[i].Strides = append(operands[i].Strides, own[i]...)
	}
	s.shape, s.a, s.b, s.y = append(shape, rows, cols), operands[0], operands[1], operands[2]
	return s
}

// chunk returns of how many matrices of a batch, and of how many of their columns, a temporary buffer holds all rows. They are at most block columns in all.
func (s *triangleCall) chunk(block int64) (matrices, cols int) {
	d := len(s.shape) - 2
	n, all := s.shape[d], s.shape[d+1]
	room := planner.ScratchBudget(s.t, scaledBudget) / int64(s.a.DType.Size())
	cols = min(int(max(min(int64(all), room/int64(n)/8*8, block/8*8), 8)), all)
	wide := planner.CeilDiv(cols, 4) * 4
	return int(max(min(int64(s.shape[d-1]), room/int64(n*wide), block/int64(wide)), 1)), cols
}

// chunks calls f with each chunk, and with its operands along 1, the matrices, rows, columns and k.
func (s *triangleCall) chunks(matrices, cols int, f func(matrices, cols int, a, b, y planner.Operand) error) error {
	d := len(s.shape) - 2
	step := slices.Clone(s.shape)
	for i := range d - 1 {
		step[i] = 1
	}
	step[d-1], step[d+1] = matrices, cols
	return planner.Tiles(planner.RegionOf(s.shape), step, func(b planner.Region) error {
		within := func(o planner.Operand) planner.Operand {
			o.Base = int(o.First(planner.Region{From: append(slices.Clone(b.From), 0)}))
			o.Strides = slices.Concat([]int{0}, o.Strides[d-1:])
			return o
		}
		return f(b.N[d-1], b.N[d+1], within(s.a), within(s.b), within(s.y))
	})
}
