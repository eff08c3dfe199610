package reduction

import (
	"cmp"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	// busyInvocations is the number of invocations that keep a device busy.
	busyInvocations = 4096
	// mergeMost is the largest number of accumulators that one invocation merges in one
	// go. If there are more, it merges mergeFew of them at a time.
	mergeMost = 64
	mergeFew  = 32
)

// builder appends the steps of one reduction to a plan.
type builder struct {
	Reducer
	t    *spec.Target
	plan *spec.Plan
	// d is the dtype of the inputs.
	d  tensor.DType
	in []spec.Ref
	// wide says that a binding holds fewer than four rows of Inner elements. Then there is
	// one launch for each row, which continues from the accumulators of the row before.
	wide bool
}

// Add appends to a plan the steps that reduce the inputs along N. The inputs are
// contiguous tensors [Outer, N, Inner] of dtype d. The accumulators are a tensor [Outer,
// Inner]. They go to out, or to scratch memory if out is the zero Ref. Add returns where
// they are.
// Errors: *LimitError.
func Add(plan *spec.Plan, t *spec.Target, f Reducer, d tensor.DType, v planner.AxisView, out spec.Ref, in ...spec.Ref) (spec.Ref, error) {
	if f.Sign == 0 {
		f.Sign = 1
	}
	if !f.Mean {
		f.Divisor = 1
	}
	w := builder{Reducer: f, t: t, plan: plan, d: d, in: in}
	bytes := f.AccumulatorBytes(d)
	w.wide = v.Inner > 1 && 4*v.Inner > w.room(max(d.Size(), bytes))
	if v.Outer*v.Inner == 0 {
		return planner.AddScratch(plan, 0), nil
	}
	c := w.chunking(v)
	to := out
	if c.chunks > 1 || out.Kind == spec.RefNone {
		to = planner.AddScratch(plan, int64(v.Outer)*int64(c.chunks)*int64(v.Inner)*int64(bytes))
	}
	var err error
	if v.N == 0 { // There is nothing to read. The result is the first accumulator.
		err = w.addMerge(planner.AxisView{Outer: v.Outer, N: 0, Inner: v.Inner}, 1, true, planner.AddScratch(plan, 0), to)
	} else {
		err = w.addFirst(v, c, to)
	}
	if err != nil {
		return spec.Ref{}, err
	}
	return w.mergeAll(v, c.chunks, to, out)
}

// Merge appends to a plan the steps that merge accumulators [Outer, N, Inner] along N. They were
// made by Add with f, from elements of dtype d. Merge returns where the accumulators [Outer, Inner]
// are, which may be from itself.
// Errors: *LimitError.
func Merge(plan *spec.Plan, t *spec.Target, f Reducer, d tensor.DType, v planner.AxisView, from spec.Ref) (spec.Ref, error) {
	if f.Sign == 0 {
		f.Sign = 1
	}
	if !f.Mean {
		f.Divisor = 1
	}
	w := builder{Reducer: f, t: t, plan: plan, d: d}
	if bytes := f.AccumulatorBytes(d); v.N > 1 && 4*v.Inner > w.room(bytes) {
		// A binding holds too few rows. The accumulators to be merged are moved next to each other.
		words := bytes / 4
		to := planner.AddScratch(plan, int64(v.Outer)*int64(v.N)*int64(v.Inner)*int64(bytes))
		err := movement.AddCopy(plan, t, tensor.I32, []int{v.Outer, v.Inner, v.N, words},
			planner.Operand{Ref: from, Strides: []int{v.N * v.Inner * words, words, v.Inner * words, 1}},
			planner.Operand{Ref: to, Strides: []int{v.N * v.Inner * words, v.N * words, words, 1}})
		if err != nil {
			return spec.Ref{}, err
		}
		from, v = to, planner.AxisView{Outer: v.Outer * v.Inner, N: v.N, Inner: 1}
	}
	return w.mergeAll(v, v.N, from, spec.Ref{})
}

