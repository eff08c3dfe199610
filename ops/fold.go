package ops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// foldParams is the push-constant block of lib/fold.glsl.
type foldParams struct {
	Outer, N, Inner, Base, Last, Chunks, Chunk, Lanes, OutBase, First, Carry, Divisor uint32
	Sign, OutSign                                                                     float32
}

// folder is a family of kernels of lib/fold.glsl.
type folder struct {
	name     string // group/name, without dtype and variant
	reals    int    // of a state
	indexed  bool   // states hold an index too
	rowsOnly bool   // there are no kernels for inner > 1
	// sign multiplies elements before they are folded, and results after.
	sign float32
	// mean says that the last step divides by divisor.
	mean    bool
	divisor int
}

// work is the type a dtype is computed in.
func work(d tensor.DType) tensor.DType {
	if d.Size() == 2 {
		return tensor.F32
	}
	return d
}

// kernels lists the family's kernels for dtypes.
func (f folder) kernels(dtypes ...tensor.DType) []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range dtypes {
		name := f.name + "." + d.String()
		forms := []string{".rows", ".cols", ".odd"}
		if f.rowsOnly {
			forms = forms[:1]
		}
		ks = append(ks, spec.Kernel{Name: name + ".rows.subgroup", Params: foldParams{}})
		for _, v := range forms {
			ks = append(ks, spec.Kernel{Name: name + v, Params: foldParams{}})
			if foldTexels(d) {
				ks = append(ks, spec.Kernel{Name: name + v + ".texel", Params: foldParams{}})
			}
		}
		if work(d) == d {
			ks = append(ks, spec.Kernel{Name: name + ".merge", Params: foldParams{}})
		}
	}
	return ks
}

// foldTexels reports whether folds of the dtype have texel variants.
func foldTexels(d tensor.DType) bool { return d == tensor.F32 || d.Size() == 2 }

// stateBytes is the size of a state.
func (f folder) stateBytes(d tensor.DType) int {
	b := f.reals * work(d).Size()
	if f.indexed {
		b += 4
	}
	return b
}

const (
	foldLanes = 4096 // invocations that keep a device busy
	mergeMost = 64   // states that one invocation merges
	mergeFew  = 32   // of more states than that, which it merges at a time
)

// fold is a folder at work on inputs of dtype d.
type fold struct {
	folder
	t    *spec.Target
	plan *spec.Plan
	d    tensor.DType
	in   []spec.Ref
	// wide says that few rows of inner fit a binding: n is then folded row by
	// row, on top of the states of the rows before.
	wide bool
}

// addFold appends to plan the steps that fold the inputs, contiguous tensors
// [outer, n, inner] of dtype d, along n. The states [outer, inner] end in out, or
// in scratch memory if out is negative; it returns where.
// Errors: *LimitError.
func addFold(plan *spec.Plan, t *spec.Target, f folder, d tensor.DType, v normal, out spec.Ref, in ...spec.Ref) (spec.Ref, error) {
	if f.sign == 0 {
		f.sign = 1
	}
	if !f.mean {
		f.divisor = 1
	}
	w := fold{folder: f, t: t, plan: plan, d: d, in: in}
	widest := max(d.Size(), w.stateBytes(d))
	w.wide = v.inner > 1 && 4*v.inner > w.room(widest)
	if v.outer*v.inner == 0 {
		return scratch(plan, 0), nil
	}
	c := w.chunking(v)
	to := out
	if c.chunks > 1 || out.Kind == spec.RefNone {
		to = scratch(plan, int64(v.outer)*int64(c.chunks)*int64(v.inner)*int64(w.stateBytes(d)))
	}
	var err error
	if v.n == 0 { // nothing to read: the identity
		err = w.merge(normal{v.outer, 0, v.inner}, 1, true, scratch(plan, 0), to)
	} else {
		err = w.first(v, c, to)
	}
	if err != nil {
		return spec.Ref{}, err
	}
	for m := c.chunks; m > 1; {
		group := mergeFew
		if m <= mergeMost {
			group = m
		}
		group = min(group, w.room(w.stateBytes(w.d))/v.inner) // a binding holds a group
		next := ceilDiv(m, group)
		from := to
		if to = out; next > 1 || out.Kind == spec.RefNone {
			to = scratch(plan, int64(v.outer)*int64(next)*int64(v.inner)*int64(w.stateBytes(d)))
		}
		if err := w.merge(normal{v.outer, m, v.inner}, group, next == 1, from, to); err != nil {
			return spec.Ref{}, err
		}
		m = next
	}
	return to, nil
}

