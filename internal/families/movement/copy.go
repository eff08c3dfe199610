package movement

import (
	"errors"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Names of the kernels, without the size of the elements that they move.
const (
	copyFlat    = "move/copy"
	copyStrided = "move/copy_strided"
	copyTile    = "move/copy_tile"
)

// flatCopyParams is the push-constant block of copy.comp. Count is the number of bytes.
type flatCopyParams struct{ Count uint32 }

// stridedCopyParams is the push-constant block of copy_strided.comp. Dimension 0 is the
// innermost one.
type stridedCopyParams struct {
	N, Src, Dst                    [planner.MaxRank]uint32
	Rank, Inner, Run, Packs, Total uint32
	SrcBase, DstBase               uint32
}

// tileCopyParams is the push-constant block of copy_tile.comp. Dimension 0 is the
// innermost one.
type tileCopyParams struct {
	N, Src, Dst               [planner.MaxRank]uint32
	Rank, Down, Across, Total uint32
	SrcBase, DstBase          uint32
}

// CopyKernels lists the kernels that AddCopy launches.
func CopyKernels() []spec.Kernel {
	flat := planner.DTypeVariants(copyFlat, flatCopyParams{}, []tensor.DType{tensor.U8}, func(tensor.DType) bool { return true })
	return append(flat, []spec.Kernel{
		{Name: copyStrided + ".u8", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u8.texel", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u16", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u16.texel", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u32", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u32.texel", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u128", Params: stridedCopyParams{}},
		{Name: copyStrided + ".u128.texel", Params: stridedCopyParams{}},
		{Name: copyTile + ".u32", Params: tileCopyParams{}},
		{Name: copyTile + ".u32.texel", Params: tileCopyParams{}},
		{Name: copyTile + ".u32.texel.aligned", Params: tileCopyParams{}},
		{Name: copyTile + ".u32.texel.packed", Params: tileCopyParams{}},
		{Name: copyRows, Params: rowsParams{}},
		{Name: copyRows + ".aligned", Params: rowsParams{}},
		{Name: copyRows + ".splat", Params: rowsParams{}},
		{Name: copyRows + ".edges", Params: rowsParams{}},
	}...)
}

// AddCopy appends to a plan the launches that copy elements of d from src to dst. shape
// is the index space of both. Base of an operand is the position of its first element;
// its DType is ignored. The elements of dst must not overlap one another, and its strides
// are not negative. Those of src may be. Bits are copied unchanged.
// Errors: spec.ErrStrides for more than 8 dimensions that cannot be merged, and for rows
// of dst that interleave; *LimitError.
func AddCopy(plan *spec.Plan, t *spec.Target, d tensor.DType, shape []int, src, dst planner.Operand) error {
	if slices.Contains(shape, 0) {
		return nil
	}
	m := newMove(d, shape, src, dst)
	if len(m.n) > planner.MaxRank {
		return planner.Strides("%v with strides %v and %v (at most %d dimensions that differ)", shape, src.Strides, dst.Strides, planner.MaxRank)
	}
	if len(m.n) == 1 && m.src.Strides[0] == 1 && m.dst.Strides[0] == 1 {
		size := int64(m.src.DType.Size())
		from, to := int64(m.src.Base)*size, int64(m.dst.Base)*size
		if from%planner.WindowAlign(t) == 0 && to%planner.WindowAlign(t) == 0 {
			return AddFlatCopy(plan, t, int64(m.n[0])*size, src.Ref, from, dst.Ref, to)
		}
	}
	return m.addStrided(plan, t)
}

// AddFlatCopy appends to a plan the launches that copy bytes, from offset from in src to
// offset to in dst. Both offsets are multiples of planner.WindowAlign.
// Errors: *LimitError.
func AddFlatCopy(plan *spec.Plan, t *spec.Target, bytes int64, src spec.Ref, from int64, dst spec.Ref, to int64) error {
	first := len(plan.Steps)
	k := planner.FlatVariant(t, copyFlat, tensor.U8)
	k.Params = func(_, count int) any { return flatCopyParams{uint32(count)} }
	if err := planner.AddFlat(plan, t, k, int(bytes), planner.Flat(src, tensor.U8), planner.Flat(dst, tensor.U8)); err != nil {
		return err
	}
	for _, s := range plan.Steps[first:] {
		s.Bind[0].Offset += from
		s.Bind[1].Offset += to
	}
	return nil
}

// move is a copy in the form that the kernels need. Its elements are as large as
// possible, up to words of 4 bytes. It has as few dimensions as possible, in the order of
// their strides in the output.
type move struct {
	// n is the size of each dimension, outermost first.
	n []int
	// src and dst are the operands. The DType of both is U8, F16 or U32, and only its size
	// matters.
	src, dst planner.Operand
}

// newMove returns the copy of shape elements of dtype d from src to dst.
func newMove(d tensor.DType, shape []int, src, dst planner.Operand) *move {
	m := &move{n: shape, src: src, dst: dst}
	m.src.Strides, m.dst.Strides = slices.Clone(src.Strides), slices.Clone(dst.Strides)
	switch d.Size() {
	case 8: // Elements of 8 bytes are moved as pairs of words.
		m.scale(2)
		m.setDType(tensor.U32)
		m.n = append(slices.Clone(shape), 2)
		m.src.Strides, m.dst.Strides = append(m.src.Strides, 1), append(m.dst.Strides, 1)
	case 4:
		m.setDType(tensor.U32)
	case 2:
		m.setDType(tensor.F16)
	default:
		m.setDType(tensor.U8)
	}
	m.sort()
	m.widen()
	return m
}

// setDType sets the dtype of the elements that are moved.
func (m *move) setDType(d tensor.DType) { m.src.DType, m.dst.DType = d, d }

// size returns the size in bytes of an element that is moved.
func (m *move) size() int { return m.dst.DType.Size() }

// scale multiplies all strides and bases by a factor.
func (m *move) scale(by int) {
	m.src.Base *= by
	m.dst.Base *= by
	for i := range m.src.Strides {
		m.src.Strides[i] *= by
		m.dst.Strides[i] *= by
	}
}

// sort orders the dimensions by their stride in the output, largest first. It merges
// dimensions that can be walked as one.
func (m *move) sort() {
	order := make([]int, len(m.n))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if c := m.dst.Strides[b] - m.dst.Strides[a]; c != 0 {
			return c
		}
		return m.src.Strides[b] - m.src.Strides[a]
	})
	n, src, dst := make([]int, len(order)), make([]int, len(order)), make([]int, len(order))
	for i, d := range order {
		n[i], src[i], dst[i] = m.n[d], m.src.Strides[d], m.dst.Strides[d]
	}
	m.src.Strides, m.dst.Strides = src, dst
	shape, both := planner.Collapse(n, []planner.Operand{m.src, m.dst})
	m.n, m.src, m.dst = shape, both[0], both[1]
}

