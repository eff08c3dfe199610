package resampling

import (
	"math"
	"math/bits"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	tapsShader       = "nn/grid_sample_taps"
	sampleGradShader = "nn/grid_sample_grad"
	// mostPairs is the number of pairs of a launch: an invocation may have to add them all.
	mostPairs = 1 << 15
)

// tapsParams is the push-constant block of shaders/nn/grid_sample_taps.comp.
type tapsParams struct {
	Count, OutBase, TableBase, Entry uint32
	N                                [3]uint32
	None, Axes, Kind, Padding, Twice uint32
}

// sampleGradParams is the push-constant block of shaders/nn/grid_sample_grad.comp.
type sampleGradParams struct {
	Count, PairBase, Channels, First, Rows, SumBase, Plane, FirstPoint, Points, InBase, Pitch, TableBase, Entry, Axes, Kind uint32
}

// addSampleGrad appends the launches that make the gradient of the tensor from that of the result, of dtype d, by a grid
// of dtype from.
// Errors: *LimitError.
func addSampleGrad(plan *spec.Plan, t *spec.Target, s sampled, d, from tensor.DType) error {
	p := sampling{t: t, plan: plan, sampled: s, d: d, real: planner.Accumulator(d)}
	n, out := s.images*s.channels*s.plane, spec.Out(0)
	if p.real != d {
		// Sums are added in memory, and rounded once.
		out = planner.AddScratch(plan, int64(n)*int64(p.real.Size()))
	}
	if err := movement.AddFill(plan, t, 0, p.real, out, n); err != nil {
		return err
	}
	if s.points > 0 {
		if err := p.addPoints(from); err != nil {
			return err
		}
		pairs, err := p.addTaps()
		if err != nil {
			return err
		}
		for image := range s.images {
			if err := p.addGradient(pairs, out, image); err != nil {
				return err
			}
		}
	}
	if p.real != d {
		return elementwise.AddCast(plan, t, p.real, d, n, out, spec.Out(0))
	}
	return nil
}

// perPoint is how many elements have a weight at a point.
func (s sampled) perPoint() int { return 1 << (int(s.mode) * len(s.size)) }

// addTaps appends the launches that sort the elements which have a weight at a point, and returns the pairs.
// Errors: *LimitError.
func (p *sampling) addTaps() (spec.Ref, error) {
	axes, each := len(p.size), p.perPoint()
	all := p.images * p.points
	if int64(all)*int64(each) > math.MaxInt32 {
		return spec.Ref{}, &errs.LimitError{Name: "elements with a weight", Want: int64(all) * int64(each), Have: math.MaxInt32}
	}
	keys := planner.AddScratch(p.plan, int64(all*each)*4)
	q := tapsParams{Entry: uint32(p.entry), N: p.sizes(), None: uint32(p.plane), Axes: uint32(axes), Kind: uint32(p.mode), Padding: uint32(p.padding), Twice: p.twice()}
	room := planner.RoomFor(p.t, false, 4)
	most := min(room/(axes*p.entry), room/each)
	if most < 1 {
		return keys, &errs.LimitError{Name: "MaxBinding", Want: int64(4 * max(axes*p.entry, each)), Have: p.t.MaxBinding}
	}
	for first := 0; first < all; first += most {
		n := min(most, all-first)
		read, base := planner.Window(p.t, p.table, 4, int64(first*axes*p.entry), int64(n*axes*p.entry))
		write, at := planner.Window(p.t, keys, 4, int64(first*each), int64(n*each))
		q.Count, q.OutBase, q.TableBase = uint32(n*each), at, base
		groups, err := planner.Grid(p.t, int64(planner.CeilDiv(n*each, planner.SmallGroup)))
		if err != nil {
			return keys, err
		}
		p.plan.Steps = append(p.plan.Steps, spec.Step{Module: spirv.Kernel(tapsShader + "." + p.real.String()), Params: q, Bind: []spec.Bind{read, write}, Groups: groups})
	}
	return indexing.AddSortRows(p.plan, p.t, keys, p.images, p.points*each, bits.Len(uint(p.plane)))
}

// addGradient appends the launches that add to the planes of an image.
// Errors: *LimitError.
func (p *sampling) addGradient(pairs, out spec.Ref, image int) error {
	size, real, words, each := p.d.Size(), p.real.Size(), len(p.size)*p.entry, p.perPoint()
	room := planner.RoomFor(p.t, false, 1)
	rows := min(p.plane, room/real)
	points := min(p.points, room/size, room/(4*words))
	// fit returns how many runs that are pitch elements apart a binding holds.
	fit := func(run, pitch, size int) int { return 1 + max(room/size-run, 0)/pitch }
	pairsHere := min(mostPairs, room/8)
	if p.t.MaxIterations > 0 {
		pairsHere = min(pairsHere, max(int(p.t.MaxIterations)/2, 1))
	}
	channels := min(p.channels, fit(rows, p.plane, real), fit(points, p.points, size), math.MaxInt32/pairsHere)
	q := sampleGradParams{Plane: uint32(p.plane), Pitch: uint32(p.points), Entry: uint32(p.entry), Axes: uint32(len(p.size)), Kind: uint32(p.mode)}
	step := spec.Step{Module: spirv.Kernel(sampleGradShader + "." + p.d.String())}
	at := make([]int, 4)
	return planner.Tiles(planner.RegionOf([]int{p.channels, p.plane, p.points, p.points * each}), []int{channels, rows, points, pairsHere}, func(r planner.Region) error {
		copy(at, r.From)
		plane := image*p.channels + at[0]
		q.Channels, q.First, q.Rows, q.FirstPoint, q.Points, q.Count = uint32(r.N[0]), uint32(at[1]), uint32(r.N[1]), uint32(at[2]), uint32(r.N[2]), uint32(r.N[3])
		step.Bind = make([]spec.Bind, 4)
		step.Bind[0], q.PairBase = planner.Window(p.t, pairs, 4, 2*int64(image*p.points*each+at[3]), 2*int64(r.N[3]))
		step.Bind[1], q.TableBase = planner.Window(p.t, p.table, 4, int64(image*p.points+at[2])*int64(words), int64(r.N[2])*int64(words))
		step.Bind[2], q.InBase = planner.Window(p.t, spec.In(0), size, int64(plane)*int64(p.points)+int64(at[2]), int64(r.N[0]-1)*int64(p.points)+int64(r.N[2]))
		step.Bind[3], q.SumBase = planner.Window(p.t, out, real, int64(plane)*int64(p.plane)+int64(at[1]), int64(r.N[0]-1)*int64(p.plane)+int64(r.N[1]))
		step.Params = q
		var err error
		step.Groups, err = planner.Grid(p.t, planner.CeilDiv(int64(r.N[0])*int64(r.N[3]), planner.SmallGroup))
		p.plan.Steps = append(p.plan.Steps, step)
		return err
	})
}