// scratch appends a temporary buffer to a plan.
func scratch(plan *spec.Plan, bytes int64) spec.Ref {
	plan.Scratch = append(plan.Scratch, max((bytes+15)&^15, 16))
	return spec.Scratch(len(plan.Scratch) - 1)
}

// texel reports whether the texel kernels are to be used.
func (w *fold) texel() bool { return foldTexels(w.d) && usesTexels(w.t, texelGroup) }

// bySubgroup is the suffix of kernels whose invocations share rows: by way of
// subgroups or of workgroup memory. Shuffles are for GPUs; CPU drivers make loops of them.
func bySubgroup(t *spec.Target) string {
	if !t.CPU && t.SubgroupSize > 0 && t.SubgroupSize <= smallGroup {
		return ".subgroup"
	}
	return ""
}

// room is how many elements of a size a binding surely holds, wherever they
// begin.
func (w *fold) room(size int) int {
	return int(min((maxSpan(w.t, w.texel())-windowAlign(w.t)-16)/int64(size), 1<<30))
}

// chunking is how n is cut.
type chunking struct {
	chunks int // for each outer
	steps  int // of the loop of an invocation, in each chunk
	lanes  int // invocations that share a chunk
	elems  int // elements along n in each chunk
}

func (w *fold) pack() int { return 16 / w.d.Size() }

func (w *fold) chunking(v normal) chunking {
	pack := w.pack()
	c := chunking{lanes: 1}
	if v.inner > 1 {
		if w.wide {
			return chunking{chunks: 1, steps: 1, lanes: 1, elems: 4}
		}
		blocks := ceilDiv(max(v.n, 1), 4)
		columns := v.outer * ceilDiv(v.inner, pack)
		c.chunks = max(ceilDiv(blocks, 128), min(foldLanes/max(columns, 1), ceilDiv(blocks, 4)), 1)
		c.steps = ceilDiv(blocks, c.chunks)
		c.steps = min(c.steps, w.room(w.d.Size())/v.inner/4) // a binding holds a chunk
		c.elems = 4 * c.steps
		c.chunks = max(ceilDiv(v.n, c.elems), 1)
		return c
	}
	unroll := 4
	if w.d.Size() == 2 {
		unroll = 2
	}
	packs := max(ceilDiv(v.n, pack), 1)
	if v.n%pack != 0 && v.outer > 1 {
		packs = (v.n+pack-2)/pack + 1
	}
	if !w.texel() {
		for c.lanes < smallGroup && c.lanes*unroll < packs {
			c.lanes *= 2
		}
	}
	blocks := ceilDiv(packs, unroll*c.lanes)
	if w.texel() {
		c.steps = min(max(blocks*v.outer/foldLanes, 8), 128, blocks)
	} else {
		c.steps = min(16, blocks)
	}
	c.chunks = ceilDiv(blocks, c.steps)
	c.steps = ceilDiv(blocks, c.chunks)
	c.elems = c.steps * unroll * c.lanes * pack
	c.chunks = ceilDiv(packs*pack, c.elems)
	return c
}

