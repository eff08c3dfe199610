package reduction

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// This file divides columns among workgroups of lib/reduce_lanes.glsl.

const (
	// laneRows is the number of rows in a block.
	laneRows = 8
	// laneBlocks bounds the blocks that an invocation adds one after the other.
	laneBlocks = 64
	// laneGroups is the number of workgroups that keep the processors busy, and laneLeast
	// the number of elements that a workgroup should have at least.
	laneGroups = 16
	laneLeast  = 1 << 15
	// fewElements is the number of elements up to which an invocation reduces a row alone, if there are fewRows of them.
	fewElements = 48
	fewRows     = 8
)

// usesLanes reports whether to launch the kernels for columns whose four invocations read
// neighbouring elements. A block of rows has to fit a binding.
func (w *builder) usesLanes(v planner.AxisView) bool {
	fits := laneRows*v.Inner <= w.room(max(w.d.Size(), w.AccumulatorBytes(w.d)))
	return w.t.HostVectors && w.d == tensor.F32 && fits && !w.RowsOnly && v.Inner >= 4 && !UsesTexels(w.t, w.d)
}

// UsesFew reports whether rows are so short, and so many, that on devices whose invocations are lanes of a vector an invocation handles a row alone.
func UsesFew(t *spec.Target, d tensor.DType, v planner.AxisView) bool {
	return UsesQuads(t, d) && v.Inner == 1 && v.N > 0 && v.N <= fewElements && v.Outer >= fewRows
}

// usesFew reports whether to launch the kernels for such rows.
func (w *builder) usesFew(v planner.AxisView) bool { return !w.ColumnsOnly && UsesFew(w.t, w.d, v) }

// laneColumns is the number of columns that a workgroup reduces.
func (w *builder) laneColumns() int {
	if w.Values > 1 {
		return 4 * 32
	}
	return 4 * 128
}

// laneChunks is chunking for these kernels.
func (w *builder) laneChunks(v planner.AxisView) chunking {
	blocks := planner.CeilDiv(max(v.N, 1), laneRows)
	groups := v.Outer * planner.CeilDiv(v.Inner, w.laneColumns())
	busy := min(planner.CeilDiv(laneGroups, max(groups, 1)), v.Outer*v.N*v.Inner/laneLeast, planner.CeilDiv(blocks, 4))
	c := chunking{sharers: 1, chunks: max(planner.CeilDiv(blocks, laneBlocks), busy, 1)}
	c.steps = planner.CeilDiv(blocks, c.chunks)
	c.steps = min(c.steps, w.room(w.d.Size())/v.Inner/laneRows) // A chunk has to fit a binding.
	c.elems = laneRows * c.steps
	c.chunks = max(planner.CeilDiv(v.N, c.elems), 1)
	return c
}
