package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// gemmPackParams is the push-constant block of matmul_pack.
type gemmPackParams struct {
	Rows, Cols, Count, Wide                       uint32
	SrcBase, SrcRow, SrcCol, SrcInner, SrcOuter   uint32
	DstBase, DstInner, DstOuter, DstRow, Inner, Z uint32
}

// side is an operand as a kernel reads it: along rows (or columns) of C and
// along k. It is read where it lies, or packed before.
type side struct {
	gemmMatrix
	dim   int  // the dimension of C
	alone bool // read with k along texels (else with dim)
	pack  bool
	slot  int
}

// sides returns the first and the second operand of the kernel.
func (g *gemm) sides() (x, y side) {
	x = side{gemmMatrix: g.a, dim: g.dimM(), alone: true, slot: 0}
	y = side{gemmMatrix: g.b, dim: g.dimN(), alone: g.mode == gemmDot, slot: 1}
	if g.swapped() {
		x, y = side{gemmMatrix: g.b, dim: g.dimN(), alone: true, slot: 1}, side{gemmMatrix: g.a, dim: g.dimM(), alone: true, slot: 0}
	}
	if g.mode != gemmShared {
		for _, s := range []*side{&x, &y} {
			s.pack = !g.lies(*s)
		}
	}
	return x, y
}

// rows and cols are the extents of a packed side in the box: rows by cols
// elements, whole texels along a row, k filled up to whole texels either way.
func (g *gemm) packedSize(s side, b box) (rows, cols int) {
	k, d := ceilDiv(b.n[g.dimK()], 4)*4, b.n[s.dim]
	if s.alone {
		return d, k
	}
	return k, ceilDiv(d, 4) * 4
}

// packedSteps are the steps of a packed side of the box; dimensions it does not
// vary along share one copy.
func (g *gemm) packedSteps(s side, b box) (steps []int, elems int) {
	steps = make([]int, len(g.shape))
	rows, cols := g.packedSize(s, b)
	elems = rows * cols
	if s.alone {
		steps[s.dim], steps[g.dimK()] = cols, 1
	} else {
		steps[s.dim], steps[g.dimK()] = 1, cols
	}
	for _, d := range []int{g.inner(), g.outer()} {
		if s.steps[d] != 0 && b.n[d] > 1 {
			steps[d] = elems
			elems *= b.n[d]
		}
	}
	return steps, elems
}

// region plans the box of C, which the kernels can write, or its parts.
func (g *gemm) region(all box, c gemmMatrix, bias *gemmMatrix, add bool) error {
	x, y := g.sides()
	step := slices.Clone(all.n)
	for d := range g.outer() {
		step[d] = 1
	}
	k := g.dimK()
	step[k] = max(min(all.n[k], g.parts*gemmRun), 1)
	if err := g.shrink(step, x, y, c); err != nil {
		return err
	}
	if g.run > 0 && g.parts > 1 && step[k] < all.n[k] { // the second piece's parts would be others than the first one's
		return &errs.LimitError{Name: "MaxBinding", Want: y.extent(all) * int64(y.dtype.Size()), Have: maxSpan(g.t, g.mode != gemmShared)}
	}
	// Along k in the middle: packed y serves all rows, and C is complete soon.
	order := func(b box, dims []int, f func(box) error) error {
		part := slices.Clone(b.n)
		for _, d := range dims {
			part[d] = step[d]
		}
		return tiles(b, part, f)
	}
	var outside []int
	for d := range g.dimM() {
		outside = append(outside, d)
	}
	return order(all, append(outside, y.dim), func(b box) error {
		if b.n[k] == 0 {
			return order(b, []int{x.dim}, func(b box) error { return g.launch(b, x, y, c, bias, add) })
		}
		return order(b, []int{k}, func(b box) error {
			cy, err := g.ready(y, b)
			if err != nil {
				return err
			}
			return order(b, []int{x.dim}, func(b box) error {
				cx, err := g.ready(x, b)
				if err != nil {
					return err
				}
				again := add || b.from[k] > all.from[k]
				own := bias
				if again {
					own = nil // it was added with the first piece of k
				}
				return g.launch(b, cx, cy, c, own, again)
			})
		})
	})
}

