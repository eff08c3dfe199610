package resampling

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	pointsShader = "nn/grid_sample_points"
	sampleShader = "nn/grid_sample"
)

// pointsParams is the push-constant block of shaders/nn/grid_sample_points.comp.
type pointsParams struct {
	Count, InBase, OutBase, Axes, Entry uint32
	Factor, Last                        [3]uint32
	Kind, Padding, Offset               uint32
}

// sampleParams is the push-constant block of shaders/nn/grid_sample.comp.
type sampleParams struct {
	Count, OutBase, Stage, Points, Channels, TableBase, Entry, InBase, Plane, Low, Some uint32
	N                                                                                   [3]uint32
	Axes, Kind, Padding, Twice                                                          uint32
	Undefined                                                                           [2]uint32
}

// addSample appends the launches that sample a tensor of dtype d by a grid of dtype from.
// Errors: *LimitError.
func addSample(plan *spec.Plan, t *spec.Target, s sampled, d, from tensor.DType) error {
	p := sampling{t: t, plan: plan, sampled: s, d: d, real: planner.Accumulator(d), kernel: sampleShader + "." + d.String(), local: planner.SmallGroup}
	if p.texel = d.Size() < 8 && planner.UsesTexels(t, planner.TexelGroup); p.texel {
		p.kernel, p.local = p.kernel+".texel", planner.TexelGroup
	}
	if err := p.addPoints(from); err != nil {
		return err
	}
	p.room = planner.RoomFor(t, p.texel, d.Size())
	p.sums = planner.AddScratch(plan, 0)
	if s.plane > p.room {
		p.sums = planner.AddScratch(plan, int64(min(s.points, planner.RoomFor(t, false, p.real.Size())))*int64(p.real.Size()))
	}
	return p.split(planner.RegionOf([]int{s.images, s.channels, s.points}))
}

// sampling adds the launches of a plan.
type sampling struct {
	t    *spec.Target
	plan *spec.Plan
	sampled
	d, real tensor.DType
	kernel  string
	local   int
	texel   bool
	// table has the entries of the grid, of so many words each.
	table spec.Ref
	entry int
	// room is how many elements of the tensor fit a binding. sums are those of parts of a plane.
	room int
	sums spec.Ref
}

// addPoints appends the launches that make the table.
// Errors: *LimitError.
func (p *sampling) addPoints(from tensor.DType) error {
	axes, texel := len(p.size), from.Size() < 8 && planner.UsesTexels(p.t, planner.TexelGroup)
	kernel, local := pointsShader+"."+from.String(), planner.SmallGroup
	if texel {
		kernel, local = kernel+".texel", planner.TexelGroup
	}
	// A word for the row, one for 24 bits after it, and one for 28 more.
	p.entry = 1 + p.real.Size()/4
	all := p.images * p.points
	p.table = planner.AddScratch(p.plan, int64(all)*int64(axes*p.entry)*4)
	q := pointsParams{Axes: uint32(axes), Entry: uint32(p.entry), Kind: uint32(p.mode), Padding: uint32(p.padding)}
	if !p.corners {
		q.Offset = 1 << 24
	}
	for i := range axes {
		n := p.size[axes-1-i]
		if q.Last[i], q.Factor[i] = uint32(n-1), uint32(n); p.corners {
			q.Factor[i]--
		}
	}
	most := min(planner.RoomFor(p.t, texel, from.Size())/axes, planner.RoomFor(p.t, false, 4)/(axes*p.entry))
	if most < 1 {
		return &errs.LimitError{Name: "MaxBinding", Want: int64(axes * p.entry * 4), Have: p.t.MaxBinding}
	}
	for first := 0; first < all; first += most {
		n := min(most, all-first) * axes
		read, base := planner.Window(p.t, spec.In(1), from.Size(), int64(first*axes), int64(n))
		write, at := planner.Window(p.t, p.table, 4, int64(first*axes*p.entry), int64(n*p.entry))
		q.Count, q.InBase, q.OutBase = uint32(n), base, at
		groups, err := planner.Grid(p.t, int64(planner.CeilDiv(n, local)))
		if err != nil {
			return err
		}
		p.plan.Steps = append(p.plan.Steps, spec.Step{Module: spirv.Kernel(kernel), Params: q, Bind: []spec.Bind{read, write}, Groups: groups})
	}
	return nil
}

