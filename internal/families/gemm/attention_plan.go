package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	// attentionBudget bounds each temporary buffer of attention on a CPU driver, in bytes.
	attentionBudget = 8 << 20
	// attentionBlock is the largest number of keys in a block, for which one invocation
	// computes the exponentials of a row.
	attentionBlock = 1024
)

// attentionParams is the push-constant block of attention_softmax.comp.
type attentionParams struct {
	Rows, Height, Keys, Wide, Block, Blocks               uint32
	Scale, ScaleLow                                       float32
	Masked, MaskBase, MaskMatrix, MaskRow, MaskCol, Whole uint32
	Seen                                                  int32
	More, Lengths, LengthFirst, LengthEach, LengthStep    uint32
}

// mergeParams is the push-constant block of attention_merge.comp.
type mergeParams struct{ Rows, Wide, Part, Parts, First, Last, Before, After uint32 }

var attentionKernels = slices.Concat(
	planner.DTypeVariants("nn/attention_softmax", attentionParams{}, planner.Floats, func(d tensor.DType) bool { return d == tensor.F32 }),
	[]spec.Kernel{
		{Name: "nn/attention_softmax.f32.masked.texel", Params: attentionParams{}},
		{Name: "nn/attention_softmax.f16.masked.texel", Params: attentionParams{}},
		{Name: "nn/attention_softmax.bf16.masked.texel", Params: attentionParams{}},
	},
	planner.DTypeVariants("nn/attention_merge", mergeParams{}, []tensor.DType{tensor.F32, tensor.F64}, nil),
	seenKernels, lengthKernels, fewKernels,
)

// attention plans softmax(Q·Kᵀ·scale + mask)·V tile by tile. A tile is a region of the
// result. The scores and weights of a tile, for some of the keys, are in temporary
// buffers of bounded size.
type attention struct {
	t     *spec.Target
	plan  *spec.Plan
	scale float64
	// causal says that a query does not see all keys: see seen.
	causal bool
	// lengths says how many keys there are, or is nil.
	lengths *lengths
	// mask has strides along the batch dimensions, queries and keys. It may be nil.
	mask *planner.Operand
	// scores is the product Q·Kᵀ, of shape [batch..., queries, keys, d]. values is the
	// product of the weights with V, of shape [batch..., queries, dv, keys].
	scores, values *product
	out            planner.Operand
	// In one round, a tile handles parts blocks of block keys each.
	parts, block int
	// These are temporary buffers: s for scores, e for their exponentials, o for products,
	// and stats for the largest score and the sum of exponentials of each row.
	s, e, o, stats spec.Ref
	// rows is the number of rows of a tile, of all its matrices together. cols is the
	// number of its columns.
	rows, cols int
	// oneBlock says that a block holds all keys, so that there is nothing to merge. direct
	// says that the product with the values is then written to the result.
	oneBlock, direct bool
	// weighed is the last tile whose weights were computed, if a block holds all keys. The
	// tiles of other columns of the same rows use the same weights.
	weighed *planner.Region
}

// elementBytes returns the size of an element in the temporary buffers.
func (a *attention) elementBytes() int { return a.scores.accumulator().Size() }

