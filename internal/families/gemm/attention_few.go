package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// A step of a decoder is attention of one query. As products of matrices it would cost as much as the cache has room for. The kernels of this file
// visit the keys that a query sees, whose number they read on the device.

const (
	fewShader, fewMergeShader = "nn/attention_few", "nn/attention_few_merge"
	// byFew is the strategy of these kernels, and byTiles that of products by tiles if nothing else has a name.
	byFew, byTiles = "few", "tiles"
	// fewQueries is the largest number of queries of a matrix: each of them reads the keys anew.
	fewQueries = 4
	// fewChunk is the largest number of keys of a workgroup, and fewChunks the largest number of ranges of keys.
	fewChunk, fewChunks = 256, 1 << 10
	// fewHeads is the number of matrices with common keys that a workgroup of a CPU driver takes.
	fewHeads = 4
	// fewRoom is the largest cache of F32 for which these kernels are chosen by themselves where kernels read texels. Over a cache that fills up, tiles
	// win there from 512 keys on.
	fewRoom = 256
	// fewDepth is the largest number of elements of a key.
	fewDepth = 4096
	// fewGroups is how many workgroups keep a GPU busy.
	fewGroups = 512
	// fewBindings is the number of operands of a launch, and fewIterations is more than an invocation iterates.
	fewBindings, fewIterations = 6, 5 * fewDepth
)

// fewParams is the push-constant block of attention_few.comp.
type fewParams struct {
	Rows, Height, Inner, Keys, Chunk, Depth, Width, Flags uint32
	Scale, ScaleLow                                       float32
	LengthBase, LengthEach, First, OuterRows, AllRows     uint32
	QBase, QOuter, QInner, QRow                           uint32
	KBase, KOuter, KInner, KRow                           uint32
	VBase, VOuter, VInner, VRow                           uint32
	MaskBase, MaskOuter, MaskInner, MaskRow               uint32
}

// fewMergeParams is the push-constant block of attention_few_merge.comp.
type fewMergeParams struct {
	Count, Column, Row, Width, Height, Keys, Chunk, Flags, LengthBase, LengthEach, AllRows uint32
}

// These are bits of Flags.
const (
	fewCausal = 1 << iota
	fewMask
	fewMaskColumns
	fewLengths
	fewWide
)

var fewKernels = slices.Concat(
	sharedFewKernels(),
	planner.DTypeVariants(fewShader, fewParams{}, planner.Floats, func(d tensor.DType) bool { return d.Size() < 8 }),
	planner.DTypeVariants(fewMergeShader, fewMergeParams{}, planner.Floats, nil),
)

// sharedFewKernels are the kernels for heads with common keys.
func sharedFewKernels() (list []spec.Kernel) {
	for _, d := range []tensor.DType{tensor.F32, tensor.F16, tensor.BF16} {
		for _, variant := range []string{".shared", ".texel.shared"} {
			list = append(list, spec.Kernel{Name: fewShader + "." + d.String() + variant, Params: fewParams{}})
		}
	}
	return list
}

// fewAttention reports whether the kernels for few queries suit a call.
func fewAttention(t *spec.Target, in []tensor.Desc) bool {
	matrices, sq, skv, d, dv := attentionSizes(in)
	size := in[0].DType.Size()
	wide := planner.CeilDiv(dv, planner.Pack/size) * (planner.Pack / size)
	switch {
	case sq > fewQueries, skv == 0, d == 0, d > fewDepth, dv*size > planner.SmallGroup*planner.Pack, planner.CeilDiv(skv, fewChunk) > fewChunks:
		return false
	case t.MaxBindings < fewBindings, t.MaxInvocations < planner.SmallGroup, t.MaxSharedBytes < 8<<10, t.MaxIterations > 0 && t.MaxIterations < fewIterations:
		return false
	}
	for _, x := range in[:3] {
		if last := len(x.Shape) - 1; x.ElementStrides()[last] != 1 && x.Shape[last] > 1 {
			return false
		}
		// A matrix is bound as a whole.
		rows := x.Shape[len(x.Shape)-2]
		if far := int64(rows-1)*int64(x.ElementStrides()[len(x.Shape)-2]) + int64(x.Shape[len(x.Shape)-1]); far < 0 || far*int64(size) > fewSpan(t, x.DType) {
			return false
		}
	}
	mask := int64(sq) * int64(skv) * int64(size)
	parts := int64(planner.CeilDiv(skv, planner.SmallGroup)) * int64(matrices) * int64(sq) * int64(wide+2) * int64(planner.Accumulator(in[0].DType).Size())
	return mask <= fewSpan(t, in[0].DType) && parts <= min(t.MaxBinding, planner.MaxWindow, planner.ScratchBudget(t, attentionBudget))-2*planner.Pack
}

