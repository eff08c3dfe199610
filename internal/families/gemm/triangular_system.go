package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// solveParams is the push-constant block of trsm_block.comp.
type solveParams struct {
	Rows, Cols, Inner, Outer, Upper, Unit uint32
	ABase, ARow, ACol, AInner, AOuter     uint32
	WBase, WRow, WInner, WOuter           uint32
	NBase, NRow, NInner, NOuter           uint32
}

// solve plans A·X = α·B for triangular matrices A.
type solve struct {
	triangleCall
	// w has α·B, of which X takes the place row by row, and neg −X of one block. Both are temporary buffers.
	w, neg spec.Ref
}

// add appends the steps. Chunks of the columns and of the batch follow each other.
func (s *solve) add() error {
	n, size := s.shape[len(s.shape)-2], int64(s.a.DType.Size())
	block := (min(planner.MaxSpan(s.t, false), planner.ScratchBudget(s.t, packBudget))/2 - planner.WindowAlign(s.t)) / size / triangleBlock // columns of a block that can be bound
	matrices, cols := s.chunk(block)
	wide := planner.CeilDiv(cols, 4) * 4
	s.w = planner.AddScratch(s.plan, int64(matrices)*int64(n)*int64(wide)*size)
	s.neg = planner.AddScratch(s.plan, int64(matrices)*int64(min(n, triangleBlock))*int64(wide)*size)
	return s.chunks(matrices, cols, s.addChunk)
}

// addChunk appends the steps for all rows of some columns. One launch solves a block. Products take its rows out of the others.
func (s *solve) addChunk(matrices, cols int, a, from, to planner.Operand) error {
	n := s.shape[len(s.shape)-2]
	wide := planner.CeilDiv(cols, 4) * 4
	shape := []int{1, matrices, n, cols, min(n, triangleBlock)}
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