// addTiles chooses the size of the tiles and appends the steps of all of them.
func (a *attention) addTiles() error {
	g := a.values
	dims := g.shape[:g.dimK()] // These are the batch dimensions, queries and dv.
	sq, dv, keys := g.size(g.dimM()), g.size(g.dimN()), g.size(g.dimK())
	span := planner.MaxSpan(a.t, a.scores.kind != sharedKind)
	room := int((min(span, planner.ScratchBudget(a.t, attentionBudget)) - planner.WindowAlign(a.t)) / int64(a.elementBytes()))
	rows := 1
	for _, n := range dims[:g.dimN()] {
		rows = min(rows*n, 1<<30)
	}
	a.parts, a.block = 1, min(planner.CeilDiv(max(keys, 1), 8)*8, attentionBlock)
	if a.mask != nil && a.mask.Strides[g.dimM()] > 0 { // A tile has no more rows than a binding of the mask.
		window := int((span - planner.WindowAlign(a.t)) / int64(a.out.DType.Size()))
		rows = min(rows, max(window-a.block, 0)/a.mask.Strides[g.dimM()]+1)
	}
	if rows < 16 { // There are few rows. So several blocks of keys are computed at the same time.
		a.parts = max(min(16, planner.CeilDiv(keys, attentionBlock), int(a.t.MaxGroups[2])), 1)
	}
	// reach returns the largest number of keys that a tile can bind.
	reach := func() int {
		// At least four columns of V are packed, or those of a panel. They must not be split
		// along the keys, because a part of them would meet weights of other keys.
		columns := 4
		if g.lanes() != noLanes {
			columns = panelColumns
		}
		most := min(room, int(min(span, planner.ScratchBudget(a.t, packBudget))/int64(columns*a.elementBytes())))
		for _, o := range []int{a.scores.b.Strides[g.dimM()+1], g.b.Strides[g.dimK()]} {
			most = min(most, (room-dv)/max(o, 1))
		}
		return most
	}
	for a.parts > 1 && a.parts*a.block > reach() {
		a.parts--
	}
	// The number of rows is limited by the scores, by the products, and by the binding of
	// the result.
	a.cols = min(dv, max(room/(1+a.parts)/16/8*8, 8))
	if dv*(1+a.parts) <= room/8 {
		a.cols = dv
	}
	wide := planner.CeilDiv(a.cols, 4) * 4
	most := min(room/(a.parts*a.block), room/(1+a.parts)/wide, (room-a.lengths.count())/(2*(a.parts+2)))
	if a.cols < dv {
		window := int((span - planner.WindowAlign(a.t)) / int64(a.out.DType.Size()))
		most = min(most, (window-a.cols)/dv+1)
	}
	most = max(most, 1)
	matrices, height := 1, min(sq, most)
	// The part of the mask that belongs to a tile has to fit a binding too.
	left := int((span-planner.WindowAlign(a.t))/int64(a.out.DType.Size())) - a.parts*a.block
	if a.mask != nil && a.mask.Strides[g.dimM()] > 0 {
		height = min(height, left/a.mask.Strides[g.dimM()]+1)
		left -= (height - 1) * a.mask.Strides[g.dimM()]
	}
	if height == sq && a.parts == 1 && a.cols == dv {
		matrices = max(min(most/sq, g.size(g.inner())), 1)
		if a.mask != nil && a.mask.Strides[g.inner()] > 0 {
			matrices = min(matrices, left/a.mask.Strides[g.inner()]+1)
		}
	}
	a.rows = matrices * height
	a.oneBlock = a.parts == 1 && keys > 0 && keys <= a.block
	cell := int64(a.elementBytes())
	a.s = planner.AddScratch(a.plan, int64(a.rows*a.parts*a.block)*cell)
	a.e = planner.AddScratch(a.plan, int64(a.rows*a.parts*a.block)*cell)
	g.parts = a.parts
	if a.direct = a.oneBlock && g.canWrite(a.out, nil); !a.direct {
		a.o = planner.AddScratch(a.plan, int64((1+a.parts)*a.rows*wide)*cell)
	}
	a.stats = planner.AddScratch(a.plan, int64(2*(a.parts+2)*a.rows+a.lengths.count())*cell)
	if err := a.addLengths(); err != nil {
		return err
	}
	step := slices.Clone(dims)
	for d := range g.outer() + 1 {
		step[d] = 1
	}
	step[g.inner()], step[g.dimM()], step[g.dimN()] = matrices, height, a.cols
	return planner.Tiles(planner.RegionOf(dims), step, a.addTile)
}

// addTile appends the steps of one tile, over all keys.
func (a *attention) addTile(b planner.Region) error {
	g := a.values
	all := a.keysOf(b)
	if all == 0 {
		if err := a.addMerge(b, 0, 0, true); err != nil {
			return err
		}
	}
	for from, round := 0, 0; from < all; round++ {
		keys := min(all-from, a.parts*a.block)
		if err := a.addWeighted(b, from, keys); err != nil || a.direct {
			return err
		}
		if from += keys; a.oneBlock {
			break
		}
		if err := a.addMerge(b, round, a.parts, from == all); err != nil {
			return err
		}
	}
	at := planner.Region{From: append(slices.Clone(b.From), 0), N: append(slices.Clone(b.N), all)}
	g.parts = 1
	return g.addFinish(at, chunk{parts: a.o, wide: planner.CeilDiv(b.N[g.dimN()], 4) * 4}, a.out, nil)
}

// tileOf returns ref as a matrix of rows × keys, or of rows × dv, with wide elements a row.
func (a *attention) tileOf(b planner.Region, ref spec.Ref, at planner.Region, wide, base int) planner.Operand {
	g := a.values
	m := g.dimM()
	t := planner.Operand{Ref: ref, DType: a.scores.accumulator(), Strides: make([]int, len(g.shape)), Base: base}
	t.Strides[g.inner()], t.Strides[m] = b.N[m]*wide, wide
	for _, d := range []int{g.inner(), m} {
		t.Base -= at.From[d] * t.Strides[d]
	}
	return t
}

