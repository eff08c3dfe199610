package pooling

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// poolParams is the push-constant block of lib/pool.glsl.
type poolParams struct {
	Count, OutBase, Stage        uint32
	N, S, D, K                   [3]uint32
	Y, I, Low, High              [3]int32
	InBase                       int32
	IndexBase, IndexWords, Power uint32
}

// kernels lists the kernels of a shader that includes lib/pool.glsl, or a file built like it.
func kernels(shader string, params any, dtypes ...tensor.DType) []spec.Kernel {
	return planner.DTypeVariants(shader, params, dtypes, func(d tensor.DType) bool { return d.Size() < 8 })
}

// part is a part of an output [planes, n, n, n] and of the taps of its windows. from and n are
// for the output, and tap and taps for the taps.
type part struct {
	from, n   [4]int
	tap, taps [3]int
}

// elems returns the number of elements of the output.
func (p part) elems() int { return p.n[0] * p.n[1] * p.n[2] * p.n[3] }

// first returns the position of the first element in an output of that size.
func (p part) first(out [3]int) int {
	return ((p.from[0]*out[0]+p.from[1])*out[1]+p.from[2])*out[2] + p.from[3]
}

// walk is a launch over windows without its kernel. Its parts of the output are contiguous.
type walk struct {
	t *spec.Target
	// out is the size of the planes of the output, and taps that of windows.
	out, taps [3]int
	// inside is the largest number of taps of a window along each dimension that lie in the input. Kernels
	// pass over no others.
	inside [3]int
	planes int
	// span returns the first and the last position, plus 1, of what a part reads.
	span func(p part) (first, last int)
	// reach says how far the span grows with a dimension of the output or of the taps, for each.
	reach func(p part) (out [4]int, taps [3]int)
	// room is the largest number of elements that a binding of inputs holds. results is that of
	// the output, and accumulators that of partial results.
	room, results, accumulators int
	// per is the number of elements for an invocation.
	per int
	// launch appends a launch.
	launch func(p part) error
}

// parts splits the walk into parts that fit the target, and launches each. Each element gets
// its part with the first tap first, and the one with the last tap last.
func (w walk) parts() error {
	return w.split(part{n: [4]int{w.planes, w.out[0], w.out[1], w.out[2]}, taps: w.taps})
}

func (w walk) split(p part) error {
	if most := int64(w.t.MaxIterations); most > 0 {
		k := p.taps
		for i := range k {
			k[i] = min(k[i], w.inside[i])
		}
		if int64(w.per)*(int64(k[0])*(int64(k[1])*(int64(k[2])+2)+2)+4) > most {
			d := 0
			for i := range k {
				if k[i] > k[d] {
					d = i
				}
			}
			return w.halveTaps(p, d)
		}
	}
	first, last := w.span(p)
	results := w.results
	if p.taps != w.taps {
		results = min(results, w.accumulators)
	}
	if fits := last-first <= w.room; fits && p.elems() <= results {
		return w.launch(p)
	} else {
		out, taps := w.reach(p)
		outer := -1
		for i := len(p.n) - 1; i >= 0; i-- {
			if p.n[i] > 1 {
				outer = i
			}
		}
		d, far := -1, 0
		if outer >= 0 {
			far = max(out[outer], 1)
		}
		for i, k := range p.taps {
			if !fits && k > 1 && taps[i] > far {
				d, far = i, taps[i]
			}
		}
		switch {
		case d >= 0:
			return w.halveTaps(p, d)
		case outer < 0:
			return &errs.LimitError{Name: "MaxBinding", Want: int64(last - first), Have: int64(w.room)}
		}
		low, high := p, p
		low.n[outer] = (p.n[outer] + 1) / 2
		high.n[outer] -= low.n[outer]
		high.from[outer] += low.n[outer]
		if err := w.split(low); err != nil {
			return err
		}
		return w.split(high)
	}
}

// halveTaps splits dimension d of the taps.
func (w walk) halveTaps(p part, d int) error {
	low, high := p, p
	low.taps[d] = (p.taps[d] + 1) / 2
	high.taps[d] -= low.taps[d]
	high.tap[d] += low.taps[d]
	if err := w.split(low); err != nil {
		return err
	}
	return w.split(high)
}

// stage returns the bits of the first and of the last part of the taps.
func (w walk) stage(p part) uint32 {
	stage := uint32(0)
	if p.tap == [3]int{} {
		stage = 1
	}
	if p.tap[0]+p.taps[0] == w.taps[0] && p.tap[1]+p.taps[1] == w.taps[1] && p.tap[2]+p.taps[2] == w.taps[2] {
		stage |= 2
	}
	return stage
}

// resultsFor is planner.RoomFor for operands that outputs binds.
func resultsFor(t *spec.Target, size int) int {
	return max(planner.RoomFor(t, false, size)-int(planner.WindowAlign(t)), 1)
}

// outputs binds the same elements of several operands. Whatever the size of the elements,
// the first one has the same distance from the start of its binding.
type outputs struct {
	t           *spec.Target
	from, elems int
}

// base returns that distance.
func (o outputs) base() uint32 { return uint32(int64(o.from) % planner.WindowAlign(o.t)) }

func (o outputs) bind(ref spec.Ref, size int) spec.Bind {
	base := int(o.base())
	bind, _ := planner.Window(o.t, ref, size, int64(o.from-base), int64(o.elems+base))
	return bind
}