// split splits a part of the result, of images, channels and points, until it fits the target, and appends the launches.
// The parts are contiguous.
func (p *sampling) split(s planner.Region) error {
	planes, made := s.N[0]*s.N[1], p.d.Size()
	if p.plane > p.room {
		made = max(made, p.real.Size())
	}
	fits := planes*p.plane <= p.room || planes == 1
	if fits && s.Elems() <= planner.RoomFor(p.t, false, made)-int(planner.WindowAlign(p.t)) && s.N[0]*s.N[2]*len(p.size)*p.entry <= planner.RoomFor(p.t, p.texel, 4) {
		return p.planes(s)
	}
	for k := range s.N {
		if s.N[k] == 1 {
			continue
		}
		low, high := s.Halve(k, (s.N[k]+1)/2)
		if err := p.split(low); err != nil {
			return err
		}
		return p.split(high)
	}
	return &errs.LimitError{Name: "MaxBinding", Want: int64(len(p.size) * p.entry * 4), Have: p.t.MaxBinding}
}

// planes appends the launches of a part: one, or one for each part of a plane that fits a binding.
func (p *sampling) planes(s planner.Region) error {
	if p.plane <= p.room {
		return p.launch(s, 0, p.plane)
	}
	for low := 0; low < p.plane; low += p.room {
		if err := p.launch(s, low, min(low+p.room, p.plane)); err != nil {
			return err
		}
	}
	return nil
}

// launch appends the launch of a part, with elements [low, high) of each of its planes.
func (p *sampling) launch(s planner.Region, low, high int) error {
	plane, axes := s.From[0]*p.channels+s.From[1], len(p.size)
	read, base := planner.Window(p.t, spec.In(0), p.d.Size(), int64(plane)*int64(p.plane)+int64(low), int64(s.N[0]*s.N[1]-1)*int64(p.plane)+int64(high-low))
	words := axes * p.entry
	table, first := planner.Window(p.t, p.table, 4, (int64(s.From[0])*int64(p.points)+int64(s.From[2]))*int64(words), (int64(s.N[0]-1)*int64(p.points)+int64(s.N[2]))*int64(words))
	at := int64(plane)*int64(p.points) + int64(s.From[2])
	write, out := planner.Window(p.t, spec.Out(0), p.d.Size(), at, int64(s.Elems()))
	q := sampleParams{
		Count: uint32(s.Elems()), OutBase: out, Points: uint32(s.N[2]), Channels: uint32(s.N[1]), TableBase: first, Entry: uint32(p.entry),
		InBase: base, Plane: uint32(p.plane), Low: uint32(low), Some: uint32(high - low), N: p.sizes(),
		Axes: uint32(axes), Kind: uint32(p.mode), Padding: uint32(p.padding), Twice: p.twice(), Undefined: realWords(nan, p.real),
	}
	if low == 0 {
		q.Stage = 1
	}
	if high == p.plane {
		q.Stage |= 2
	}
	per := max(4/p.d.Size(), 1)
	groups, err := planner.Grid(p.t, int64(planner.CeilDiv(planner.CeilDiv(int(out)%per+s.Elems(), per), p.local)))
	p.plan.Steps = append(p.plan.Steps, spec.Step{
		Module: spirv.Kernel(p.kernel), Params: q, Groups: groups, Bind: []spec.Bind{read, table, {Buf: p.sums}, write},
	})
	return err
}

// sizes are the sizes of a plane as kernels take them: three, outermost first.
func (s sampled) sizes() [3]uint32 {
	sizes := [3]uint32{1, 1, 1}
	for k, n := range s.size {
		sizes[3-len(s.size)+k] = uint32(n)
	}
	return sizes
}

// twice is 1 if an element at an edge is reflected next to itself.
func (s sampled) twice() uint32 {
	if s.corners {
		return 0
	}
	return 1
}
