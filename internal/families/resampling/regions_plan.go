package resampling

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	regionTableShader = "nn/roi_table"
	regionShader      = "nn/roi_align"
)

// regionTableParams is the push-constant block of shaders/nn/roi_table.comp.
type regionTableParams struct {
	Count, RoiBase, IndexBase, Base, IndexWords, Height, Width, Ratio, Most, Least uint32
	Scale, Offset                                                                  [2]uint32
}

// regionParams is the push-constant block of shaders/nn/roi_align.comp.
type regionParams struct {
	Count, OutBase, TableBase, First, Stage, Largest, C, H, W, Height, Width, From, Have, SrcBase uint32
}

// regionKernels lists the kernels that plans launch, without those of indexing.AddCheck.
func regionKernels() []spec.Kernel {
	list := planner.DTypeVariants(regionTableShader, regionTableParams{}, planner.Floats, nil)
	return append(list, planner.DTypeVariants(regionShader, regionParams{}, planner.Floats, func(d tensor.DType) bool { return d.Size() < 8 })...)
}

// add appends the launches of a call whose result has elements.
// Errors: *LimitError.
func (r Regions) add(plan *spec.Plan, t *spec.Target, in []tensor.Desc) error {
	n, d, index := in[1].Shape[0], in[0].DType, in[2].DType
	status, err := indexing.AddCheck(plan, t, spec.In(2), index, n, in[0].Shape[0])
	if err != nil || in[0].Elems() == 0 { // Without images, no index is right.
		return err
	}
	real := planner.Accumulator(d)
	entry := real.Size() + 4 // words
	table := planner.AddScratch(plan, 4*int64(entry)*int64(n))
	q := regionTableParams{
		IndexWords: uint32(index.Size() / 4), Height: uint32(r.Height), Width: uint32(r.Width), Ratio: uint32(r.Ratio), Most: maxSamples,
		Scale: realWords(r.Scale, real), Offset: realWords(r.offset(), real),
	}
	if r.Coordinates == unshifted {
		q.Least = 1
	}
	most := min(planner.RoomFor(t, false, 4*d.Size()), planner.RoomFor(t, false, index.Size()), planner.RoomFor(t, false, 4*entry))
	for from := 0; from < n; from += most {
		count := min(most, n-from)
		q, step := q, spec.Step{Module: spirv.Kernel(regionTableShader + "." + d.String()), Bind: make([]spec.Bind, 4)}
		q.Count = uint32(count)
		step.Bind[0], q.RoiBase = planner.Window(t, spec.In(1), d.Size(), int64(4*from), int64(4*count))
		step.Bind[1], q.IndexBase = planner.WordWindow(t, spec.In(2), index.Size(), from, count)
		step.Bind[2].Buf = status
		step.Bind[3], q.Base = planner.WordWindow(t, table, 4*entry, from, count)
		step.Params = q
		if step.Groups, err = planner.Grid(t, int64(planner.CeilDiv(count, planner.SmallGroup))); err != nil {
			return err
		}
		plan.Steps = append(plan.Steps, step)
	}
	return r.addSamples(plan, t, in, table, 4*entry)
}

// addSamples appends the launches that make the result, from a table with entries of that many bytes.
// Errors: *LimitError.
func (r Regions) addSamples(plan *spec.Plan, t *spec.Target, in []tensor.Desc, table spec.Ref, entry int) error {
	x, d := in[0].Shape, in[0].DType
	k := planner.FlatVariant(t, regionShader, d)
	size, acc, per := d.Size(), planner.Accumulator(d).Size(), max(4/d.Size(), 1)
	samples := int64(maxSamples)
	if r.Ratio > 0 {
		samples = int64(r.Ratio)
	}
	if need := int64(per)*(samples*(samples+2)+3) + 1; t.MaxIterations > 0 && int64(t.MaxIterations) < need {
		return &errs.LimitError{Name: "MaxIterations", Want: need, Have: int64(t.MaxIterations)}
	}
	elems, have := in[0].Elems(), planner.RoomFor(t, k.Texel, size)
	region := x[1] * r.Height * r.Width
	total, most, sums := in[1].Shape[0]*region, planner.RoomFor(t, false, size), int64(0)
	if elems > have {
		most = min(most, planner.RoomFor(t, false, acc))
		sums = int64(min(most, total)) * int64(acc) // A part of the result has them for itself.
	}
	accumulators := spec.Bind{Buf: planner.AddScratch(plan, sums)}
	// A part ends where the entries of its regions would not fit.
	entries := planner.RoomFor(t, false, entry)
	count := func(at int) int { return min(most, total-at, (at/region+entries)*region-at) }
	for at := 0; at < total; at += count(at) {
		n := count(at)
		q := regionParams{
			Count: uint32(n), First: uint32(at % region), C: uint32(x[1]), H: uint32(x[2]), W: uint32(x[3]), Height: uint32(r.Height), Width: uint32(r.Width),
		}
		if r.Mode == maxMode {
			q.Largest = 1
		}
		first := at / region
		var made, rows spec.Bind
		made, q.OutBase = planner.Window(t, spec.Out(0), size, int64(at), int64(n))
		rows, q.TableBase = planner.WordWindow(t, table, entry, first, (at+n-1)/region+1-first)
		groups, err := planner.Grid(t, int64(planner.CeilDiv(planner.CeilDiv(int(q.OutBase)%per+n, per), k.Local)))
		if err != nil {
			return err
		}
		for from := 0; from < elems; from += have {
			q := q
			q.From, q.Have = uint32(from), uint32(min(have, elems-from))
			if from == 0 {
				q.Stage = 1
			}
			if from+have >= elems {
				q.Stage |= 2
			}
			var read spec.Bind
			read, q.SrcBase = planner.Window(t, spec.In(0), size, int64(from), int64(q.Have))
			plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel(k.Name), Params: q, Groups: groups, Bind: []spec.Bind{read, accumulators, made, rows}})
		}
	}
	return nil
}
