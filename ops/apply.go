package ops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// applyParams is the push-constant block of lib/apply.glsl.
type applyParams struct {
	Count, N, Inner, Base, Last, States, First, Total uint32
	Eps, EpsLow                                       float32
}

// applier is a kernel of lib/apply.glsl.
type applier struct {
	name   string // group/name, without dtype
	fold   folder // that made the states
	affine spec.Ref
	pair   int // bytes of an affine pair, 0 where there are none
	total  int
	eps    float64
	fault  bool
}

// applyKernels lists the kernels of a name for dtypes.
func applyKernels(name string, dtypes ...tensor.DType) []spec.Kernel {
	ks := dtypeVariants(name, applyParams{}, dtypes, foldTexels)
	for _, d := range dtypes {
		if foldTexels(d) {
			ks = append(ks, spec.Kernel{Name: name + "." + d.String() + ".rows.texel", Params: applyParams{}})
		}
	}
	return ks
}

// addApply appends to plan the steps that map the inputs, contiguous tensors
// [outer, n, inner] of dtype d, with the states of their columns.
// Errors: *LimitError.
func addApply(plan *spec.Plan, t *spec.Target, a applier, d tensor.DType, v normal, states, out spec.Ref, in ...spec.Ref) error {
	texel := foldTexels(d) && usesTexels(t, texelGroup)
	name, perGroup := a.name+"."+d.String(), smallGroup
	if texel {
		name, perGroup = name+".texel", texelGroup*4
	}
	fits := func(size int) int {
		return int(min((maxSpan(t, texel)-windowAlign(t)-16)/int64(size), 1<<30))
	}
	state := a.fold.stateBytes(d)
	room := pieceRoom{elems: fits(max(d.Size(), a.pair)), states: fits(state), perOuter: v.inner, unit: 1, shared: true}
	low := float32(a.eps)
	return pieces(v, room, func(x piece) error {
		bind, base := bindPart(t, spec.Ref{}, d.Size(), x.start, x.elems())
		from, word := bindWords(t, states, state, x.o*v.inner+x.column, x.outer*x.inner)
		p := applyParams{
			Count: uint32(x.elems()), N: uint32(x.n), Inner: uint32(x.inner), Base: base, Last: uint32(bind.Size/16 - 1),
			States: word, Total: uint32(a.total), Eps: low, EpsLow: float32(a.eps - float64(low)),
		}
		p.First = uint32(x.row)
		step := spec.Step{Kernel: name}
		for _, i := range in {
			bind.Buf = i
			step.Bind = append(step.Bind, bind)
		}
		if a.pair > 0 {
			pairs, first := bindPart(t, a.affine, a.pair, x.row, x.n)
			p.First = first
			step.Bind = append(step.Bind, pairs)
		}
		bind.Buf = out
		step.Bind = append(step.Bind, from, bind)
		if a.fault {
			step.Bind = append(step.Bind, spec.Bind{Buf: spec.Status(0)})
		}
		step.Params = p
		pack := 16 / d.Size()
		groups := ceilDiv(ceilDiv(int(base)%pack+x.elems(), pack), perGroup)
		if texel && v.inner == 1 && int(base)%pack == 0 && x.n%pack == 0 {
			step.Kernel = a.name + "." + d.String() + ".rows.texel"
			groups = ceilDiv(x.outer*ceilDiv(x.n/pack, 4), texelGroup)
		}
		var err error
		step.Groups, err = grid(t, int64(groups))
		plan.Steps = append(plan.Steps, step)
		return err
	})
}

// enoughRows is from how many rows on one invocation a row is faster than states
// of many: measured on lavapipe, where it is two to nine times so.
const enoughRows = 8

// rowsFused tells whether rows of v are short enough, and enough of them, for a
// kernel that folds a row and goes over it again in the same launch. Where one
// invocation folds a row, longest is how many elements it adds up within the
// operation's tolerance.
func rowsFused(t *spec.Target, d tensor.DType, v normal, longest int) bool {
	pack := 16 / d.Size()
	if v.inner != 1 || v.n%pack != 0 || int64(v.n*16)+windowAlign(t)+16 > t.MaxBinding {
		return false
	}
	texel := foldTexels(d) && usesTexels(t, texelGroup)
	switch {
	case t.Strategy == byStages:
		return false
	case !texel:
		return v.n/pack <= 1<<16
	}
	return v.n <= longest && (v.outer >= enoughRows || t.Strategy == byRows) && int64(v.n*16)+windowAlign(t)+16 <= maxSpan(t, true)
}

// rowKernels names the kernels that addRows launches.
func rowKernels(base string, params any) []spec.Kernel {
	ks := dtypeVariants(base, params, floats, foldTexels)
	for _, d := range floats {
		ks = append(ks, spec.Kernel{Name: base + "." + d.String() + ".subgroup", Params: params})
	}
	return ks
}

// addRows appends the launches of a fused kernel over whole rows: in, what else
// is bound with it, and out.
func addRows(plan *spec.Plan, t *spec.Target, name string, d tensor.DType, v normal, params func(foldParams) any, in []spec.Ref, side []spec.Bind, out spec.Ref) error {
	w := fold{t: t, d: d}
	pack, unroll, lanes, perGroup := w.pack(), 4, 1, texelGroup
	if d.Size() == 2 {
		unroll = 2
	}
	name += "." + d.String()
	if w.texel() {
		name += ".texel"
	} else {
		for lanes < smallGroup && lanes*unroll < v.n/pack {
			lanes *= 2
		}
		perGroup = smallGroup / lanes
		name += bySubgroup(t)
	}
	room := pieceRoom{elems: w.room(d.Size()), states: 1 << 30, perOuter: 1, unit: 1}
	return pieces(v, room, func(x piece) error {
		bind, base := bindPart(t, spec.Ref{}, d.Size(), x.start, x.elems())
		step := spec.Step{Kernel: name, Params: params(foldParams{
			Outer: uint32(x.outer), N: uint32(v.n), Inner: 1, Base: base, Last: uint32(bind.Size/16 - 1),
			Chunks: 1, Chunk: uint32(ceilDiv(v.n/pack, unroll*lanes)), Lanes: uint32(lanes), Sign: 1, OutSign: 1, Divisor: 1,
		})}
		for _, i := range in {
			bind.Buf = i
			step.Bind = append(step.Bind, bind)
		}
		step.Bind = append(step.Bind, side...)
		bind.Buf = out
		step.Bind = append(step.Bind, bind)
		var err error
		step.Groups, err = grid(t, int64(ceilDiv(x.outer, perGroup)))
		plan.Steps = append(plan.Steps, step)
		return err
	})
}