// partials is the scratch memory of a plan for elements of which only a part of the taps is
// known.
type partials struct {
	elems, size   int
	values, empty *spec.Ref
}

// bind returns the binding of a launch of that stage. If it needs none, there is a binding
// that the kernel does not use.
func (a *partials) bind(plan *spec.Plan, o outputs, stage uint32) spec.Bind {
	if stage == 3 {
		return spec.Bind{Buf: a.unused(plan)}
	}
	if a.values == nil {
		ref := planner.AddScratch(plan, int64(a.elems)*int64(a.size))
		a.values = &ref
	}
	return o.bind(*a.values, a.size)
}

// unused returns a buffer that kernels bind and do not use.
func (a *partials) unused(plan *spec.Plan) spec.Ref {
	if a.empty == nil {
		ref := planner.AddScratch(plan, 0)
		a.empty = &ref
	}
	return *a.empty
}

// spanOf returns the positions from coordinates low of plane from to coordinates high of
// plane to−1, of planes of that size. Coordinates outside count as the nearest ones inside.
func spanOf(size [3]int, from, to int, low, high [3]int) (first, last int) {
	at := func(plane int, y [3]int) int {
		for d := range y {
			y[d] = min(max(y[d], 0), size[d]-1)
		}
		return ((plane*size[0]+y[0])*size[1]+y[1])*size[2] + y[2]
	}
	return at(from, low), at(to-1, high) + 1
}

// stridesOf returns the distance between neighbours in each dimension.
func stridesOf(size [3]int) [3]int { return [3]int{size[1] * size[2], size[2], 1} }

// addPool appends the launches of a shader that includes lib/pool.glsl. The input is contiguous
// and of dtype d, and so is the output. indices is the zero Ref if nothing is to be written
// there, and else gets indices of words words each.
func addPool(plan *spec.Plan, t *spec.Target, shader string, d tensor.DType, g geometry, base poolParams, in, out, indices spec.Ref) error {
	name, local, texel := shader+"."+d.String(), planner.SmallGroup, d.Size() < 8 && planner.UsesTexels(t, planner.TexelGroup)
	if texel {
		name, local = name+".texel", planner.TexelGroup
	}
	size, acc := d.Size(), planner.Accumulator(d).Size()+4
	made := size
	if shader == sumsShader || shader == scaleShader { // These write the dtype of accumulators.
		made = planner.Accumulator(d).Size()
	}
	per := max(4/made, 1)
	st := stridesOf(g.in)
	partial := partials{elems: g.planes * area(g.out), size: acc}
	var none spec.Ref
	w := walk{t: t, out: g.out, taps: g.kernel, inside: g.inside(), planes: g.planes, per: per, room: planner.RoomFor(t, texel, size), accumulators: resultsFor(t, acc)}
	w.results = resultsFor(t, max(made, int(4*base.IndexWords)))
	w.span = func(p part) (int, int) {
		low, high := [3]int{}, [3]int{}
		for k := range low {
			low[k] = p.from[1+k]*g.strides[k] - g.before[k] + p.tap[k]*g.spacing[k]
			high[k] = low[k] + (p.n[1+k]-1)*g.strides[k] + (p.taps[k]-1)*g.spacing[k]
		}
		return spanOf(g.in, p.from[0], p.from[0]+p.n[0], low, high)
	}
	w.reach = func(p part) (out [4]int, taps [3]int) {
		out[0] = (p.n[0] - 1) * area(g.in)
		for k := range taps {
			out[1+k] = min((p.n[1+k]-1)*g.strides[k], g.in[k]-1) * st[k]
			taps[k] = min((p.taps[k]-1)*g.spacing[k], g.in[k]-1) * st[k]
		}
		return out, taps
	}
	w.launch = func(p part) error {
		q, from := base, p.first(g.out)
		q.Count, q.Stage = uint32(p.elems()), w.stage(p)
		first, last := w.span(p)
		bind, at := planner.Window(t, in, size, int64(first), int64(last-first))
		q.InBase = int32(p.from[0]*area(g.in) - first + int(at))
		q.IndexBase = uint32(first - int(at))
		for k := range g.in {
			q.N[k], q.S[k], q.D[k], q.K[k] = uint32(p.n[1+k]), uint32(g.strides[k]), uint32(g.spacing[k]), uint32(p.taps[k])
			q.Y[k], q.I[k] = int32(p.from[1+k]*g.strides[k]-g.before[k]+p.tap[k]*g.spacing[k]), int32(g.in[k])
		}
		bindings := outputs{t: t, from: from, elems: p.elems()}
		q.OutBase = bindings.base()
		step := spec.Step{Module: spirv.Kernel(name), Bind: []spec.Bind{bind, partial.bind(plan, bindings, q.Stage), bindings.bind(out, made)}}
		if shader == maxShader {
			if indices.Kind == spec.RefNone && none.Kind == spec.RefNone {
				none = planner.AddScratch(plan, 0)
			}
			last := spec.Bind{Buf: none}
			if indices.Kind != spec.RefNone {
				last = bindings.bind(indices, int(4*base.IndexWords))
			}
			step.Bind = append(step.Bind, last)
		}
		var err error
		step.Groups, err = planner.Grid(t, int64(planner.CeilDiv(planner.CeilDiv(int(q.OutBase)%per+p.elems(), per), local)))
		step.Params = q
		plan.Steps = append(plan.Steps, step)
		return err
	}
	return w.parts()
}