// mergeAll appends the steps that merge m accumulators for each of Outer and Inner, until one is
// left. It returns where it is: in out, or in scratch memory if that is the zero Ref.
func (w *builder) mergeAll(v planner.AxisView, m int, to, out spec.Ref) (spec.Ref, error) {
	bytes := w.AccumulatorBytes(w.d)
	for m > 1 {
		group := mergeFew
		if m <= mergeMost {
			group = m
		}
		group = min(group, w.room(bytes)/v.Inner) // The accumulators of a group have to fit a binding.
		next := planner.CeilDiv(m, group)
		from := to
		if to = out; next > 1 || out.Kind == spec.RefNone {
			to = planner.AddScratch(w.plan, int64(v.Outer)*int64(next)*int64(v.Inner)*int64(bytes))
		}
		if err := w.addMerge(planner.AxisView{Outer: v.Outer, N: m, Inner: v.Inner}, group, next == 1, from, to); err != nil {
			return spec.Ref{}, err
		}
		m = next
	}
	return to, nil
}

// chunking says how the elements along N are divided among invocations.
type chunking struct {
	// chunks is the number of chunks for each outer index.
	chunks int
	// steps is the number of loop iterations in which an invocation reads a chunk.
	steps int
	// sharers is the number of invocations that share a chunk.
	sharers int
	// elems is the number of elements along N in each chunk.
	elems int
}

// room returns how many elements of size bytes fit a binding.
func (w *builder) room(size int) int { return Room(w.t, w.d, size) }

// pack returns the number of elements in a pack.
func (w *builder) pack() int { return planner.Pack / w.d.Size() }

// chunking divides N so that the device is busy and no chain is longer than Chain says.
func (w *builder) chunking(v planner.AxisView) chunking {
	pack := w.pack()
	c := chunking{sharers: 1}
	if v.Inner > 1 {
		if w.wide {
			return chunking{chunks: 1, steps: 1, sharers: 1, elems: 4}
		}
		if w.usesLanes(v) {
			return w.laneChunks(v)
		}
		blocks := planner.CeilDiv(max(v.N, 1), 4)
		columns := v.Outer * planner.CeilDiv(v.Inner, pack)
		c.chunks = max(planner.CeilDiv(blocks, 128), min(busyInvocations/max(columns, 1), planner.CeilDiv(blocks, 4)), 1)
		c.steps = planner.CeilDiv(blocks, c.chunks)
		c.steps = min(c.steps, w.room(w.d.Size())/v.Inner/4) // A chunk has to fit a binding.
		c.elems = 4 * c.steps
		c.chunks = max(planner.CeilDiv(v.N, c.elems), 1)
		return c
	}
	if w.usesFew(v) {
		return chunking{chunks: 1, steps: 1, sharers: 1, elems: v.N}
	}
	unroll, texels := Unroll(w.d), UsesTexels(w.t, w.d)
	packs := max(planner.CeilDiv(v.N, pack), 1)
	if v.N%pack != 0 && v.Outer > 1 {
		packs = (v.N+pack-2)/pack + 1
	}
	if UsesQuads(w.t, w.d) {
		c.sharers = 4
	} else if !texels {
		for c.sharers < planner.SmallGroup && c.sharers*unroll < packs {
			c.sharers *= 2
		}
	}
	blocks := planner.CeilDiv(packs, unroll*c.sharers)
	if texels {
		c.steps = min(max(blocks*v.Outer/busyInvocations, 8), 128, blocks)
	} else if UsesQuads(w.t, w.d) {
		c.steps = min(128, blocks)
	} else {
		c.steps = min(16, blocks)
	}
	c.chunks = planner.CeilDiv(blocks, c.steps)
	c.steps = planner.CeilDiv(blocks, c.chunks)
	c.elems = c.steps * unroll * c.sharers * pack
	c.chunks = planner.CeilDiv(packs*pack, c.elems)
	return c
}

