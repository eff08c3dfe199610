package pooling

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// gatherParams is the push-constant block of lib/pool_gather.glsl.
type gatherParams struct {
	Count, OutBase, Stage            uint32
	N, S, D, Reach, Y, O, From, Take [3]uint32
	InBase                           int32
	Number                           uint32
}

// around returns the largest number of windows around an element, along each dimension.
func (g geometry) around() [3]int {
	var n [3]int
	for k := range n {
		n[k] = min(g.out[k], (g.kernel[k]-1)*g.spacing[k]/g.strides[k]+1)
	}
	return n
}

// addGather appends the launches of a shader that includes lib/pool_gather.glsl. src has an
// element for each window, of as many bytes as size says. to has one of dtype d for each
// element of the input of the pooling. largest is the zero Ref if the shader does not read it.
func addGather(plan *spec.Plan, t *spec.Target, shader string, d tensor.DType, g geometry, size int, src, to, largest spec.Ref) error {
	name, local, texel := shader+"."+d.String(), planner.SmallGroup, d.Size() < 8 && planner.UsesTexels(t, planner.TexelGroup)
	if texel {
		name, local = name+".texel", planner.TexelGroup
	}
	acc, per, st := planner.Accumulator(d).Size()+4, max(4/d.Size(), 1), stridesOf(g.out)
	partial := partials{elems: g.planes * area(g.in), size: acc}
	w := walk{t: t, out: g.in, taps: g.around(), inside: g.around(), planes: g.planes, per: per, results: resultsFor(t, d.Size()), accumulators: resultsFor(t, acc)}
	w.room = planner.RoomFor(t, texel, max(size, 4)) - int(planner.WindowAlign(t))
	// first is the first window that reaches a coordinate, which counts from the pad.
	first := func(k, y int) int {
		return (max(y-(g.kernel[k]-1)*g.spacing[k], 0) + g.strides[k] - 1) / g.strides[k]
	}
	w.span = func(p part) (int, int) {
		low, high := [3]int{}, [3]int{}
		for k := range low {
			y := p.from[1+k] + g.before[k]
			end := y + p.n[1+k] - 1
			low[k] = first(k, y) + p.tap[k]
			high[k] = max(min(first(k, end)+p.tap[k]+p.taps[k]-1, end/g.strides[k]), low[k])
		}
		return spanOf(g.out, p.from[0], p.from[0]+p.n[0], low, high)
	}
	w.reach = func(p part) (out [4]int, taps [3]int) {
		out[0] = (p.n[0] - 1) * area(g.out)
		for k := range taps {
			out[1+k] = min((p.n[1+k]-1)/g.strides[k]+1, g.out[k]-1) * st[k]
			taps[k] = min(p.taps[k]-1, g.out[k]-1) * st[k]
		}
		return out, taps
	}
	w.launch = func(p part) error {
		from, to0 := w.span(p)
		into := outputs{t: t, from: p.first(g.in), elems: p.elems()}
		read := outputs{t: t, from: from, elems: to0 - from}
		q := gatherParams{Count: uint32(p.elems()), OutBase: into.base(), Stage: w.stage(p), Number: uint32(into.from)}
		q.InBase = int32(p.from[0]*area(g.out) - from + int(read.base()))
		for k := range g.in {
			q.N[k], q.S[k], q.D[k], q.O[k] = uint32(p.n[1+k]), uint32(g.strides[k]), uint32(g.spacing[k]), uint32(g.out[k])
			q.Reach[k], q.Y[k] = uint32((g.kernel[k]-1)*g.spacing[k]), uint32(p.from[1+k]+g.before[k])
			q.From[k], q.Take[k] = uint32(p.tap[k]), uint32(p.taps[k])
		}
		step := spec.Step{Module: spirv.Kernel(name), Params: q}
		step.Bind = []spec.Bind{read.bind(src, size), partial.bind(plan, into, q.Stage), into.bind(to, d.Size())}
		if largest.Kind != spec.RefNone {
			step.Bind = append(step.Bind, read.bind(largest, 4))
		}
		var err error
		step.Groups, err = planner.Grid(t, int64(planner.CeilDiv(planner.CeilDiv(int(q.OutBase)%per+p.elems(), per), local)))
		plan.Steps = append(plan.Steps, step)
		return err
	}
	return w.parts()
}

// addScale appends the launches that divide the elements of in by the numbers of elements of
// their windows, to a buffer of the dtype of the accumulators.
func addScale(plan *spec.Plan, t *spec.Target, d tensor.DType, g geometry, base poolParams, in, to spec.Ref) error {
	name, local, texel := scaleShader+"."+d.String(), planner.SmallGroup, d.Size() < 8 && planner.UsesTexels(t, planner.TexelGroup)
	if texel {
		name, local = name+".texel", planner.TexelGroup
	}
	wide := planner.Accumulator(d).Size()
	unused := planner.AddScratch(plan, 0)
	st := stridesOf(g.out)
	w := walk{t: t, out: g.out, taps: [3]int{1, 1, 1}, inside: [3]int{1, 1, 1}, planes: g.planes, per: 1, room: planner.RoomFor(t, texel, d.Size()) - int(planner.WindowAlign(t)), results: resultsFor(t, wide)}
	w.span = func(p part) (int, int) { return p.first(g.out), p.first(g.out) + p.elems() }
	w.reach = func(p part) (out [4]int, taps [3]int) {
		return [4]int{p.n[0] * area(g.out), p.n[1] * st[0], p.n[2] * st[1], p.n[3]}, taps
	}
	w.launch = func(p part) error {
		both := outputs{t: t, from: p.first(g.out), elems: p.elems()}
		q := base
		q.Count, q.OutBase, q.Stage, q.InBase = uint32(p.elems()), both.base(), 3, int32(both.base())
		for k := range g.in {
			q.N[k], q.S[k], q.D[k], q.K[k] = uint32(p.n[1+k]), uint32(g.strides[k]), uint32(g.spacing[k]), uint32(g.kernel[k])
			q.Y[k], q.I[k] = int32(p.from[1+k]*g.strides[k]-g.before[k]), int32(g.in[k])
		}
		groups, err := planner.Grid(t, int64(planner.CeilDiv(p.elems(), local)))
		plan.Steps = append(plan.Steps, spec.Step{
			Module: spirv.Kernel(name), Params: q, Groups: groups,
			Bind: []spec.Bind{both.bind(in, d.Size()), {Buf: unused}, both.bind(to, wide)},
		})
		return err
	}
	return w.parts()
}