// fewTexels reports whether keys and values are read as texels.
func fewTexels(t *spec.Target, d tensor.DType) bool {
	return t.CPU && d.Size() < 8 && planner.HasTexels(t, planner.SmallGroup)
}

// fewSpan is the room for an operand in a binding, whose last pack is read as a whole.
func fewSpan(t *spec.Target, d tensor.DType) int64 {
	return min(planner.MaxSpan(t, fewTexels(t, d)), planner.MaxWindow)&^(planner.Pack-1) - planner.WindowAlign(t) - planner.Pack
}

// usesFew reports whether a call is planned with these kernels: by itself if there are numbers of keys, and else if the strategy says so.
func usesFew(t *spec.Target, strategies []string) bool {
	return len(strategies) > 0 && (t.Strategy == byFew && slices.Contains(strategies, byFew) || strategies[0] == byFew && !slices.Contains(strategies, t.Strategy))
}

// addFew appends the steps of a call for which fewAttention holds.
func (a *attention) addFew() error {
	g, t := a.values, a.t
	inner, m := g.inner(), g.dimM()
	sq, keys, depth, dv := g.size(m), g.size(g.dimK()), a.scores.size(a.scores.dimK()), g.size(g.dimN())
	matrices := 1
	for _, n := range g.shape[:inner+1] {
		matrices *= n
	}
	rows, chunk := matrices*sq, fewChunk
	for !t.CPU && chunk > planner.SmallGroup && rows*planner.CeilDiv(keys, chunk) < fewGroups {
		chunk /= 2
	}
	for planner.CeilDiv(keys, chunk) > fewChunks {
		chunk *= 2
	}
	ranges, pack := planner.CeilDiv(keys, chunk), planner.Pack/a.out.DType.Size()
	wide := planner.CeilDiv(dv, pack) * pack
	parts := planner.AddScratch(a.plan, int64(ranges)*int64(rows)*int64(wide+2)*int64(a.elementBytes()))
	p := fewParams{
		Height: uint32(sq), Keys: uint32(keys), Chunk: uint32(chunk), Depth: uint32(depth), Width: uint32(dv), Scale: float32(a.scale), LengthEach: 1 << 31, AllRows: uint32(rows),
		OuterRows: uint32(g.shape[inner] * sq),
	}
	p.ScaleLow = float32(a.scale - float64(p.Scale))
	lengths := spec.Bind{Buf: parts} // This is not read if there are none.
	if a.causal {
		p.Flags |= fewCausal
	}
	if l := a.lengths; l != nil {
		lengths, p.LengthBase, p.Flags = l.Bind, l.Base, p.Flags|fewLengths
		if l.Words == 2 {
			p.Flags |= fewWide
		}
		if l.Count > 1 {
			p.LengthEach = l.each
		}
	}
	// The operands have strides along the batch, and along the rows and columns of their matrices.
	matrix := func(o planner.Operand, row, column int) planner.Operand {
		o.Strides = append(slices.Clone(o.Strides[:inner+1]), row, column)
		return o
	}
	q, k, v := matrix(a.scores.a, a.scores.a.Strides[m], 1), matrix(a.scores.b, a.scores.b.Strides[a.scores.dimN()], 1), matrix(g.b, g.b.Strides[g.dimK()], 1)
	operands, sizes := []planner.Operand{q, k, v}, [][2]int{{sq, depth}, {keys, depth}, {keys, dv}}
	if a.mask != nil {
		operands, sizes = append(operands, matrix(*a.mask, a.mask.Strides[m], a.mask.Strides[g.dimN()])), append(sizes, [2]int{sq, keys})
		if p.Flags |= fewMask; a.mask.Strides[g.dimN()] != 0 {
			p.Flags |= fewMaskColumns
		}
	}
	// Only the batch is divided. So matrices count as single elements, and the room is what they leave.
	kernel, heads := fewShader+"."+a.out.DType.String(), 1
	if fewTexels(t, a.out.DType) {
		kernel += ".texel"
	}
	// Two heads would take as long as one by one. Heads of a workgroup have one number of keys.
	n := g.shape[inner]
	oneLength := p.LengthEach == 1<<31 || p.LengthEach%uint32(n) == 0
	if t.CPU && a.out.DType.Size() < 8 && n > 2 && k.Strides[inner] == 0 && v.Strides[inner] == 0 && oneLength && t.MaxSharedBytes >= 16<<10 {
		kernel, heads = kernel+".shared", fewHeads
	}
	batch, most := make([]planner.Operand, len(operands)), int64(0)
	for i, o := range operands {
		far := int64(sizes[i][0]-1)*int64(o.Strides[inner+1]) + int64(sizes[i][1]-1)*int64(o.Strides[inner+2])
		most = max(most, far*int64(o.DType.Size()))
		batch[i] = o
		batch[i].Strides = o.Strides[:inner+1]
	}
	step := slices.Clone(g.shape[:inner+1])
	for d := range g.outer() {
		step[d] = 1
	}
	err := planner.Tiles(planner.RegionOf(g.shape[:inner+1]), step, func(r planner.Region) error {
		return planner.Split(t, fewSpan(t, a.out.DType)+planner.WindowAlign(t)-most, r, batch, 1, func(r planner.Region) error {
			p := p
			p.Rows, p.Inner = uint32(r.N[g.outer()]*planner.CeilDiv(r.N[inner], heads)*sq), uint32(r.N[inner])
			p.First = a.matrix(r) * p.Height
			s := spec.Step{Module: spirv.Kernel(kernel), Bind: []spec.Bind{lengths}}
			to := []*uint32{&p.QBase, &p.QOuter, &p.QInner, &p.QRow, &p.KBase, &p.KOuter, &p.KInner, &p.KRow, &p.VBase, &p.VOuter, &p.VInner, &p.VRow, &p.MaskBase, &p.MaskOuter, &p.MaskInner, &p.MaskRow}
			for i, o := range operands {
				bind, base := o.Window(t, planner.Region{From: append(slices.Clone(r.From), 0, 0), N: append(slices.Clone(r.N), sizes[i][0], sizes[i][1])})
				s.Bind = append(s.Bind, bind)
				*to[4*i], *to[4*i+1], *to[4*i+2], *to[4*i+3] = base, uint32(o.Strides[g.outer()]), uint32(o.Strides[inner]), uint32(o.Strides[inner+1])
			}
			if a.mask == nil {
				s.Bind = append(s.Bind, s.Bind[1]) // This is not read.
			}
			s.Bind, s.Params = append(s.Bind, spec.Bind{Buf: parts}), p
			var err error
			s.Groups, err = planner.Grid(t, int64(p.Rows)*int64(ranges))
			a.plan.Steps = append(a.plan.Steps, s)
			return err
		})
	})
	if err != nil {
		return err
	}
	merge := planner.FlatKernel{Name: fewMergeShader + "." + a.out.DType.String(), Local: planner.SmallGroup, Packs: 1, Params: func(first, count int) any {
		return fewMergeParams{
			Count: uint32(count), Column: uint32(first % dv), Row: uint32(first / dv), Width: p.Width, Height: p.Height, Keys: p.Keys, Chunk: p.Chunk, Flags: p.Flags,
			LengthBase: p.LengthBase, LengthEach: p.LengthEach, AllRows: p.AllRows,
		}
	}}
	at := len(a.plan.Steps)
	if err := planner.AddFlat(a.plan, t, merge, rows*dv, planner.Flat(spec.Out(0), a.out.DType)); err != nil {
		return err
	}
	for i := range a.plan.Steps[at:] {
		s := &a.plan.Steps[at+i]
		s.Bind = []spec.Bind{lengths, {Buf: parts}, s.Bind[0]}
	}
	return nil
}