// addFirst appends the steps that read the inputs and write the first accumulators to
// out.
func (w *builder) addFirst(v planner.AxisView, c chunking, out spec.Ref) error {
	size, bytes := w.d.Size(), w.AccumulatorBytes(w.d)
	name, perGroup := w.Shader+"."+w.d.String(), planner.SmallGroup
	switch {
	case w.usesFew(v):
		name += ".few"
	case v.Inner == 1 && UsesQuads(w.t, w.d):
		name, perGroup = name+".rows.quad", 1
	case v.Inner == 1 && !UsesTexels(w.t, w.d):
		name, perGroup = name+".rows"+SubgroupSuffix(w.t), planner.SmallGroup/c.sharers
	case v.Inner == 1:
		name += ".rows"
	case w.usesLanes(v):
		name, perGroup = name+".cols.lanes", 1
	case v.Inner%w.pack() == 0:
		name += ".cols"
	default:
		name += ".odd"
	}
	if UsesTexels(w.t, w.d) {
		name, perGroup = name+".texel", planner.TexelGroup
	}
	room := planner.ChunkRoom{Elems: w.room(size), Accumulators: w.room(bytes), PerBlock: c.chunks * v.Inner, Unit: c.elems, ByRow: w.wide}
	if v.Inner == 1 {
		room.Pack = w.pack()
	}
	return planner.Chunks(v, room, func(x planner.Chunk) error {
		chunks, chunk := c.chunks, 0
		if x.N < v.N && !w.wide {
			chunk = planner.CeilDiv(x.Row, c.elems) // Rows may begin inside a pack.
			if chunks -= chunk; x.Row+x.N < v.N {
				chunks = planner.CeilDiv(x.Start%max(room.Pack, 1)+x.N, c.elems)
			}
		}
		bind, base := planner.Window(w.t, spec.Ref{}, size, int64(x.Start), int64(x.Elems()))
		made, outBase := planner.WordWindow(w.t, out, bytes, (x.Block*c.chunks+chunk)*v.Inner+x.Column, x.Outer*chunks*x.Inner)
		p := Params{
			Outer: uint32(x.Outer), N: uint32(x.N), Inner: uint32(x.Inner), Base: base, Last: uint32(bind.Size/planner.Pack - 1),
			Chunks: uint32(chunks), Chunk: uint32(c.steps), Lanes: uint32(c.sharers), OutBase: outBase, First: uint32(x.Row),
			Sign: w.Sign,
		}
		if w.Unsigned {
			p.Sign = 0
		}
		if w.wide {
			// A chunk is one row, or a whole block if that fits a binding.
			p.Chunk = uint32(planner.CeilDiv(x.N, 4))
			if x.Row > 0 {
				p.Carry = 1
			}
		}
		w.setFinal(&p, c.chunks == 1 && (!w.wide || x.Row+x.N == v.N))
		units := x.Outer * chunks
		if w.usesLanes(v) {
			p.Lanes = uint32(planner.CeilDiv(x.Inner, w.laneColumns()))
			units *= int(p.Lanes)
		} else if v.Inner > 1 {
			units *= planner.CeilDiv(x.Inner, w.pack())
		}
		step := spec.Step{Module: spirv.Kernel(name), Params: p}
		for _, in := range w.in {
			bind.Buf = in
			step.Bind = append(step.Bind, bind)
		}
		step.Bind = append(step.Bind, made)
		return w.addStep(step, units, perGroup)
	})
}

// setFinal sets the parameters by which only the last step differs: the sign of the
// result and the divisor of a mean.
func (w *builder) setFinal(p *Params, last bool) {
	p.OutSign, p.Divisor = 1, 1
	if last {
		p.OutSign, p.Divisor = w.Sign, uint32(w.Divisor)
	}
}

// addStep appends a step with enough workgroups for units, of which a workgroup handles
// perGroup.
func (w *builder) addStep(step spec.Step, units, perGroup int) (err error) {
	step.Groups, err = planner.Grid(w.t, int64(planner.CeilDiv(units, perGroup)))
	w.plan.Steps = append(w.plan.Steps, step)
	return err
}

// addMerge appends the steps that merge accumulators [Outer, N, Inner] along N, in
// groups.
func (w *builder) addMerge(v planner.AxisView, group int, last bool, from, to spec.Ref) error {
	bytes, next := w.AccumulatorBytes(w.d), max(planner.CeilDiv(v.N, group), 1)
	room := planner.ChunkRoom{Elems: w.room(bytes), Accumulators: w.room(bytes), PerBlock: next * v.Inner, Unit: group}
	one := v
	one.N = max(v.N, 1)
	return planner.Chunks(one, room, func(x planner.Chunk) error {
		made := planner.CeilDiv(x.N, group)
		bind, base := planner.WordWindow(w.t, from, bytes, x.Start, x.Elems())
		if v.N == 0 {
			bind, base, x.N = spec.Bind{Buf: from}, 0, 0
		}
		out, outBase := planner.WordWindow(w.t, to, bytes, (x.Block*next+x.Row/group)*v.Inner+x.Column, x.Outer*made*x.Inner)
		p := Params{
			Outer: uint32(x.Outer), N: uint32(x.N), Inner: uint32(x.Inner), Base: base,
			Chunks: uint32(made), Chunk: uint32(group), OutBase: outBase, Sign: w.Sign,
		}
		w.setFinal(&p, last)
		name := cmp.Or(w.Merger, w.Shader) + "." + w.accumulator(w.d).String() + ".merge"
		units, perGroup := x.Outer*made*x.Inner, planner.SmallGroup
		if planner.Accumulator(w.d) == tensor.F32 && w.usesLanes(v) {
			p.Lanes, perGroup = uint32(planner.CeilDiv(x.Inner, planner.SmallGroup)), 1
			name, units = name+".lanes", x.Outer*made*int(p.Lanes)
		}
		return w.addStep(spec.Step{Module: spirv.Kernel(name), Params: p, Bind: []spec.Bind{bind, out}}, units, perGroup)
	})
}