// first appends the steps that read the inputs.
func (w *fold) first(v normal, c chunking, out spec.Ref) error {
	size, state := w.d.Size(), w.stateBytes(w.d)
	name, perGroup := w.name+"."+w.d.String(), smallGroup
	switch {
	case v.inner == 1:
		name, perGroup = name+".rows", smallGroup/c.lanes
	case v.inner%w.pack() == 0:
		name += ".cols"
	default:
		name += ".odd"
	}
	if w.texel() {
		name, perGroup = name+".texel", texelGroup
	} else if v.inner == 1 {
		name += bySubgroup(w.t)
	}
	room := pieceRoom{elems: w.room(size), states: w.room(state), perOuter: c.chunks * v.inner, unit: c.elems, byRow: w.wide}
	if v.inner == 1 {
		room.pack = w.pack()
	}
	return pieces(v, room, func(x piece) error {
		chunks, chunk := c.chunks, 0
		if x.n < v.n && !w.wide {
			chunk = ceilDiv(x.row, c.elems) // rows may begin within a pack
			if chunks -= chunk; x.row+x.n < v.n {
				chunks = ceilDiv(x.start%max(room.pack, 1)+x.n, c.elems)
			}
		}
		bind, base := bindPart(w.t, spec.Ref{}, size, x.start, x.elems())
		made, outBase := bindWords(w.t, out, state, (x.o*c.chunks+chunk)*v.inner+x.column, x.outer*chunks*x.inner)
		p := foldParams{
			Outer: uint32(x.outer), N: uint32(x.n), Inner: uint32(x.inner), Base: base, Last: uint32(bind.Size/16 - 1),
			Chunks: uint32(chunks), Chunk: uint32(c.steps), Lanes: uint32(c.lanes), OutBase: outBase, First: uint32(x.row),
			Sign: w.sign,
		}
		if w.wide && x.row > 0 {
			p.Carry = 1
		}
		w.finish(&p, c.chunks == 1 && (!w.wide || x.row+x.n == v.n))
		units := x.outer * chunks
		if v.inner > 1 {
			units *= ceilDiv(x.inner, w.pack())
		}
		step := spec.Step{Kernel: name, Params: p}
		for _, in := range w.in {
			bind.Buf = in
			step.Bind = append(step.Bind, bind)
		}
		step.Bind = append(step.Bind, made)
		return w.add(step, units, perGroup)
	})
}

// finish sets what only a last step does.
func (w *fold) finish(p *foldParams, last bool) {
	p.OutSign, p.Divisor = 1, 1
	if last {
		p.OutSign, p.Divisor = w.sign, uint32(w.divisor)
	}
}

func (w *fold) add(step spec.Step, units, perGroup int) (err error) {
	step.Groups, err = grid(w.t, int64(ceilDiv(units, perGroup)))
	w.plan.Steps = append(w.plan.Steps, step)
	return err
}

// merge appends the steps that merge groups of n states.
func (w *fold) merge(v normal, group int, last bool, from, to spec.Ref) error {
	state, next := w.stateBytes(w.d), max(ceilDiv(v.n, group), 1)
	room := pieceRoom{elems: w.room(state), states: w.room(state), perOuter: next * v.inner, unit: group}
	one := v
	one.n = max(v.n, 1)
	return pieces(one, room, func(x piece) error {
		made := ceilDiv(x.n, group)
		bind, base := bindWords(w.t, from, state, x.start, x.elems())
		if v.n == 0 {
			bind, base, x.n = spec.Bind{Buf: from}, 0, 0
		}
		out, outBase := bindWords(w.t, to, state, (x.o*next+x.row/group)*v.inner+x.column, x.outer*made*x.inner)
		p := foldParams{
			Outer: uint32(x.outer), N: uint32(x.n), Inner: uint32(x.inner), Base: base,
			Chunks: uint32(made), Chunk: uint32(group), OutBase: outBase, Sign: w.sign,
		}
		w.finish(&p, last)
		name := w.name + "." + work(w.d).String() + ".merge"
		return w.add(spec.Step{Kernel: name, Params: p, Bind: []spec.Bind{bind, out}}, x.outer*made*x.inner, smallGroup)
	})
}
