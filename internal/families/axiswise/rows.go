package axiswise

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Strategies of operations along rows, for spec.Target.Strategy.
const (
	byRows   = "rows"   // one launch reduces and maps whole rows
	byStages = "stages" // accumulators come first, results after them
)

// enoughRows is the number of rows from which it is faster that one invocation handles a
// row than that several invocations share it. Measured on lavapipe, it is two to nine
// times as fast.
const enoughRows = 8

// usesRows reports whether one launch can reduce each row of v and map its elements. The
// rows must be short enough, and there must be enough of them. longest is the longest row
// that one invocation may reduce within the operation's tolerance.
func usesRows(t *spec.Target, d tensor.DType, v planner.AxisView, longest int) bool {
	pack := planner.Pack / d.Size()
	room := planner.WindowAlign(t) + planner.Pack
	if v.Inner != 1 || v.N%pack != 0 || int64(v.N*planner.Pack)+room > t.MaxBinding {
		return false
	}
	switch {
	case t.Strategy == byStages:
		return false
	case reduction.UsesQuads(t, d):
		return v.N <= longest
	case !reduction.UsesTexels(t, d):
		return v.N/pack <= 1<<16
	}
	return v.N <= longest && (v.Outer >= enoughRows || t.Strategy == byRows) && int64(v.N*planner.Pack)+room <= planner.MaxSpan(t, true)
}

// rowStrategies lists the strategies of an operation that reduces the rows of v and has
// kernels for whole rows. longest is as in usesRows.
func rowStrategies(t *spec.Target, d tensor.DType, v planner.AxisView, longest int) []string {
	strategies := planner.TexelStrategies(t, d)
	if v.Outer*v.N*v.Inner == 0 {
		return nil
	}
	other := *t
	if other.Strategy = byRows; !usesRows(&other, d, v, longest) {
		return strategies
	}
	if other.Strategy = ""; usesRows(&other, d, v, longest) {
		return append([]string{byRows, byStages}, strategies[min(len(strategies), 1):]...)
	}
	return append([]string{byStages, byRows}, strategies[min(len(strategies), 1):]...)
}

// rowKernels lists the kernels that addRows launches.
func rowKernels(shader string, params any) []spec.Kernel {
	ks := planner.DTypeVariants(shader, params, planner.Floats, reduction.HasTexels)
	for _, d := range planner.Floats {
		ks = append(ks, spec.Kernel{Name: shader + "." + d.String() + ".subgroup", Params: params})
	}
	ks = append(ks, spec.Kernel{Name: shader + ".f32.quad", Params: params})
	return ks
}

// addRows appends the launches of a kernel over whole rows. It binds the buffers of in,
// then those of side, and then out.
// Errors: *LimitError.
func addRows(plan *spec.Plan, t *spec.Target, shader string, d tensor.DType, v planner.AxisView, params func(reduction.Params) any, in []spec.Ref, side []spec.Bind, out spec.Ref) error {
	pack, unroll, sharers, perGroup := planner.Pack/d.Size(), reduction.Unroll(d), 1, planner.TexelGroup
	name := shader + "." + d.String()
	if reduction.UsesTexels(t, d) {
		name += ".texel"
	} else if reduction.UsesQuads(t, d) {
		name, sharers, perGroup = name+".quad", 4, 1
	} else {
		for sharers < planner.SmallGroup && sharers*unroll < v.N/pack {
			sharers *= 2
		}
		perGroup = planner.SmallGroup / sharers
		name += reduction.SubgroupSuffix(t)
	}
	room := planner.ChunkRoom{Elems: reduction.Room(t, d, d.Size()), Accumulators: 1 << 30, PerBlock: 1, Unit: 1}
	return planner.Chunks(v, room, func(x planner.Chunk) error {
		bind, base := planner.Window(t, spec.Ref{}, d.Size(), int64(x.Start), int64(x.Elems()))
		step := spec.Step{Module: spirv.Kernel(name), Params: params(reduction.Params{
			Outer: uint32(x.Outer), N: uint32(v.N), Inner: 1, Base: base, Last: uint32(bind.Size/planner.Pack - 1),
			Chunks: 1, Chunk: uint32(planner.CeilDiv(v.N/pack, unroll*sharers)), Lanes: uint32(sharers), Sign: 1, OutSign: 1, Divisor: 1,
		})}
		for _, i := range in {
			bind.Buf = i
			step.Bind = append(step.Bind, bind)
		}
		step.Bind = append(step.Bind, side...)
		bind.Buf = out
		step.Bind = append(step.Bind, bind)
		var err error
		step.Groups, err = planner.Grid(t, int64(planner.CeilDiv(x.Outer, perGroup)))
		plan.Steps = append(plan.Steps, step)
		return err
	})
}

// rowChain bounds the longest chain of a reduction of n elements if kernels for whole
// rows may compute it. They add up to 512 blocks one after the other. internal/planner
// explains chains.
func rowChain(n int) float64 { return math.Min(float64(n), 512+4+6+2) }

const rowChainText = "h = min(n, 524)"
