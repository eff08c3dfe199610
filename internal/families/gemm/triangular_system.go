package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// triangleBlock is the number of rows of a diagonal block of a triangular matrix. One launch solves a block.
// Products take its rows out of the others.
const triangleBlock = 32

// solveParams is the push-constant block of trsm_block.comp.
type solveParams struct {
	Rows, Cols, Inner, Outer, Upper, Unit uint32
	ABase, ARow, ACol, AInner, AOuter     uint32
	WBase, WRow, WInner, WOuter           uint32
	NBase, NRow, NInner, NOuter           uint32
}

// solve plans A·X = α·B for triangular matrices A. Operands have strides along two or more dimensions of
// the batch, rows, columns and k, as those of a product: A along rows and k, B and X along rows and columns.
type solve struct {
	t    *spec.Target
	plan *spec.Plan
	// shape is the size of the batch, the order of A, and the number of columns of B.
	shape       []int
	a, b, x     planner.Operand
	alpha       float64
	upper, unit bool
	// w has α·B, of which X takes the place row by row, and neg −X of one block. Both are temporary buffers.
	w, neg spec.Ref
}

// add appends the steps. Chunks of the columns and of the batch follow each other.
func (s *solve) add() error {
	d := len(s.shape) - 2
	n, cols := s.shape[d], s.shape[d+1]
	size, span := int64(s.a.DType.Size()), planner.MaxSpan(s.t, false)
	room := int64(scaledBudget) / size
	block := (min(span, packBudget)/2 - planner.WindowAlign(s.t)) / size / triangleBlock // columns of a block that can be bound
	width := int(max(min(int64(cols), room/int64(n)/8*8, block/8*8), 8))
	width = min(width, cols)
	wide := planner.CeilDiv(width, 4) * 4
	matrices := int(max(min(int64(s.shape[d-1]), room/int64(n*wide), block/int64(wide)), 1))
	s.w = planner.AddScratch(s.plan, int64(matrices)*int64(n)*int64(wide)*size)
	s.neg = planner.AddScratch(s.plan, int64(matrices)*int64(min(n, triangleBlock))*int64(wide)*size)
	step := slices.Clone(s.shape)
	for i := range d - 1 {
		step[i] = 1
	}
	step[d-1], step[d+1] = matrices, width
	return planner.Tiles(planner.RegionOf(s.shape), step, s.addChunk)
}

// addChunk appends the steps for all rows of some columns.
func (s *solve) addChunk(b planner.Region) error {
	d := len(b.N) - 2
	n, cols := b.N[d], b.N[d+1]
	wide := planner.CeilDiv(cols, 4) * 4
	shape := []int{1, b.N[d-1], n, cols, min(n, triangleBlock)}
	// within returns an operand of the chunk, along the last dimension of the batch, rows, columns and k.
	within := func(o planner.Operand) planner.Operand {
		o.Base = int(o.First(planner.Region{From: append(slices.Clone(b.From), 0)}))
		o.Strides = slices.Concat([]int{0}, o.Strides[d-1:])
		return o
	}
	a, from, to := within(s.a), within(s.b), within(s.x)
	w := planner.Operand{Ref: s.w, DType: a.DType, Strides: []int{0, n * wide, wide, 1, 0}}
	neg := planner.Operand{Ref: s.neg, DType: a.DType, Strides: []int{0, min(n, triangleBlock) * wide, 0, 1, wide}}
	load := &scaled{product: newProduct(s.t, s.plan, shape, a, neg), beta: s.alpha, y: w, c: &from}
	if s.alpha == 0 {
		load.c = nil
	}
	if err := load.finish(planner.RegionOf(shape), chunk{}); err != nil {
		return err
	}
	blocks := planner.CeilDiv(n, triangleBlock)
	for i := range blocks {
		if s.alpha == 0 {
			break
		}
		at := i
		if s.upper {
			at = blocks - 1 - i
		}
		first, end := at*triangleBlock, min((at+1)*triangleBlock, n)
		if err := s.addBlock(shape, a, w, neg, first, end); err != nil {
			return err
		}
		// The rows that are still to be solved.
		rest, rows := end, n-end
		if s.upper {
			rest, rows = 0, first
		}
		if rows == 0 {
			continue
		}
		left, sum := a, w
		left.Base += rest*a.Strides[2] + first*a.Strides[4]
		sum.Base += rest * wide
		g := newProduct(s.t, s.plan, []int{1, shape[1], rows, cols, end - first}, left, neg)
		g.parts, g.far = 1, true
		if err := g.addRegion(planner.RegionOf(g.shape), sum, nil, true); err != nil {
			return err
		}
	}
	return movement.AddCopy(s.plan, s.t, a.DType, shape[:4], planner.Operand{Ref: w.Ref, Strides: w.Strides[:4]}, planner.Operand{Ref: to.Ref, Base: to.Base, Strides: to.Strides[:4]})
}

// addBlock appends the launches that solve the rows from first to end-1. The products have taken out all others.
func (s *solve) addBlock(shape []int, a, w, neg planner.Operand, first, end int) error {
	// The region has one row: each launch has all rows of the block.
	b := planner.RegionOf([]int{1, shape[1], 1, shape[3], 1})
	b.From[2], b.From[4] = first, first
	rows, size := end-first, int64(a.DType.Size())
	reach := int64(rows-1) * int64(max(a.Strides[2]+a.Strides[4], w.Strides[2])) * size
	return planner.Split(s.t, planner.MaxSpan(s.t, false)-reach, b, []planner.Operand{a, w}, 8, func(b planner.Region) error {
		p := solveParams{
			Rows: uint32(rows), Cols: uint32(b.N[3]), Inner: uint32(b.N[1]), Outer: 1,
			ARow: uint32(a.Strides[2]), ACol: uint32(a.Strides[4]), AInner: uint32(a.Strides[1]),
			WRow: uint32(w.Strides[2]), WInner: uint32(w.Strides[1]),
			NBase: uint32(b.From[1]*neg.Strides[1] + b.From[3]), NRow: uint32(neg.Strides[4]), NInner: uint32(neg.Strides[1]),
		}
		if s.upper {
			p.Upper = 1
		}
		if s.unit {
			p.Unit = 1
		}
		whole := b.Clone()
		whole.N[2], whole.N[4] = rows, rows
		step := spec.Step{Module: spirv.Kernel("blas/trsm_block." + a.DType.String()), Bind: make([]spec.Bind, 3)}
		step.Bind[0], p.ABase = a.Window(s.t, whole)
		step.Bind[1], p.WBase = w.Window(s.t, whole)
		step.Bind[2] = spec.Bind{Buf: neg.Ref}
		step.Params = p
		var err error
		step.Groups, err = planner.Grid(s.t, planner.CeilDiv(int64(b.N[1])*int64(b.N[3]), planner.SmallGroup))
		s.plan.Steps = append(s.plan.Steps, step)
		return err
	})
}

// solveKernels lists the kernels of triangular systems.
var solveKernels = slices.Concat(scaledKernels, planner.DTypeVariants("blas/trsm_block", solveParams{}, []tensor.DType{tensor.F32, tensor.F64}, nil), movement.CopyKernels())