// widen merges pairs of elements into larger ones, while both elements of each pair
// always move together.
func (m *move) widen() {
	for m.size() < 4 {
		last := len(m.n) - 1
		even := m.n[last]%2 == 0 && m.src.Strides[last] == 1 && m.dst.Strides[last] == 1 && m.src.Base%2 == 0 && m.dst.Base%2 == 0
		for i := range last {
			even = even && m.src.Strides[i]%2 == 0 && m.dst.Strides[i]%2 == 0
		}
		if !even {
			return
		}
		m.n[last] /= 2
		m.src.Base /= 2
		m.dst.Base /= 2
		for i := range last {
			m.src.Strides[i] /= 2
			m.dst.Strides[i] /= 2
		}
		if m.size() == 2 {
			m.setDType(tensor.U32)
		} else {
			m.setDType(tensor.F16)
		}
	}
}

// addStrided appends the launches of the move, for regions that fit bindings.
func (m *move) addStrided(plan *spec.Plan, t *spec.Target) error {
	texel := planner.UsesTexels(t, planner.TexelGroup)
	launch, multiple := m.stridedStep, 1
	rows := m.byRows(t, texel)
	if m.packs() {
		multiple = 4
	} else if !rows && m.arrangeForTiles(t) {
		launch = m.tileStep
	}
	span := min(planner.MaxSpan(t, texel), planner.MaxWindow)
	return planner.Split(t, span, planner.RegionOf(m.n), []planner.Operand{m.src, m.dst}, multiple, func(r planner.Region) error {
		if m.size() < 4 {
			return m.part(r, 0, 1).addApart(plan, t, texel)
		}
		if rows {
			return m.addRows(plan, t, r)
		}
		return addWithin(plan, r, multiple, func(r planner.Region) (spec.Step, error) { return launch(t, r, texel) })
	})
}

