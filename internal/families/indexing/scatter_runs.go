package indexing

import (
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	runsKernel = "move/scatter_runs.u32"
	sumShader  = "move/scatter_sum"
	// sumPacks is how many packs an invocation of sumShader makes.
	sumPacks = 4
	// mostEmpty is how many times as many rows as updates a table may have whose rows are all made by sumShader.
	mostEmpty = 3
)

// runsParams is the push-constant block of move/scatter_runs.comp.
type runsParams struct{ Count, Rows uint32 }

// sumParams is the push-constant block of move/scatter_sum.comp.
type sumParams struct{ Rows, Packs, UpdateBase, At uint32 }

// runsKernels lists the kernels that addRuns launches.
func runsKernels() []spec.Kernel {
	ks := []spec.Kernel{{Name: runsKernel, Params: runsParams{}}}
	for _, v := range []string{".f32", ".f32.zeros", ".i32", ".i32.zeros"} {
		ks = append(ks, spec.Kernel{Name: sumShader + v, Params: sumParams{}})
	}
	return ks
}

// byRuns reports whether addRuns can make the table and takes less time than a copy and additions to its rows: on a CPU driver
// that can bind all of the operands, if the table has not many more rows than updates.
func (s scatter) byRuns(t *spec.Target) bool {
	n, rows := s.places.total(), s.places.rows
	if s.kind != 0 || !hasPacked(s.dtype) || s.elems%4 != 0 || !t.CPU || t.HostVectors || !planner.UsesTexels(t, planner.SmallGroup) {
		return false
	}
	room := planner.RoomFor(t, true, 4)
	if t.MaxIterations > 0 && n >= int(t.MaxIterations) || n > mostPairs || rows > mostEmpty*n {
		return false
	}
	return max(rows, n)*s.elems <= room && max(rows, 2*n) <= room
}

// addRuns appends the launches that make the table out of sorted pairs, if byRuns holds.
// Errors: *LimitError.
func (s scatter) addRuns(plan *spec.Plan, t *spec.Target, pairs, status, table spec.Ref) error {
	n, rows, packs := s.places.total(), s.places.rows, s.elems/4
	positions, starts := planner.AddScratch(plan, 4*int64(n)), planner.AddScratch(plan, 4*int64(rows))
	if err := movement.AddFill(plan, t, 0, tensor.U32, starts, rows); err != nil {
		return err
	}
	runs := spec.Step{Module: spirv.Kernel(runsKernel), Params: runsParams{uint32(n), uint32(rows)}, Bind: []spec.Bind{{Buf: pairs}, {Buf: positions}, {Buf: starts}}}
	var err error
	if runs.Groups, err = planner.Grid(t, int64(planner.CeilDiv(n, planner.SmallGroup))); err != nil {
		return err
	}
	name := sumShader + "." + planner.Signed(s.dtype).String()
	p := sumParams{Rows: uint32(rows), Packs: uint32(packs)}
	sum := spec.Step{Bind: []spec.Bind{{Buf: status}, {Buf: positions}, {Buf: starts}, {}, {}}}
	sum.Bind[3], p.UpdateBase = planner.Window(t, s.updates, planner.Pack, 0, int64(n*packs))
	sum.Bind[4], p.At = planner.Window(t, table, planner.Pack, 0, int64(rows*packs))
	if s.data.Kind == spec.RefNone {
		name += ".zeros"
	} else {
		data, _ := planner.Window(t, s.data, planner.Pack, 0, int64(rows*packs))
		sum.Bind = append(sum.Bind, data)
	}
	sum.Module, sum.Params = spirv.Kernel(name), p
	if sum.Groups, err = planner.Grid(t, int64(planner.CeilDiv(rows*planner.CeilDiv(packs, sumPacks), planner.SmallGroup))); err != nil {
		return err
	}
	plan.Steps = append(plan.Steps, runs, sum)
	return nil
}
