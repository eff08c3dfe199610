package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// place is where a copy reads or writes a shape: from element base of an operand
// on, with strides in elements.
type place struct {
	ref   spec.Ref
	base  int
	steps []int
}

// placeOf is the whole of an operand.
func placeOf(ref spec.Ref, d tensor.Desc) place { return place{ref: ref, steps: d.ElementStrides()} }

// Kernels of the moves, and the parameters of those of copy_strided.comp.
const (
	copyFlat    = "move/copy"
	copyStrided = "move/copy_strided"
	copyTile    = "move/copy_tile"
	maxRank     = 8
)

type flatCopyParams struct{ Count uint32 }

type stridedCopyParams struct {
	N, Src, Dst                    [maxRank]uint32
	Rank, Inner, Run, Packs, Total uint32
	SrcBase, DstBase               uint32
}

type tileCopyParams struct {
	N, Src, Dst               [maxRank]uint32
	Rank, Down, Across, Total uint32
	SrcBase, DstBase          uint32
}

// maxWindow keeps element numbers within 31 bits.
const maxWindow = 1 << 30

// addCopy appends to a plan the launches that copy a shape of d from src to dst.
// The elements of dst must not overlap one another. Elements are moved as bits.
// Errors: ErrUnsupported for more than 8 dimensions that cannot be taken
// together.
func addCopy(plan *spec.Plan, t *spec.Target, d tensor.DType, shape []int, src, dst place) error {
	if slices.Contains(shape, 0) {
		return nil
	}
	m := newMove(d, shape, src, dst)
	if len(m.n) > maxRank {
		return unsupported("copy", "%v with strides %v and %v (at most %d dimensions that differ)", shape, src.steps, dst.steps, maxRank)
	}
	if len(m.n) == 1 && m.src.steps[0] == 1 && m.dst.steps[0] == 1 {
		size := int64(m.dtype.Size())
		from, to := int64(m.src.base)*size, int64(m.dst.base)*size
		if from%windowAlign(t) == 0 && to%windowAlign(t) == 0 {
			return addFlatCopy(plan, t, int64(m.n[0])*size, src.ref, from, dst.ref, to)
		}
	}
	return m.addStrided(plan, t)
}

// addFlatCopy appends the copy of n bytes between aligned offsets.
func addFlatCopy(plan *spec.Plan, t *spec.Target, n int64, src spec.Ref, from int64, dst spec.Ref, to int64) error {
	part := &spec.Plan{}
	k := flatVariant(t, copyFlat, tensor.U8)
	k.params = func(_, count int) any { return flatCopyParams{uint32(count)} }
	if err := addFlat(part, t, k, int(n), flatOperand{src, tensor.U8}, flatOperand{dst, tensor.U8}); err != nil {
		return err
	}
	for i := range part.Steps {
		part.Steps[i].Bind[0].Offset += from
		part.Steps[i].Bind[1].Offset += to
	}
	plan.Steps = append(plan.Steps, part.Steps...)
	return nil
}

// move is a copy in the form the kernels like: words where it can be words, as
// few dimensions as there are, ordered by where they lead in the output.
type move struct {
	dtype    tensor.DType // U8, U16 (as F16) or U32: only its size counts
	n        []int        // outermost first
	src, dst place
}

func newMove(d tensor.DType, shape []int, src, dst place) *move {
	m := &move{dtype: d, n: shape, src: src, dst: dst}
	m.src.steps, m.dst.steps = slices.Clone(src.steps), slices.Clone(dst.steps)
	switch d.Size() {
	case 8: // pairs of words
		m.scale(2)
		m.dtype = tensor.U32
		m.n = append(slices.Clone(shape), 2)
		m.src.steps, m.dst.steps = append(m.src.steps, 1), append(m.dst.steps, 1)
	case 4:
		m.dtype = tensor.U32
	case 2:
		m.dtype = tensor.F16
	default:
		m.dtype = tensor.U8
	}
	m.sort()
	m.widen()
	return m
}

func (m *move) scale(by int) {
	m.src.base *= by
	m.dst.base *= by
	for i := range m.src.steps {
		m.src.steps[i] *= by
		m.dst.steps[i] *= by
	}
}

// sort orders the dimensions by their stride in the output, largest first, and
// merges those that are one.
func (m *move) sort() {
	order := make([]int, len(m.n))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if c := m.dst.steps[b] - m.dst.steps[a]; c != 0 {
			return c
		}
		return m.src.steps[b] - m.src.steps[a]
	})
	n, src, dst := make([]int, len(order)), make([]int, len(order)), make([]int, len(order))
	for i, d := range order {
		n[i], src[i], dst[i] = m.n[d], m.src.steps[d], m.dst.steps[d]
	}
	shape, both := collapse(n, []strided{{steps: src}, {steps: dst}})
	m.n, m.src.steps, m.dst.steps = shape, both[0].steps, both[1].steps
}