// addWithin appends the launches of a region, which it halves while the region needs more
// workgroups than a launch of the device has.
func addWithin(plan *spec.Plan, r planner.Region, multiple int, launch func(planner.Region) (spec.Step, error)) error {
	step, err := launch(r)
	if err == nil {
		plan.Steps = append(plan.Steps, step)
		return nil
	}
	low, high, ok := halves(r, multiple, err)
	if !ok {
		return err
	}
	if err := addWithin(plan, low, multiple, launch); err != nil {
		return err
	}
	return addWithin(plan, high, multiple, launch)
}

// halves divides a region in its largest dimension, if err says that it needs more workgroups than a launch has. In the last dimension the first half is a multiple.
func halves(r planner.Region, multiple int, err error) (low, high planner.Region, ok bool) {
	d := 0
	for i, n := range r.N {
		if n > r.N[d] {
			d = i
		}
	}
	half := (r.N[d] + 1) / 2
	if d == len(r.N)-1 {
		half = planner.CeilDiv(half, multiple) * multiple
	}
	if limit := (*errs.LimitError)(nil); !errors.As(err, &limit) || half >= r.N[d] {
		return low, high, false
	}
	low, high = r.Halve(d, half)
	return low, high, true
}

// part returns the move of region r alone. In dimension d it takes every by-th index.
func (m *move) part(r planner.Region, d, by int) *move {
	p := &move{n: r.N, src: m.src, dst: m.dst}
	for i, from := range r.From {
		p.src.Base += from * m.src.Strides[i]
		p.dst.Base += from * m.dst.Strides[i]
	}
	p.src.Strides, p.dst.Strides = slices.Clone(m.src.Strides), slices.Clone(m.dst.Strides)
	p.src.Strides[d] *= by
	p.dst.Strides[d] *= by
	p.sort()
	return p
}

// addApart appends the launches of a move that fits bindings and whose elements are
// smaller than words. No two rows of one launch may write to the same word. Where the
// indices of a dimension lie too close together for that, even and odd indices get a
// launch each. Two rows of a launch are then at least a word apart, because two gaps and
// an element lie between them, or a row that itself has gaps.
// Errors: spec.ErrStrides if the elements of two rows interleave.
func (m *move) addApart(plan *spec.Plan, t *spec.Target, texel bool) error {
	per, reach, row := 4/m.size(), 1, true
	for d := len(m.n) - 1; d >= 0 && m.n[d] > 1; d-- {
		gap := m.dst.Strides[d] - reach
		if gap < 0 {
			return planner.Strides("an output of %v whose strides %v interleave its rows", m.n, m.dst.Strides)
		}
		row = row && gap == 0
		if !row && gap < per-1 {
			for odd := range 2 {
				half := planner.RegionOf(m.n)
				half.From[d], half.N[d] = odd, (m.n[d]+1-odd)/2
				if err := m.part(half, d, 2).addApart(plan, t, texel); err != nil {
					return err
				}
			}
			return nil
		}
		reach += (m.n[d] - 1) * m.dst.Strides[d]
	}
	whole := planner.RegionOf(m.n)
	step, err := m.stridedStep(t, whole, texel)
	if err == nil {
		plan.Steps = append(plan.Steps, step)
		return nil
	}
	low, high, ok := halves(whole, 1, err)
	if !ok {
		return err
	}
	// Rows of a half have other gaps.
	if err := m.part(low, 0, 1).addApart(plan, t, texel); err != nil {
		return err
	}
	return m.part(high, 0, 1).addApart(plan, t, texel)
}

// arrangeForTiles reports whether the tile kernel suits the move. It does if words that
// are neighbours in the output and words that are neighbours in the input lie along
// different dimensions. The method then moves the input's dimension to the second to last
// place.
func (m *move) arrangeForTiles(t *spec.Target) bool {
	const least = 4
	last := len(m.n) - 1
	if m.size() != 4 || m.n[last] < least || m.dst.Strides[last] != 1 || m.src.Strides[last] < 2 || t.MaxSharedBytes < 32*33*4 {
		return false
	}
	d := slices.Index(m.src.Strides, 1)
	if d < 0 || m.n[d] < least {
		return false
	}
	for _, s := range [][]int{m.n, m.src.Strides, m.dst.Strides} {
		moved := s[d]
		copy(s[d:last-1], s[d+1:last])
		s[last-1] = moved
	}
	return true
}