// shrink makes the pieces so small that what each needs of the operands fits
// bindings and temporary buffers.
func (g *gemm) shrink(step []int, x, y side, c gemmMatrix) error {
	span := maxSpan(g.t, g.mode != gemmShared)
	room := span - windowAlign(g.t)
	b := box{make([]int, len(step)), step}
	k := g.dimK()
	// halve makes the first dimension that can shrink half as large: in units
	// that kernels like, and in lesser ones before the next dimension is tried.
	halve := func(dims ...int) bool {
		for _, d := range dims {
			units := []int{1}
			switch {
			case d == k && g.mode == gemmShared:
				units = []int{8 * g.parts, g.parts}
			case d == k:
				units = []int{8 * g.parts}
			case d == g.dimM():
				units = []int{16, 1}
			case d == g.dimN() && g.mode == gemmPanel:
				units = []int{128, perTexel(g.reads)}
			case d == g.dimN():
				units = []int{128, 1}
			}
			for _, unit := range units {
				if half := ceilDiv(ceilDiv(step[d], 2), unit) * unit; half < step[d] {
					step[d] = half
					return true
				}
			}
		}
		return false
	}
	for {
		again := false
		for _, s := range []side{x, y} {
			need, have := s.extent(b)*int64(s.dtype.Size()), room
			if s.pack {
				_, elems := g.packedSteps(s, b)
				need, have = int64(elems)*4, min(gemmBudget, span)
			}
			if need <= have || b.n[k] == 0 {
				continue
			}
			var dims []int
			for _, d := range []int{g.outer(), g.inner()} {
				if s.steps[d] != 0 {
					dims = append(dims, d)
				}
			}
			far := []int{k, s.dim}
			if s.pack && step[k] <= 1024*g.parts || !s.pack && s.steps[s.dim] > s.steps[k] {
				far = []int{s.dim, k}
			}
			if !halve(append(dims, far...)...) {
				return &errs.LimitError{Name: "MaxBinding", Want: need, Have: have}
			}
			again = true
		}
		if need := (c.extent(b) + int64(g.parts-1)*int64(g.part)) * int64(c.dtype.Size()); need > room && c.ref.Kind != spec.RefScratch {
			if !halve(g.outer(), g.inner(), g.dimM(), g.dimN()) {
				return &errs.LimitError{Name: "MaxBinding", Want: need, Have: room}
			}
			again = true
		}
		if !again {
			return nil
		}
	}
}

// ready packs what the kernel needs of a side for the box, if it must be.
func (g *gemm) ready(s side, b box) (side, error) {
	if !s.pack {
		return s, nil
	}
	steps, elems := g.packedSteps(s, b)
	if g.packed[s.slot] == 0 {
		g.packed[s.slot] = 1 + len(g.plan.Scratch)
		g.plan.Scratch = append(g.plan.Scratch, 0)
	}
	n := g.packed[s.slot] - 1
	g.plan.Scratch[n] = max(g.plan.Scratch[n], int64(elems)*4)
	to := side{gemmMatrix: gemmMatrix{strided: strided{spec.Scratch(n), tensor.F32, steps}}, dim: s.dim, alone: s.alone, slot: s.slot}
	for d, from := range b.from {
		to.base -= int64(from) * int64(steps[d])
	}
	row, col := g.dimK(), s.dim
	if s.alone {
		row, col = col, row
	}
	// The source by outer, inner, row, col, in pieces that can be bound.
	dims := []int{g.outer(), g.inner(), row, col}
	src, piece := gemmMatrix{strided: strided{ref: s.ref, dtype: s.dtype}, base: s.base}, box{}
	var dst [4]int
	for i, d := range dims {
		src.steps = append(src.steps, s.steps[d])
		piece.from, piece.n = append(piece.from, b.from[d]), append(piece.n, b.n[d])
		dst[i] = steps[d]
		if i < 2 && steps[d] == 0 { // one copy
			piece.n[i] = 1
		}
	}
	for d := range g.outer() {
		src.base += int64(b.from[d]) * int64(s.steps[d])
	}
	rows, _ := g.packedSize(s, b)
	origin := slices.Clone(piece.from)
	err := cut(g.t, maxSpan(g.t, true), piece, []strided{src.strided}, 4, func(q box) error {
		p := gemmPackParams{
			Rows: uint32(q.n[2]), Cols: uint32(q.n[3]), Wide: uint32(ceilDiv(q.n[3], 4)),
			SrcOuter: uint32(src.steps[0]), SrcInner: uint32(src.steps[1]), SrcRow: uint32(src.steps[2]), SrcCol: uint32(src.steps[3]),
			DstOuter: uint32(dst[0] / 4), DstInner: uint32(dst[1] / 4), DstRow: uint32(dst[2] / 4), Inner: uint32(q.n[1]),
		}
		last := origin[2]+piece.n[2] == q.from[2]+q.n[2]
		write := q.n[2]
		if last { // and the zeros below
			write = rows - (q.from[2] - origin[2])
		}
		p.Count = uint32(write) * p.Wide
		at := 0
		for i := range dst {
			at += (q.from[i] - origin[i]) * dst[i]
		}
		p.DstBase = uint32(at / 4)
		kernel := "blas/matmul_pack." + s.dtype.String()
		if s.dtype != tensor.F32 && write == q.n[2] && src.whole(3) && q.n[3]%perTexel(s.dtype) == 0 {
			kernel += ".flat"
		}
		var from spec.Bind
		from, p.SrcBase = src.bound(g.t, q)
		groups := ceilDiv(p.Count, 256)
		gx := min(groups, g.t.MaxGroups[0])
		z := uint32(q.n[0] * q.n[1])
		for p.Z = 0; p.Z < z; p.Z += g.t.MaxGroups[2] {
			g.plan.Steps = append(g.plan.Steps, spec.Step{
				Kernel: kernel, Params: p,
				Bind:   []spec.Bind{from, {Buf: to.ref, Size: int64(elems) * 4}},
				Groups: [3]uint32{gx, ceilDiv(groups, gx), min(z-p.Z, g.t.MaxGroups[2])},
			})
		}
		return nil
	})
	return to, err
}

