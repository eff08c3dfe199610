package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	// attentionBudget bounds each temporary buffer of attention, in bytes.
	attentionBudget = 8 << 20
	// attentionBlock is how many keys a row's exponentials are made of at a time.
	attentionBlock = 1024
)

// attentionParams is the push-constant block of attention_softmax.
type attentionParams struct {
	Rows, Height, Keys, Wide, Block, Blocks               uint32
	Scale, ScaleLow                                       float32
	Masked, MaskBase, MaskMatrix, MaskRow, MaskCol, Whole uint32
}

// mergeParams is the push-constant block of attention_merge.
type mergeParams struct{ Rows, Wide, Part, Parts, First, Last, Before, After uint32 }

var attentionKernels = slices.Concat(
	planner.DTypeVariants("nn/attention_softmax", attentionParams{}, planner.Floats, func(d tensor.DType) bool { return d == tensor.F32 }),
	[]spec.Kernel{
		{Name: "nn/attention_softmax.f32.masked.texel", Params: attentionParams{}},
		{Name: "nn/attention_softmax.f16.masked.texel", Params: attentionParams{}},
		{Name: "nn/attention_softmax.bf16.masked.texel", Params: attentionParams{}},
	},
	planner.DTypeVariants("nn/attention_merge", mergeParams{}, []tensor.DType{tensor.F32, tensor.F64}, nil),
)

// attention plans softmax(Q·Kᵀ·scale + mask)·V tile by tile: scores and weights
// of some rows and keys are in temporary buffers of bounded size.
type attention struct {
	t     *spec.Target
	plan  *spec.Plan
	scale float64
	// Steps are along the batch dimensions, queries and keys; mask may be nil.
	mask *planner.Operand
	// Both have the shape batch, queries, and then keys and d, or dv and keys.
	scores, values *product
	out            planner.Operand
	// A tile has keys in parts blocks, of block keys each.
	parts, block int
	// Temporary buffers: scores, their exponentials, products and statistics.
	s, e, o, stats spec.Ref
	rows, cols     int // of a tile, all matrices together, and columns of V
	// whole says that a block is all keys, so that there is nothing to merge, and
	// direct that the product with the values is the result then.
	whole, direct bool
}

func (a *attention) size() int { return a.scores.accumulator().Size() }

// run plans all tiles.
func (a *attention) run() error {
	g := a.values
	dims := g.shape[:g.dimK()] // batch, queries, dv
	sq, dv, keys := g.size(g.dimM()), g.size(g.dimN()), g.size(g.dimK())
	span := planner.MaxSpan(a.t, a.scores.kind != sharedKind)
	room := int((min(span, attentionBudget) - planner.WindowAlign(a.t)) / int64(a.size()))
	rows := 1
	for _, n := range dims[:g.dimN()] {
		rows = min(rows*n, 1<<30)
	}
	a.parts, a.block = 1, min(planner.CeilDiv(max(keys, 1), 8)*8, attentionBlock)
	if rows < 16 { // few rows: blocks of keys side by side
		a.parts = max(min(16, planner.CeilDiv(keys, attentionBlock), int(a.t.MaxGroups[2])), 1)
	}
	reach := func() int { // keys of a tile that can be bound
		// Packed values are four columns at least, and must not be cut along the keys: a
		// part of them would meet the weights of another.
		most := min(room, int(min(span, packBudget)/int64(4*a.size())))
		for _, o := range []int{a.scores.b.Strides[g.dimM()+1], g.b.Strides[g.dimK()]} {
			most = min(most, (room-dv)/max(o, 1))
		}
		return most
	}
	for a.parts > 1 && a.parts*a.block > reach() {
		a.parts--
	}
	// Rows of scores, of products, and of the result's window.
	a.cols = min(dv, max(room/(1+a.parts)/16/8*8, 8))
	if dv*(1+a.parts) <= room/8 {
		a.cols = dv
	}
	wide := planner.CeilDiv(a.cols, 4) * 4
	most := min(room/(a.parts*a.block), room/(1+a.parts)/wide, room/(2*(a.parts+2)))
	if a.cols < dv {
		window := int((span - planner.WindowAlign(a.t)) / int64(a.out.DType.Size()))
		most = min(most, (window-a.cols)/dv+1)
	}
	most = max(most, 1)
	matrices, height := 1, min(sq, most)
	// What the mask has for a tile must fit a binding too.
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
	a.whole = a.parts == 1 && keys > 0 && keys <= a.block
	cell := int64(a.size())
	a.s = planner.AddScratch(a.plan, int64(a.rows*a.parts*a.block)*cell)
	a.e = planner.AddScratch(a.plan, int64(a.rows*a.parts*a.block)*cell)
	g.parts = a.parts
	if a.direct = a.whole && g.canWrite(a.out, nil); !a.direct {
		a.o = planner.AddScratch(a.plan, int64((1+a.parts)*a.rows*wide)*cell)
	}
	a.stats = planner.AddScratch(a.plan, int64(2*(a.parts+2)*a.rows)*cell)
	step := slices.Clone(dims)
	for d := range g.outer() + 1 {
		step[d] = 1
	}
	step[g.inner()], step[g.dimM()], step[g.dimN()] = matrices, height, a.cols
	return planner.Tiles(planner.RegionOf(dims), step, a.tile)
}