// tileStep returns the launch of copy_tile.comp for a region.
func (m *move) tileStep(t *spec.Target, r planner.Region, texel bool) (spec.Step, error) {
	in, srcBase := m.src.Window(t, r)
	out, dstBase := m.dst.Window(t, r)
	p := tileCopyParams{Rank: uint32(len(r.N)), SrcBase: srcBase, DstBase: dstBase}
	name, side, aligned, packed := copyTile+".u32", 32, srcBase%4 == 0, dstBase%4 == 0 && r.N[len(r.N)-1]%4 == 0
	if texel {
		name, side = name+".texel", 64
	}
	total := int64(1)
	for i := range r.N {
		d := len(r.N) - 1 - i
		p.N[i], p.Src[i], p.Dst[i] = uint32(r.N[d]), uint32(m.src.Strides[d]), uint32(m.dst.Strides[d])
		aligned = aligned && (i == 1 || m.src.Strides[d]%4 == 0)
		packed = packed && (i == 0 || m.dst.Strides[d]%4 == 0)
		if i >= 2 {
			total *= int64(r.N[d])
		}
	}
	down := side
	switch {
	case texel && aligned && packed:
		name, down = name+".packed", 4*side
	case texel && aligned:
		name += ".aligned"
	}
	p.Down, p.Across = planner.CeilDiv(p.N[0], uint32(down)), planner.CeilDiv(p.N[1], uint32(side))
	total *= int64(p.Down) * int64(p.Across)
	p.Total = uint32(min(total, math.MaxUint32))
	groups, err := planner.Grid(t, total)
	return spec.Step{Module: spirv.Kernel(name), Params: p, Bind: []spec.Bind{in, out}, Groups: groups}, err
}

// packs reports whether all rows consist of whole aligned packs in both operands.
func (m *move) packs() bool {
	last := len(m.n) - 1
	whole := m.size() == 4 && m.n[last]%4 == 0 && m.src.Strides[last] == 1 && m.dst.Strides[last] == 1 && m.src.Base%4 == 0 && m.dst.Base%4 == 0
	for d := range last {
		whole = whole && m.src.Strides[d]%4 == 0 && m.dst.Strides[d]%4 == 0
	}
	return whole
}

// stridedStep returns the launch of copy_strided.comp for a region.
func (m *move) stridedStep(t *spec.Target, r planner.Region, texel bool) (spec.Step, error) {
	in, srcBase := m.src.Window(t, r)
	out, dstBase := m.dst.Window(t, r)
	p := stridedCopyParams{Rank: uint32(len(r.N)), SrcBase: srcBase, DstBase: dstBase}
	for i := range r.N {
		d := len(r.N) - 1 - i
		p.N[i], p.Src[i], p.Dst[i] = uint32(r.N[d]), uint32(m.src.Strides[d]), uint32(m.dst.Strides[d])
	}
	per := uint32(4 / m.size())
	name := copyStrided + map[int]string{1: ".u8", 2: ".u16", 4: ".u32"}[m.size()]
	if m.packs() {
		name = copyStrided + ".u128"
		p.N[0] /= 4
		p.SrcBase /= 4
		p.DstBase /= 4
		for i := 1; i < len(r.N); i++ {
			d := len(r.N) - 1 - i
			p.Src[i], p.Dst[i] = uint32(m.src.Strides[d]/4), uint32(m.dst.Strides[d]/4)
		}
	}
	// A row includes more dimensions as long as the output continues without a gap.
	p.Run = 1
	for p.Inner < p.Rank && p.Dst[p.Inner] == p.Run {
		p.Run *= p.N[p.Inner]
		p.Inner++
	}
	// A row may begin at any element of a word, and not every row at the same one.
	rows, begins, same := int64(1), dstBase%per, true
	for d := p.Inner; d < p.Rank; d++ {
		rows *= int64(p.N[d])
		same = same && p.Dst[d]%per == 0
	}
	if !same {
		begins = per - 1
	}
	words := planner.CeilDiv(begins+p.Run, per)
	local, each := planner.SmallGroup, uint32(1)
	if texel {
		name, local, each = name+".texel", planner.TexelGroup, 4/per
	}
	p.Packs = planner.CeilDiv(words, each)
	total := rows * int64(p.Packs)
	p.Total = uint32(min(total, math.MaxUint32))
	groups, err := planner.Grid(t, planner.CeilDiv(total, int64(local)))
	return spec.Step{Module: spirv.Kernel(name), Params: p, Bind: []spec.Bind{in, out}, Groups: groups}, err
}
