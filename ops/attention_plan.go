package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
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
	dtypeVariants("nn/attention_softmax", attentionParams{}, floats, func(d tensor.DType) bool { return d == tensor.F32 }),
	[]spec.Kernel{
		{Name: "nn/attention_softmax.f32.masked.texel", Params: attentionParams{}},
		{Name: "nn/attention_softmax.f16.masked.texel", Params: attentionParams{}},
		{Name: "nn/attention_softmax.bf16.masked.texel", Params: attentionParams{}},
	},
	dtypeVariants("nn/attention_merge", mergeParams{}, []tensor.DType{tensor.F32, tensor.F64}, nil),
)

// attention plans softmax(Q·Kᵀ·scale + mask)·V tile by tile: scores and weights
// of some rows and keys are in temporary buffers of bounded size.
type attention struct {
	t     *spec.Target
	plan  *spec.Plan
	scale float64
	// Steps are along the batch dimensions, queries and keys; mask may be nil.
	mask *gemmMatrix
	// Both have the shape batch, queries, and then keys and d, or dv and keys.
	scores, values *gemm
	out            gemmMatrix
	// A tile has keys in parts blocks, of block keys each.
	parts, block int
	// Temporary buffers: scores, their exponentials, products and statistics.
	s, e, o, stats spec.Ref
	rows, cols     int // of a tile, all matrices together, and columns of V
	// whole says that a block is all keys, so that there is nothing to merge, and
	// direct that the product with the values is the result then.
	whole, direct bool
}

func (a *attention) size() int { return a.scores.cell().Size() }