// tile plans some rows and columns of the result, over all keys.
func (a *attention) tile(b planner.Region) error {
	g := a.values
	all := g.size(g.dimK())
	if all == 0 {
		if err := a.merge(b, 0, 0, true); err != nil {
			return err
		}
	}
	for from, round := 0, 0; from < all; round++ {
		keys := min(all-from, a.parts*a.block)
		if err := a.weigh(b, from, keys); err != nil || a.direct {
			return err
		}
		if from += keys; a.whole {
			break
		}
		if err := a.merge(b, round, a.parts, from == all); err != nil {
			return err
		}
	}
	at := planner.Region{From: append(slices.Clone(b.From), 0), N: append(slices.Clone(b.N), all)}
	g.parts = 1
	return g.addFinish(at, a.o, 0, planner.CeilDiv(b.N[g.dimN()], 4)*4, a.out, nil)
}

// weigh plans the scores of a tile, their exponentials and the products of those
// with the values.
func (a *attention) weigh(b planner.Region, from, keys int) error {
	g := a.values
	m, n := g.dimM(), g.dimN()
	wide, height := planner.CeilDiv(keys, 4)*4, b.N[m]
	// The tile as a matrix of rows × keys, or of rows × dv.
	tileOf := func(ref spec.Ref, at planner.Region, wide, base int) planner.Operand {
		t := planner.Operand{Ref: ref, DType: a.scores.accumulator(), Strides: make([]int, len(g.shape)), Base: base}
		t.Strides[g.inner()], t.Strides[m] = height*wide, wide
		for _, d := range []int{g.inner(), m} {
			t.Base -= at.From[d] * t.Strides[d]
		}
		return t
	}
	at := planner.Region{From: append(slices.Clone(b.From), 0), N: append(slices.Clone(b.N), a.scores.size(g.dimK()))}
	at.From[n], at.N[n] = from, keys
	s := tileOf(a.s, at, wide, 0)
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
	if a.whole {
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

	at = planner.Region{From: append(slices.Clone(b.From), from), N: append(slices.Clone(b.N), keys)}
	columns := planner.CeilDiv(b.N[n], 4) * 4
	g.a = tileOf(a.e, at, wide, 0)
	g.a.Strides[g.dimK()] = 1
	g.a.Base -= from
	g.parts, g.part, g.run = a.parts, rows*columns, a.block
	if a.direct {
		return g.addRegion(at, a.out, nil, false)
	}
	before := rows * columns // what was made of the keys before
	if a.whole {
		before = 0
	}
	o := tileOf(a.o, at, columns, before)
	o.Strides[n] = 1
	o.Base -= at.From[n]
	return g.addRegion(at, o, nil, false)
}

// merge plans the sum of the parts of a tile and of what was there before.
func (a *attention) merge(b planner.Region, round, parts int, last bool) error {
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
