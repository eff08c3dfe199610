package axiswise

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// mapParams is the push-constant block of lib/apply.glsl.
type mapParams struct {
	Count, N, Inner, Base, Last, States, First, Total uint32
	Eps, EpsLow                                       float32
}

// rowMap describes a kernel that includes lib/apply.glsl. It computes each element from
// the inputs and from the accumulator of its row.
type rowMap struct {
	// shader is the name of the kernel, "group/name", without the dtype.
	shader string
	// reducer made the accumulators.
	reducer reduction.Reducer
	// affine holds pairs of a weight and an offset. pair is the size of a pair in bytes, or
	// 0 if there are none.
	affine spec.Ref
	pair   int
	// total is the number of elements that were reduced to one accumulator.
	total int
	// eps is added to the variance or to the mean square.
	eps float64
	// status holds the status words of the device check that the kernel depends on. The
	// zero Ref means that there is no check.
	status spec.Ref
}

// mapKernels lists the kernels of a row map for dtypes.
func mapKernels(shader string, dtypes ...tensor.DType) []spec.Kernel {
	ks := planner.DTypeVariants(shader, mapParams{}, dtypes, reduction.HasTexels)
	for _, d := range dtypes {
		if reduction.HasTexels(d) {
			ks = append(ks, spec.Kernel{Name: shader + "." + d.String() + ".rows.texel", Params: mapParams{}})
		}
		if d == tensor.F32 {
			ks = append(ks, spec.Kernel{Name: shader + ".f32.few", Params: mapParams{}})
		}
	}
	return ks
}

// add appends to a plan the steps that map the inputs to out. The inputs are contiguous
// tensors [Outer, N, Inner] of dtype d, and there are accumulators [Outer, Inner].
// Errors: *LimitError.
func (a rowMap) add(plan *spec.Plan, t *spec.Target, d tensor.DType, v planner.AxisView, accumulators, out spec.Ref, in ...spec.Ref) error {
	texel := reduction.UsesTexels(t, d)
	base := a.shader + "." + d.String()
	name, perGroup := base, planner.SmallGroup
	if texel {
		name, perGroup = base+".texel", planner.TexelGroup*4
	}
	bytes := a.reducer.AccumulatorBytes(d)
	room := planner.ChunkRoom{
		Elems: reduction.Room(t, d, max(d.Size(), a.pair)), Accumulators: reduction.Room(t, d, bytes), PerBlock: v.Inner, Unit: 1, Shared: true,
	}
	low, rest := split(a.eps)
	return planner.Chunks(v, room, func(x planner.Chunk) error {
		bind, first := planner.Window(t, spec.Ref{}, d.Size(), int64(x.Start), int64(x.Elems()))
		from, word := planner.WordWindow(t, accumulators, bytes, x.Block*v.Inner+x.Column, x.Outer*x.Inner)
		p := mapParams{
			Count: uint32(x.Elems()), N: uint32(x.N), Inner: uint32(x.Inner), Base: first, Last: uint32(bind.Size/planner.Pack - 1),
			States: word, First: uint32(x.Row), Total: uint32(a.total), Eps: low, EpsLow: rest,
		}
		step := spec.Step{}
		for _, i := range in {
			bind.Buf = i
			step.Bind = append(step.Bind, bind)
		}
		if a.pair > 0 {
			pairs, first := planner.Window(t, a.affine, a.pair, int64(x.Row), int64(x.N))
			p.First = first
			step.Bind = append(step.Bind, pairs)
		}
		bind.Buf = out
		step.Bind = append(step.Bind, from, bind)
		if a.status.Kind != spec.RefNone {
			step.Bind = append(step.Bind, spec.Bind{Buf: a.status})
		}
		step.Params = p
		pack, kernel := planner.Pack/d.Size(), name
		groups := planner.CeilDiv(planner.CeilDiv(int(first)%pack+x.Elems(), pack), perGroup)
		if texel && v.Inner == 1 && int(first)%pack == 0 && x.N%pack == 0 {
			kernel = base + ".rows.texel"
			groups = planner.CeilDiv(x.Outer*planner.CeilDiv(x.N/pack, 4), planner.TexelGroup)
		}
		if reduction.UsesFew(t, d, v) && x.N == v.N {
			kernel, groups = base+".few", planner.CeilDiv(x.Outer, planner.SmallGroup)
		}
		step.Module = spirv.Kernel(kernel)
		var err error
		step.Groups, err = planner.Grid(t, int64(groups))
		plan.Steps = append(plan.Steps, step)
		return err
	})
}

// split returns two floats whose sum is x. Kernels for F64 get numbers in this form,
// because a push constant has 32 bits.
func split(x float64) (high, low float32) {
	high = float32(x)
	return high, float32(x - float64(high))
}