// run plans all tiles.
func (a *attention) run() error {
	g := a.values
	dims := g.shape[:g.dimK()] // batch, queries, dv
	sq, dv, keys := g.size(g.dimM()), g.size(g.dimN()), g.size(g.dimK())
	span := maxSpan(a.t, a.scores.mode != gemmShared)
	room := int((min(span, attentionBudget) - windowAlign(a.t)) / int64(a.size()))
	rows := 1
	for _, n := range dims[:g.dimN()] {
		rows = min(rows*n, 1<<30)
	}
	a.parts, a.block = 1, min(ceilDiv(max(keys, 1), 8)*8, attentionBlock)
	if rows < 16 { // few rows: blocks of keys side by side
		a.parts = max(min(16, ceilDiv(keys, attentionBlock), int(a.t.MaxGroups[2])), 1)
	}
	reach := func() int { // keys of a tile that can be bound
		// Packed values are four columns at least, and must not be cut along the keys: a
		// part of them would meet the weights of another.
		most := min(room, int(min(span, gemmBudget)/int64(4*a.size())))
		for _, o := range []int{a.scores.b.steps[g.dimM()+1], g.b.steps[g.dimK()]} {
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
	wide := ceilDiv(a.cols, 4) * 4
	most := min(room/(a.parts*a.block), room/(1+a.parts)/wide, room/(2*(a.parts+2)))
	if a.cols < dv {
		window := int((span - windowAlign(a.t)) / int64(a.out.dtype.Size()))
		most = min(most, (window-a.cols)/dv+1)
	}
	most = max(most, 1)
	matrices, height := 1, min(sq, most)
	// What the mask has for a tile must fit a binding too.
	left := int((span-windowAlign(a.t))/int64(a.out.dtype.Size())) - a.parts*a.block
	if a.mask != nil && a.mask.steps[g.dimM()] > 0 {
		height = min(height, left/a.mask.steps[g.dimM()]+1)
		left -= (height - 1) * a.mask.steps[g.dimM()]
	}
	if height == sq && a.parts == 1 && a.cols == dv {
		matrices = max(min(most/sq, g.size(g.inner())), 1)
		if a.mask != nil && a.mask.steps[g.inner()] > 0 {
			matrices = min(matrices, left/a.mask.steps[g.inner()]+1)
		}
	}
	a.rows = matrices * height
	a.whole = a.parts == 1 && keys > 0 && keys <= a.block
	cell := int64(a.size())
	a.s = a.scores.scratch(int64(a.rows*a.parts*a.block) * cell)
	a.e = a.scores.scratch(int64(a.rows*a.parts*a.block) * cell)
	g.parts = a.parts
	if a.direct = a.whole && g.takes(a.out, nil); !a.direct {
		a.o = a.scores.scratch(int64((1+a.parts)*a.rows*wide) * cell)
	}
	a.stats = a.scores.scratch(int64(2*(a.parts+2)*a.rows) * cell)
	step := slices.Clone(dims)
	for d := range g.outer() + 1 {
		step[d] = 1
	}
	step[g.inner()], step[g.dimM()], step[g.dimN()] = matrices, height, a.cols
	return tiles(box{make([]int, len(dims)), slices.Clone(dims)}, step, a.tile)
}

// tile plans some rows and columns of the result, over all keys.
func (a *attention) tile(b box) error {
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
	at := box{append(slices.Clone(b.from), 0), append(slices.Clone(b.n), all)}
	g.parts = 1
	return g.finish(at, a.o, 0, ceilDiv(b.n[g.dimN()], 4)*4, a.out, nil)
}

// weigh plans the scores of a tile, their exponentials and the products of those
// with the values.
func (a *attention) weigh(b box, from, keys int) error {
	g := a.values
	m, n := g.dimM(), g.dimN()
	wide, height := ceilDiv(keys, 4)*4, b.n[m]
	// The tile as a matrix of rows × keys, or of rows × dv.
	tileOf := func(ref spec.Ref, at box, wide, base int) gemmMatrix {
		t := gemmMatrix{strided: strided{ref, a.scores.cell(), make([]int, len(g.shape))}, base: int64(base)}
		t.steps[g.inner()], t.steps[m] = height*wide, wide
		for _, d := range []int{g.inner(), m} {
			t.base -= int64(at.from[d]) * int64(t.steps[d])
		}
		return t
	}
	at := box{append(slices.Clone(b.from), 0), append(slices.Clone(b.n), a.scores.size(g.dimK()))}
	at.from[n], at.n[n] = from, keys
	s := tileOf(a.s, at, wide, 0)
	s.steps[n] = 1
	s.base -= int64(from)
	if err := a.scores.region(at, s, nil, false); err != nil {
		return err
	}

	rows := b.n[g.inner()] * height
	p := attentionParams{
		Rows: uint32(rows), Height: uint32(height), Keys: uint32(keys), Wide: uint32(wide / 4),
		Block: uint32(a.block / 4), Blocks: uint32(a.parts), Scale: float32(a.scale),
	}
	p.ScaleLow = float32(a.scale - float64(p.Scale))
	if a.whole {
		p.Whole = 1
	}
	step := spec.Step{Kernel: "nn/attention_softmax." + a.scores.a.dtype.String(), Bind: []spec.Bind{{Buf: a.s}, {Buf: a.s}, {Buf: a.e}, {Buf: a.stats}}}
	local := smallGroup
	switch {
	case a.scores.mode == gemmShared:
	case a.mask != nil:
		step.Kernel, local = step.Kernel+".masked.texel", 8
	default:
		step.Kernel, local = "nn/attention_softmax.f32.texel", 8
	}
	emit := func(p attentionParams) (err error) {
		step.Params = p
		step.Groups, err = grid(a.t, ceilDiv(int64(p.Rows)*int64(a.parts), int64(local)))
		a.plan.Steps = append(a.plan.Steps, step)
		return err
	}
	if a.mask != nil {
		at := box{slices.Clone(at.from), slices.Clone(at.n)}
		at.n[g.dimK()] = 1
		p.Masked = 1
		p.MaskMatrix, p.MaskRow, p.MaskCol = uint32(a.mask.steps[g.inner()]), uint32(a.mask.steps[m]), uint32(a.mask.steps[n])
		step.Bind[1], p.MaskBase = a.mask.bound(a.t, at)
	}
	if err := emit(p); err != nil {
		return err
	}

	at = box{append(slices.Clone(b.from), from), append(slices.Clone(b.n), keys)}
	columns := ceilDiv(b.n[n], 4) * 4
	g.a = tileOf(a.e, at, wide, 0)
	g.a.steps[g.dimK()] = 1
	g.a.base -= int64(from)
	g.parts, g.part, g.run = a.parts, rows*columns, a.block
	if a.direct {
		return g.region(at, a.out, nil, false)
	}
	before := rows * columns // what was made of the keys before
	if a.whole {
		before = 0
	}
	o := tileOf(a.o, at, columns, before)
	o.steps[n] = 1
	o.base -= int64(at.from[n])
	return g.region(at, o, nil, false)
}

// merge plans the sum of the parts of a tile and of what was there before.
func (a *attention) merge(b box, round, parts int, last bool) error {
	g := a.values
	rows, wide := b.n[g.inner()]*b.n[g.dimM()], ceilDiv(b.n[g.dimN()], 4)
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
	groups, err := grid(a.t, ceilDiv(int64(rows)*int64(wide), smallGroup))
	a.plan.Steps = append(a.plan.Steps, spec.Step{
		Kernel: "nn/attention_merge." + g.cell().String(), Bind: []spec.Bind{{Buf: a.o}, {Buf: a.stats}}, Params: p, Groups: groups,
	})
	return err
}
