package indexing

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const gatherAxis = "move/gather_axis.u32"

// axisRows is how many rows an invocation of gatherAxis makes: four took two thirds of the time of one on lavapipe, and
// of sixteen the rows no longer fit the cache.
const axisRows = 4

// axisParams is the push-constant block of move/gather_axis.comp.
type axisParams struct{ Rows, Each, Size, Run, Words, Base, IndexBase, At uint32 }

// axisKernels lists the kernels that addAxis launches.
func axisKernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, v := range []string{"", ".texel", ".words", ".words.texel"} {
		ks = append(ks, spec.Kernel{Name: gatherAxis + v, Params: axisParams{}})
	}
	return ks
}

// axisBatch returns how many rows of words a launch of gatherAxis can make. It is 0 if the indices are not the same ones for
// each row, if elements are no words, or if the device is no CPU driver.
func (w Addressing) axisBatch(t *spec.Target, d, index tensor.DType) int {
	p := w.places
	if !t.CPU || t.HostVectors || d.Size() != 4 || w.elems != 1 || len(p.sizes) != 1 || p.factors[0] != 1 || p.run*p.blocks == 0 {
		return 0
	}
	if len(p.n) != 2 || p.n[0] != p.blocks || p.n[1] != p.run || p.steps[0] != p.sizes[0] || p.steps[1] != 0 {
		return 0
	}
	if planner.RoomFor(t, false, index.Size()) < p.run {
		return 0
	}
	room := planner.RoomFor(t, planner.UsesTexels(t, planner.SmallGroup), 4)
	return min(room/max(p.sizes[0], p.run), p.blocks)
}

// addAxis appends to a plan the launches of a gather for which axisBatch returns so many rows. Inputs 0 and 1 are the data and
// the indices, of dtype index, and output 0 is the result.
// Errors: *LimitError.
func (w Addressing) addAxis(plan *spec.Plan, t *spec.Target, index tensor.DType, batch int) error {
	p := w.places
	status, err := addChecks(plan, t, spec.In(1), index, p.run, p.sizes, true)
	if err != nil {
		return err
	}
	name, words := gatherAxis, index.Size()/4
	if p.run%4 != 0 {
		name += ".words"
	}
	if planner.UsesTexels(t, planner.SmallGroup) {
		name += ".texel"
	}
	for row := 0; row < p.blocks; row += batch {
		rows := min(batch, p.blocks-row)
		q := axisParams{Rows: uint32(rows), Each: axisRows, Size: uint32(p.sizes[0]), Run: uint32(p.run), Words: uint32(words)}
		step := spec.Step{Module: spirv.Kernel(name), Bind: make([]spec.Bind, 4)}
		step.Bind[0], q.IndexBase = planner.Window(t, spec.In(1), 4, 0, int64(p.run*words))
		step.Bind[1], q.Base = planner.Window(t, spec.In(0), 4, int64(row)*int64(p.sizes[0]), int64(rows)*int64(p.sizes[0]))
		step.Bind[2], q.At = planner.Window(t, spec.Out(0), 4, int64(row)*int64(p.run), int64(rows)*int64(p.run))
		step.Bind[3].Buf = status
		step.Params = q
		groups := planner.CeilDiv(planner.CeilDiv(rows, axisRows)*planner.CeilDiv(p.run, 4), planner.SmallGroup)
		if step.Groups, err = planner.Grid(t, int64(groups)); err != nil {
			return err
		}
		plan.Steps = append(plan.Steps, step)
	}
	return nil
}