// launch plans the kernel for a box whose operands can be bound.
func (g *gemm) launch(b box, x, y side, c gemmMatrix, bias *gemmMatrix, add bool) error {
	tile := g.tile()
	k, inner, outer := g.dimK(), g.inner(), g.outer()
	// Elements of what the kernel reads or writes at once: of the operands, along n, of C.
	ux, uy, un, uc := 1, 1, 1, 1
	if g.mode != gemmShared {
		ux, uy = perTexel(x.dtype), perTexel(y.dtype)
	}
	if g.mode == gemmPanel {
		un, uc = perTexel(g.reads), 4
	}
	in := func(v, unit int) uint32 { return uint32(ceilDiv(v, unit)) }
	p := gemmParams{
		M: uint32(b.n[x.dim]), N: in(b.n[y.dim], un), K: in(b.n[k], ux), KAll: in(b.n[k], ux),
		ARow: in(x.steps[x.dim], ux), ACol: uint32(x.steps[k]), AInner: in(x.steps[inner], ux), AOuter: in(x.steps[outer], ux),
		BRow: in(y.steps[k], uy), BCol: in(y.steps[y.dim], uy), BInner: in(y.steps[inner], uy), BOuter: in(y.steps[outer], uy),
		CRow: in(c.steps[x.dim], uc), CCol: uint32(c.steps[y.dim]), CInner: in(c.steps[inner], uc), COuter: in(c.steps[outer], uc),
		Inner: uint32(b.n[inner]),
	}
	z := b.n[inner] * b.n[outer]
	if g.parts > 1 {
		part := ceilDiv(ceilDiv(b.n[k], g.parts), 8) * 8
		if g.run > 0 {
			part = g.run
		}
		p.K, p.KStep, p.Inner = in(part, ux), in(part, ux), uint32(g.parts)
		p.AInner, p.BInner, p.CInner = in(part*x.steps[k], ux), in(part*y.steps[k], uy), in(g.part, uc)
		z = g.parts
	}
	kernel := tile.kernel
	if add {
		p.Accumulate = 1
		if g.mode == gemmPanel {
			kernel += ".add"
		}
	}
	var bx, by, bb, bc spec.Bind
	var a0, b0, c0, bias0 uint32
	if b.n[k] == 0 {
		if g.nothing.Kind == spec.RefNone {
			g.nothing = g.scratch(16) // to bind: nothing is read
		}
		bx, by = spec.Bind{Buf: g.nothing}, spec.Bind{Buf: g.nothing}
	} else {
		bx, a0 = x.bound(g.t, b)
		by, b0 = y.bound(g.t, b)
	}
	bc, c0 = c.bound(g.t, b)
	if g.parts > 1 { // the other parts lie after the first one
		c0 += uint32(bc.Offset / int64(c.dtype.Size()))
		bc = spec.Bind{Buf: c.ref}
	}
	bb = bx
	if bias != nil {
		p.Bias = 1
		bb, bias0 = bias.bound(g.t, b)
	}
	a0, b0, c0, bias0 = a0/uint32(ux), b0/uint32(uy), c0/uint32(uc), bias0/uint32(uc)
	cols := uint32(tile.cols / un)
	rowGroups, colGroups := ceilDiv(p.M, uint32(tile.rows)), ceilDiv(p.N, cols)
	rowDim, colDim := 1, 0
	if g.mode == gemmDot {
		rowDim, colDim = 0, 1
	}
	most := g.t.MaxGroups
	bStep := uint32(1)
	if g.mode != gemmPanel {
		bStep = p.BCol
	}
	cStep := uint32(un / uc)
	if g.mode != gemmPanel {
		cStep = p.CCol
	}
	for r := uint32(0); r < rowGroups; r += most[rowDim] {
		for q := uint32(0); q < colGroups; q += most[colDim] {
			for w := 0; w < z; w += int(most[2]) {
				s := p
				r0, q0 := r*uint32(tile.rows), q*cols
				s.M, s.N, s.Z = p.M-r0, p.N-q0, uint32(w)
				s.ABase, s.BBase = a0+r0*p.ARow, b0+q0*bStep
				s.CBase, s.BiasBase = c0+r0*p.CRow+q0*cStep, bias0+q0*uint32(un/uc)
				step := spec.Step{Kernel: kernel, Params: s, Bind: []spec.Bind{bx, by, bb, bc}}
				step.Groups[rowDim], step.Groups[colDim] = min(rowGroups-r, most[rowDim]), min(colGroups-q, most[colDim])
				step.Groups[2] = uint32(min(z-w, int(most[2])))
				g.plan.Steps = append(g.plan.Steps, step)
			}
		}
	}
	return nil
}