// addWeights appends the scores of a tile for keys from to from+keys-1, and their
// exponentials.
func (a *attention) addWeights(b planner.Region, from, keys int) error {
	g := a.values
	m, n := g.dimM(), g.dimN()
	if w := a.weighed; w != nil && slices.Equal(w.From[:n], b.From[:n]) && slices.Equal(w.N[:n], b.N[:n]) {
		return nil
	}
	if a.oneBlock {
		done := b.Clone()
		a.weighed = &done
	}
	wide, height := planner.CeilDiv(keys, 4)*4, b.N[m]
	at := planner.Region{From: append(slices.Clone(b.From), 0), N: append(slices.Clone(b.N), a.scores.size(g.dimK()))}
	at.From[n], at.N[n] = from, keys
	s := a.tileOf(b, a.s, at, wide, 0)
	s.Strides[n] = 1
	s.Base -= from
	if err := a.scores.addRegion(at, s, nil, false); err != nil {
		return err
	}

	rows := b.N[g.inner()] * height
	p := attentionParams{
		Rows: uint32(rows), Height: uint32(height), Keys: uint32(keys), Wide: uint32(wide / 4),
		Block: uint32(a.block / 4), Blocks: uint32(a.parts), Scale: float32(a.scale),
	}
	p.ScaleLow = float32(a.scale - float64(p.Scale))
	p.Seen, p.More = a.seenBy(b.From[m], from)
	if p.LengthEach = 1; a.lengths != nil {
		p.Lengths, p.LengthFirst, p.LengthEach, p.LengthStep = uint32(a.lengthsAt()), a.matrix(b), a.lengths.each, a.lengths.step
	}
	if a.oneBlock {
		p.Whole = 1
	}
	kernel := "nn/attention_softmax." + a.scores.a.DType.String()
	step := spec.Step{Bind: []spec.Bind{{Buf: a.s}, {Buf: a.s}, {Buf: a.e}, {Buf: a.stats}}}
	local := planner.SmallGroup
	switch {
	case a.scores.kind == sharedKind:
	case a.mask != nil:
		kernel, local = kernel+".masked.texel", 8
	default:
		kernel, local = "nn/attention_softmax.f32.texel", 8
	}
	if a.mask != nil {
		at := at.Clone()
		at.N[g.dimK()] = 1
		p.Masked = 1
		p.MaskMatrix, p.MaskRow, p.MaskCol = uint32(a.mask.Strides[g.inner()]), uint32(a.mask.Strides[m]), uint32(a.mask.Strides[n])
		step.Bind[1], p.MaskBase = a.mask.Window(a.t, at)
	}
	step.Module, step.Params = spirv.Kernel(kernel), p
	var err error
	if step.Groups, err = planner.Grid(a.t, planner.CeilDiv(int64(rows)*int64(a.parts), int64(local))); err != nil {
		return err
	}
	a.plan.Steps = append(a.plan.Steps, step)
	return nil
}

// addWeighted appends the weights of a tile for keys from to from+keys-1, and their products
// with the values.
func (a *attention) addWeighted(b planner.Region, from, keys int) error {
	if err := a.addWeights(b, from, keys); err != nil {
		return err
	}
	g := a.values
	n := g.dimN()
	at := planner.Region{From: append(slices.Clone(b.From), from), N: append(slices.Clone(b.N), keys)}
	columns := planner.CeilDiv(b.N[n], 4) * 4
	rows := b.N[g.inner()] * b.N[g.dimM()]
	g.a = a.tileOf(b, a.e, at, planner.CeilDiv(keys, 4)*4, 0)
	g.a.Strides[g.dimK()] = 1
	g.a.Base -= from
	g.parts, g.part, g.run = a.parts, rows*columns, a.block
	o := a.out
	if !a.direct {
		before := rows * columns // The products for earlier keys come first.
		if a.oneBlock {          // There are no earlier keys.
			before = 0
		}
		o = a.tileOf(b, a.o, at, columns, before)
		o.Strides[n] = 1
		o.Base -= at.From[n]
	}
	if err := g.addRegion(at, o, nil, false); err != nil {
		return err
	}
	return a.addSeen(at, o)
}

// addMerge appends the launch that adds the parts of a tile to what earlier rounds have
// computed.
func (a *attention) addMerge(b planner.Region, round, parts int, last bool) error {
	g := a.values
	rows, wide := b.N[g.inner()]*b.N[g.dimM()], planner.CeilDiv(b.N[g.dimN()], 4)
	p := mergeParams{
		Rows: uint32(rows), Wide: uint32(wide), Part: uint32(rows * wide), Parts: uint32(parts),
		Before: uint32(2 * rows * (a.parts + round%2)), After: uint32(2 * rows * (a.parts + 1 - round%2)),
	}
	if round == 0 {
		p.First = 1
	}
	if last {
		p.Last = 1
	}
	groups, err := planner.Grid(a.t, planner.CeilDiv(int64(rows)*int64(wide), planner.SmallGroup))
	a.plan.Steps = append(a.plan.Steps, spec.Step{
		Module: spirv.Kernel("nn/attention_merge." + g.accumulator().String()), Bind: []spec.Bind{{Buf: a.o}, {Buf: a.stats}}, Params: p, Groups: groups,
	})
	return err
}
