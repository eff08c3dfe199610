package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// multiplyParams is the push-constant block of trmm_block.comp.
type multiplyParams struct {
	Rows, Cols, Matrices, Upper, Unit uint32
	ABase, ARow, ACol, AMatrix        uint32
	BBase, BRow, BCol, BMatrix        uint32
	WBase, WRow, WMatrix              uint32
}

// multiply plans Y = α·A·B for triangular matrices A. One launch multiplies the diagonal blocks. Products add the rest: a triangle
// of twice the order has two of these triangles, and a square beside them. The squares of one size are one batch, so
// the number of launches grows with the logarithm of the order.
type multiply struct {
	triangleCall
	// w has A·B of a chunk. It is a temporary buffer, because Y may be B. copied has B of a chunk, if its rows lie so far apart that no binding
	// reaches over those of a block.
	w, copied spec.Ref
}

// add appends the steps. Chunks of the columns and of the batch follow each other.
// Errors: ErrStrides if neither rows nor columns of Y have their elements side by side.
func (s *multiply) add() error {
	if d := len(s.shape) - 2; s.y.Strides[d+1] != 1 && s.shape[d+1] > 1 && s.y.Strides[d] != 1 && s.shape[d] > 1 {
		return planner.Strides("output with strides %v: neither rows nor columns lie side by side", s.y.Strides)
	}
	n, size := s.shape[len(s.shape)-2], int64(s.a.DType.Size())
	block := (planner.MaxSpan(s.t, false)/2 - planner.WindowAlign(s.t)) / size / triangleBlock // elements of a row of a block that can be bound
	matrices, cols := s.chunk(block)
	bytes := int64(matrices) * int64(n) * int64(planner.CeilDiv(cols, 4)*4) * size
	if s.w = planner.AddScratch(s.plan, bytes); int64(s.b.Strides[len(s.shape)-2]) > block && s.alpha != 0 {
		s.copied = planner.AddScratch(s.plan, bytes)
	}
	return s.chunks(matrices, cols, s.addChunk)
}

// addChunk appends the steps for all rows of some columns.
func (s *multiply) addChunk(matrices, cols int, a, b, y planner.Operand) error {
	n := s.shape[len(s.shape)-2]
	wide := planner.CeilDiv(cols, 4) * 4
	w := planner.Operand{Ref: s.w, DType: a.DType, Strides: []int{0, n * wide, wide, 1, 0}}
	if s.copied.Kind != spec.RefNone {
		from, shape := b, []int{1, matrices, n, cols, 1}
		b = planner.Operand{Ref: s.copied, DType: a.DType, Strides: w.Strides}
		load := &scaled{product: newProduct(s.t, s.plan, shape, a, from), beta: 1, y: b, c: &from}
		if err := load.finish(planner.RegionOf(shape), chunk{}); err != nil {
			return err
		}
	}
	if s.alpha != 0 {
		if err := s.addBlocks(matrices, cols, a, b, w); err != nil {
			return err
		}
		for side := triangleBlock; side < n; side *= 2 {
			whole, rest := n/(2*side), n%(2*side)
			if err := s.addSquares(matrices, cols, 0, whole, side, side, a, b, w); err != nil {
				return err
			}
			if err := s.addSquares(matrices, cols, whole*2*side, 1, side, rest-side, a, b, w); err != nil {
				return err
			}
		}
	}
	shape := []int{1, matrices, n, cols, 1}
	if y.Strides[3] != 1 && cols > 1 { // Its columns lie side by side. The kernel takes them for rows.
		shape[2], shape[3] = cols, n
		for _, o := range []*planner.Operand{&y, &w} {
			o.Strides = slices.Clone(o.Strides)
			o.Strides[2], o.Strides[3] = o.Strides[3], o.Strides[2]
		}
	}
	y.Strides[3] = 1 // This is another number only if there is one.
	store := &scaled{product: newProduct(s.t, s.plan, shape, a, b), beta: s.alpha, y: y, c: &w}
	if s.alpha == 0 {
		store.c = nil
	}
	return store.finish(planner.RegionOf(shape), chunk{})
}