// widen moves larger elements where neighbours always move together.
func (m *move) widen() {
	for m.dtype.Size() < 4 {
		last := len(m.n) - 1
		even := m.n[last]%2 == 0 && m.src.steps[last] == 1 && m.dst.steps[last] == 1 && m.src.base%2 == 0 && m.dst.base%2 == 0
		for i := range last {
			even = even && m.src.steps[i]%2 == 0 && m.dst.steps[i]%2 == 0
		}
		if !even {
			return
		}
		m.n[last] /= 2
		m.src.base /= 2
		m.dst.base /= 2
		for i := range last {
			m.src.steps[i] /= 2
			m.dst.steps[i] /= 2
		}
		if m.dtype.Size() == 2 {
			m.dtype = tensor.U32
		} else {
			m.dtype = tensor.F16
		}
	}
}

// operands are the two places for boxes.
func (m *move) operands() (src, dst strided) {
	return strided{ref: m.src.ref, dtype: m.dtype, steps: m.src.steps}, strided{ref: m.dst.ref, dtype: m.dtype, steps: m.dst.steps}
}

func (m *move) addStrided(plan *spec.Plan, t *spec.Target) error {
	texel := usesTexels(t, texelGroup)
	src, dst := m.operands()
	launch, keep := m.strided, 1
	if m.packs() {
		keep = 4
	} else if m.turn(t) {
		launch = m.tile
	}
	return boxes(t, min(maxSpan(t, texel), maxWindow), m.n, []strided{src, dst}, keep, func(b box) error {
		if m.dtype.Size() < 4 {
			return m.part(b, 0, 1).addApart(plan, t, texel)
		}
		step, err := launch(t, b, texel)
		if err == nil {
			plan.Steps = append(plan.Steps, step)
		}
		return err
	})
}

// part is the move of a box alone, with dimension d taken in steps of by.
func (m *move) part(b box, d, by int) *move {
	p := &move{dtype: m.dtype, n: b.n, src: m.src, dst: m.dst}
	for i, from := range b.from {
		p.src.base += from * m.src.steps[i]
		p.dst.base += from * m.dst.steps[i]
	}
	p.src.steps, p.dst.steps = slices.Clone(m.src.steps), slices.Clone(m.dst.steps)
	p.src.steps[d] *= by
	p.dst.steps[d] *= by
	p.sort()
	return p
}

// addApart appends the launches of a move that fits bindings, of elements
// smaller than words, so that no two rows of a launch share a word: where the
// indices of a dimension lead so close together, even and odd ones have a launch
// each. Two of a kind are a word apart then: at least two gaps and an element lie
// between them, or what has gaps itself.
// Errors: ErrUnsupported if an index of one dimension leads to between the
// elements that another dimension leads to.
func (m *move) addApart(plan *spec.Plan, t *spec.Target, texel bool) error {
	per, reach, row := 4/m.dtype.Size(), 1, true
	for d := len(m.n) - 1; d >= 0 && m.n[d] > 1; d-- {
		gap := m.dst.steps[d] - reach
		if gap < 0 {
			return unsupported("copy", "an output of %v with strides %v, which interleave", m.n, m.dst.steps)
		}
		row = row && gap == 0
		if !row && gap < per-1 {
			for odd := range 2 {
				half := box{make([]int, len(m.n)), slices.Clone(m.n)}
				half.from[d], half.n[d] = odd, (m.n[d]+1-odd)/2
				if err := m.part(half, d, 2).addApart(plan, t, texel); err != nil {
					return err
				}
			}
			return nil
		}
		reach += (m.n[d] - 1) * m.dst.steps[d]
	}
	step, err := m.strided(t, box{make([]int, len(m.n)), m.n}, texel)
	plan.Steps = append(plan.Steps, step)
	return err
}

// turn reports whether tiles suit: words that are neighbours in the output and
// in the input along two different dimensions, of which the latter then comes
// second to last.
func (m *move) turn(t *spec.Target) bool {
	const least = 4
	last := len(m.n) - 1
	if m.dtype != tensor.U32 || m.n[last] < least || m.dst.steps[last] != 1 || m.src.steps[last] < 2 || t.MaxSharedBytes < 32*33*4 {
		return false
	}
	d := slices.Index(m.src.steps, 1)
	if d < 0 || m.n[d] < least {
		return false
	}
	for _, s := range [][]int{m.n, m.src.steps, m.dst.steps} {
		moved := s[d]
		copy(s[d:last-1], s[d+1:last])
		s[last-1] = moved
	}
	return true
}