// RowOperand is an operand of AddPerRow. Size is the number of bytes for each row.
type RowOperand struct {
	Ref  spec.Ref
	Size int
}

// AddPerRow appends the launches of a kernel that handles rows, in parts that fit
// bindings. Each invocation handles as many rows as a pack has elements of d. The kernel
// is shader.d. It binds the operands, and after them status, unless that is the zero Ref.
// params returns the parameters for a number of rows.
// Errors: *LimitError.
func AddPerRow(plan *spec.Plan, t *spec.Target, shader string, d tensor.DType, rows int, params func(count int) any, status spec.Ref, operands ...RowOperand) error {
	align := int(planner.WindowAlign(t))
	widest := 1
	for _, o := range operands {
		widest = max(widest, o.Size)
	}
	most := int(min(t.MaxBinding/int64(widest), 1<<24)) / align * align
	for first := 0; first < rows; first += most {
		count := min(most, rows-first)
		step := spec.Step{Module: spirv.Kernel(shader + "." + d.String()), Params: params(count)}
		for _, o := range operands {
			bind, _ := planner.Window(t, o.Ref, o.Size, int64(first), int64(count))
			step.Bind = append(step.Bind, bind)
		}
		if status.Kind != spec.RefNone {
			step.Bind = append(step.Bind, spec.Bind{Buf: status})
		}
		var err error
		if step.Groups, err = planner.Grid(t, int64(planner.CeilDiv(planner.CeilDiv(count, planner.Pack/d.Size()), planner.SmallGroup))); err != nil {
			return err
		}
		plan.Steps = append(plan.Steps, step)
	}
	return nil
}

// narrowParams is the push-constant block of reduce/reduce_narrow.comp. Count is the
// number of elements.
type narrowParams struct{ Count uint32 }

const narrowShader = "reduce/reduce_narrow"

// NarrowKernels lists the kernels that AddNarrow launches.
func NarrowKernels() []spec.Kernel {
	return planner.DTypeVariants(narrowShader, narrowParams{}, []tensor.DType{tensor.F16, tensor.BF16}, nil)
}

// narrowKernels lists the kernels of addNarrow for elements of dtypes.
func narrowKernels(dtypes []tensor.DType) []spec.Kernel {
	var ks []spec.Kernel
	if slices.ContainsFunc(dtypes, func(d tensor.DType) bool { return isInteger(d) && d.Size() < 4 }) {
		ks = movement.CopyKernels()
	}
	if slices.Contains(dtypes, tensor.F16) {
		ks = append(ks, NarrowKernels()...)
	}
	return ks
}

// addNarrow is AddNarrow for all dtypes that are not those of their accumulators. Integers keep their low bits.
// Errors: *LimitError.
func addNarrow(plan *spec.Plan, t *spec.Target, n int, from, out spec.Ref, d tensor.DType) error {
	if isInteger(d) {
		return movement.AddCopy(plan, t, d, []int{n},
			planner.Operand{Ref: from, Strides: []int{planner.Accumulator(d).Size() / d.Size()}}, planner.Operand{Ref: out, Strides: []int{1}})
	}
	return AddNarrow(plan, t, n, from, out, d)
}

// AddNarrow appends the launches that round n F32 elements of from to out. d, the dtype
// of out, has 16 bits.
// Errors: *LimitError.
func AddNarrow(plan *spec.Plan, t *spec.Target, n int, from, out spec.Ref, d tensor.DType) error {
	k := planner.FlatKernel{Name: narrowShader + "." + d.String(), Local: planner.SmallGroup, Packs: 2}
	k.Params = func(_, count int) any { return narrowParams{uint32(count)} }
	return planner.AddFlat(plan, t, k, n, planner.Flat(from, tensor.F32), planner.Flat(out, d))
}