// DefineSamplingGrad declares the gradient of such an operation with respect to its tensor: d has its name, docs, attributes
// and calls. size returns the spatial sizes of the tensor.
func DefineSamplingGrad[A spec.Call](d spec.Definition[A], attributes func(A) Sampling, size func(A) []int) *spec.Op {
	spirv.LinkNN()
	spirv.LinkMove()
	sampledOf := func(a A, in []tensor.Desc) (sampled, tensor.Desc, error) {
		if len(in) < 2 || len(in[0].Shape) < 2 {
			return sampled{}, tensor.Desc{}, planner.Invalid("input dy has no dimensions for images and channels")
		}
		if slices.ContainsFunc(size(a), func(n int) bool { return n < 0 }) {
			return sampled{}, tensor.Desc{}, planner.Invalid("size %v (want no negative number)", size(a))
		}
		x := tensor.Contiguous(in[0].DType, slices.Concat(in[0].Shape[:2], size(a))...)
		if err := x.Check(); err != nil {
			return sampled{}, x, err
		}
		s, shape, err := attributes(a).of("dx", []tensor.Desc{x, in[1]})
		if err == nil && !slices.Equal(shape, in[0].Shape) {
			err = planner.Invalid("input dy has shape %v (want %v)", in[0].Shape, shape)
		}
		return s, x, err
	}
	d.Group = "nn"
	d.In = []spec.Arg{
		{Name: "dy", Doc: "[N, C, outputs...], the gradient of the result", DTypes: planner.Floats},
		{Name: "grid", Doc: "[N, outputs..., axes], as in grid_sample; of the dtype of dy, or f32", DTypes: planner.Floats},
	}
	d.Out = []spec.Arg{{Name: "dx", Doc: "[N, C, size...], of the dtype of dy"}}
	real := []tensor.DType{tensor.F32, tensor.F64}
	d.Kernels = slices.Concat(
		planner.DTypeVariants(pointsShader, pointsParams{}, planner.Floats, func(d tensor.DType) bool { return d.Size() < 8 }),
		planner.DTypeVariants(tapsShader, tapsParams{}, real, nil), planner.DTypeVariants(sampleGradShader, sampleGradParams{}, planner.Floats, nil),
		indexing.SortKernels(), movement.FillKernels(), elementwise.CastKernels(),
	)
	d.Shape = func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
		_, x, err := sampledOf(a, in)
		return []tensor.Desc{x}, err
	}
	d.Plan = func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		plan := &spec.Plan{}
		if err := planner.CheckTarget(t, in...); err != nil || out[0].Elems() == 0 {
			return plan, err
		}
		s, _, err := sampledOf(a, in)
		if err != nil {
			return nil, err
		}
		return plan, addSampleGrad(plan, t, s, in[0].DType, in[1].DType)
	}
	d.Reference = func(a A, in, out []*tensor.Host) {
		if out[0].Elems() > 0 {
			out[0].SetFloats(attributes(a).gradient(in[0], in[1], out[0].Shape))
		}
	}
	d.Tolerance = func(a A, dt tensor.DType, in []tensor.Desc) spec.Tolerance {
		s, _, err := sampledOf(a, in)
		if err != nil {
			return spec.Tolerance{}
		}
		e, n := planner.AccumulatorEpsilon(dt), float64(s.points*s.perPoint())
		h := n + float64(len(s.size))
		if s.mode == cubic {
			h += 7 * float64(len(s.size))
		}
		return spec.Tolerance{
			Abs: 2*e*h + planner.Tiny(dt), Rel: planner.Rounded(h, e) + planner.StoreEpsilon(dt),
			Law: "2·ε·h + ε·h of the value; h is the number of points and of elements with a weight at each, and roundings of a product: one for each axis, or 8 for a cubic filter",
			Why: "all points may add to one element, in order: equal terms err in one direction, h times; terms of both signs as much as the root of h times the root of their number",
		}
	}
	d.Cost = func(a A, in []tensor.Desc) spec.Cost {
		s, x, err := sampledOf(a, in)
		if err != nil {
			return spec.Cost{}
		}
		return spec.Cost{Flops: 2 * int64(s.elems()) * int64(s.perPoint()), Bytes: in[0].Bytes() + in[1].Bytes() + x.Bytes()}
	}
	return spec.Define(d)
}