// tile is the launch of copy_tile.comp for a box.
func (m *move) tile(t *spec.Target, b box, texel bool) (spec.Step, error) {
	src, dst := m.operands()
	in, srcBase := src.windowAt(t, b, m.src.base)
	out, dstBase := dst.windowAt(t, b, m.dst.base)
	p := tileCopyParams{Rank: uint32(len(b.n)), SrcBase: srcBase, DstBase: dstBase}
	name, side, aligned, packed := copyTile+".u32", 32, srcBase%4 == 0, dstBase%4 == 0 && b.n[len(b.n)-1]%4 == 0
	if texel {
		name, side = name+".texel", 64
	}
	total := int64(1)
	for i := range b.n {
		d := len(b.n) - 1 - i
		p.N[i], p.Src[i], p.Dst[i] = uint32(b.n[d]), uint32(src.steps[d]), uint32(dst.steps[d])
		aligned = aligned && (i == 1 || src.steps[d]%4 == 0)
		packed = packed && (i == 0 || dst.steps[d]%4 == 0)
		if i >= 2 {
			total *= int64(b.n[d])
		}
	}
	down := side
	switch {
	case texel && aligned && packed:
		name, down = name+".packed", 4*side
	case texel && aligned:
		name += ".aligned"
	}
	p.Down, p.Across = ceilDiv(p.N[0], uint32(down)), ceilDiv(p.N[1], uint32(side))
	total *= int64(p.Down) * int64(p.Across)
	p.Total = uint32(min(total, math.MaxUint32))
	groups, err := grid(t, total)
	return spec.Step{Kernel: name, Params: p, Bind: []spec.Bind{in, out}, Groups: groups}, err
}

// packs reports whether rows lie in whole packs on both sides.
func (m *move) packs() bool {
	last := len(m.n) - 1
	whole := m.dtype == tensor.U32 && m.n[last]%4 == 0 && m.src.steps[last] == 1 && m.dst.steps[last] == 1 && m.src.base%4 == 0 && m.dst.base%4 == 0
	for d := range last {
		whole = whole && m.src.steps[d]%4 == 0 && m.dst.steps[d]%4 == 0
	}
	return whole
}

// strided is the launch of copy_strided.comp for a box.
func (m *move) strided(t *spec.Target, b box, texel bool) (spec.Step, error) {
	src, dst := m.operands()
	in, srcBase := src.windowAt(t, b, m.src.base)
	out, dstBase := dst.windowAt(t, b, m.dst.base)
	p := stridedCopyParams{Rank: uint32(len(b.n)), SrcBase: srcBase, DstBase: dstBase}
	for i := range b.n {
		d := len(b.n) - 1 - i
		p.N[i], p.Src[i], p.Dst[i] = uint32(b.n[d]), uint32(src.steps[d]), uint32(dst.steps[d])
	}
	per := uint32(4 / m.dtype.Size())
	name := copyStrided + map[int]string{1: ".u8", 2: ".u16", 4: ".u32"}[m.dtype.Size()]
	if m.packs() {
		name = copyStrided + ".u128"
		p.N[0] /= 4
		p.SrcBase /= 4
		p.DstBase /= 4
		for i := 1; i < len(b.n); i++ {
			p.Src[i] /= 4
			p.Dst[i] /= 4
		}
	}
	// A row takes in dimensions as long as the output goes on without a gap.
	p.Run = 1
	for p.Inner < p.Rank && p.Dst[p.Inner] == p.Run {
		p.Run *= p.N[p.Inner]
		p.Inner++
	}
	// Where in a word it begins may differ from row to row.
	rows, begins, same := int64(1), dstBase%per, true
	for d := p.Inner; d < p.Rank; d++ {
		rows *= int64(p.N[d])
		same = same && p.Dst[d]%per == 0
	}
	if !same {
		begins = per - 1
	}
	words := ceilDiv(begins+p.Run, per)
	local, each := smallGroup, uint32(1)
	if texel {
		name, local, each = name+".texel", texelGroup, 4/per
	}
	p.Packs = ceilDiv(words, each)
	total := rows * int64(p.Packs)
	p.Total = uint32(min(total, math.MaxUint32))
	groups, err := grid(t, ceilDiv(total, int64(local)))
	return spec.Step{Kernel: name, Params: p, Bind: []spec.Bind{in, out}, Groups: groups}, err
}