// addSquares appends W += A·B for count squares of A beside the diagonal, which follow each other along it. A square has side rows, and as many
// columns. The first one is that of the triangle of 2·side rows which begins with row first. Of a triangle that has only
// side + rest rows, it has the part that there is, which may be none.
func (s *multiply) addSquares(matrices, cols, first, count, side, rest int, a, b, w planner.Operand) error {
	if rest <= 0 || count == 0 {
		return nil
	}
	row, col, rows, k := first+side, first, rest, side
	if s.upper {
		row, col, rows, k = first, first+side, side, rest
	}
	step := 2 * side
	ar, ac, br, wr := a.Strides[2], a.Strides[4], b.Strides[2], w.Strides[2]
	a.Base, a.Strides = a.Base+row*ar+col*ac, []int{a.Strides[1], step * (ar + ac), ar, 0, ac}
	b.Base, b.Strides = b.Base+col*br, []int{b.Strides[1], step * br, 0, b.Strides[3], br}
	w.Base, w.Strides = w.Base+row*wr, []int{w.Strides[1], step * wr, wr, 1, 0}
	g := newProduct(s.t, s.plan, []int{matrices, count, rows, cols, k}, a, b)
	g.parts, g.far = 1, true
	return g.addRegion(planner.RegionOf(g.shape), w, nil, true)
}

// addBlocks appends the launches for the diagonal blocks.
func (s *multiply) addBlocks(matrices, cols int, a, b, w planner.Operand) error {
	n := s.shape[len(s.shape)-2]
	ar, ac, br, wr := a.Strides[2], a.Strides[4], b.Strides[2], w.Strides[2]
	// These have strides along the batch, columns and blocks.
	blocks := []planner.Operand{a, b, w}
	for i, strides := range [][]int{
		{a.Strides[1], 0, triangleBlock * (ar + ac)}, {b.Strides[1], b.Strides[3], triangleBlock * br}, {w.Strides[1], 1, triangleBlock * wr},
	} {
		blocks[i].Strides = strides
	}
	reach := int64(min(n, triangleBlock)-1) * int64(max(ar+ac, br, wr)) * int64(a.DType.Size())
	all := planner.RegionOf([]int{matrices, cols, planner.CeilDiv(n, triangleBlock)})
	return planner.Split(s.t, planner.MaxSpan(s.t, false)-reach, all, blocks, 1, func(q planner.Region) error {
		first := q.From[2] * triangleBlock
		rows := min(q.N[2]*triangleBlock, n-first)
		whole := planner.Region{From: []int{0, q.From[0], first, q.From[1], first}, N: []int{1, q.N[0], rows, q.N[1], rows}}
		p := multiplyParams{
			Rows: uint32(rows), Cols: uint32(q.N[1]), Matrices: uint32(q.N[0]),
			ARow: uint32(ar), ACol: uint32(ac), AMatrix: uint32(a.Strides[1]),
			BRow: uint32(br), BCol: uint32(b.Strides[3]), BMatrix: uint32(b.Strides[1]),
			WRow: uint32(wr), WMatrix: uint32(w.Strides[1]),
		}
		if s.upper {
			p.Upper = 1
		}
		if s.unit {
			p.Unit = 1
		}
		step := spec.Step{Module: spirv.Kernel("blas/trmm_block." + a.DType.String()), Bind: make([]spec.Bind, 3)}
		step.Bind[0], p.ABase = a.Window(s.t, whole)
		step.Bind[1], p.BBase = b.Window(s.t, whole)
		step.Bind[2], p.WBase = w.Window(s.t, whole)
		step.Params = p
		var err error
		step.Groups, err = planner.Grid(s.t, planner.CeilDiv(int64(q.N[0])*int64(planner.CeilDiv(rows, 8))*int64(q.N[1]), planner.SmallGroup))
		s.plan.Steps = append(s.plan.Steps, step)
		return err
	})
}

// multiplyKernels lists the kernels of products with triangular matrices.
var multiplyKernels = slices.Concat(scaledKernels, planner.DTypeVariants("blas/trmm_block", multiplyParams{}, float32And64, nil))
