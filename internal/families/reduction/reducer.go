// Package reduction plans the combination of many elements into one: sums, maxima, and
// whatever else a shader makes of lib/fold.glsl. It declares the operations that reduce
// a tensor along dimensions. Operations along an axis, such as softmax, use its reducers
// for their statistics.
//
// A reducer keeps running values, its accumulator. Invocations reduce chunks of the
// elements to an accumulator each. Later launches merge the accumulators until one is
// left.
package reduction

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Params is the push-constant block of lib/fold.glsl.
type Params struct {
	Outer, N, Inner, Base, Last, Chunks, Chunk, Lanes, OutBase, First, Carry, Divisor uint32
	Sign, OutSign                                                                     float32
}

// Reducer is the kernels of a shader that includes lib/fold.glsl, and how to launch
// them.
type Reducer struct {
	// Shader is the kernels' name, "group/name", without dtype and variant.
	Shader string
	// Values is the number of values of an accumulator, as REALS in the shader.
	Values int
	// Indexed says that an accumulator holds an index too.
	Indexed bool
	// RowsOnly says that there are kernels for rows only, which are views with Inner 1.
	RowsOnly bool
	// Sign multiplies elements before they are reduced, and results after. 0 means 1.
	Sign float32
	// Mean says that results are divided by Divisor, which may be 0.
	Mean    bool
	Divisor int
}

// Kernels lists the kernels for dtypes.
func (f Reducer) Kernels(dtypes ...tensor.DType) []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range dtypes {
		name := f.Shader + "." + d.String()
		forms := []string{".rows", ".cols", ".odd"}
		if f.RowsOnly {
			forms = forms[:1]
		}
		ks = append(ks, spec.Kernel{Name: name + ".rows.subgroup", Params: Params{}})
		for _, v := range forms {
			ks = append(ks, spec.Kernel{Name: name + v, Params: Params{}})
			if HasTexels(d) {
				ks = append(ks, spec.Kernel{Name: name + v + ".texel", Params: Params{}})
			}
		}
		if planner.Accumulator(d) == d {
			ks = append(ks, spec.Kernel{Name: name + ".merge", Params: Params{}})
		}
	}
	return ks
}

// AccumulatorBytes is the size of an accumulator for elements of d.
func (f Reducer) AccumulatorBytes(d tensor.DType) int {
	b := f.Values * planner.Accumulator(d).Size()
	if f.Indexed {
		b += 4
	}
	return b
}

// HasTexels reports whether reducers of the dtype have texel kernels.
func HasTexels(d tensor.DType) bool { return d == tensor.F32 || d.Size() == 2 }

// UsesTexels reports whether to launch the texel kernels for elements of d.
func UsesTexels(t *spec.Target, d tensor.DType) bool {
	return HasTexels(d) && planner.UsesTexels(t, planner.TexelGroup)
}

// Strategies is planner.FlatStrategies for operations that reduce: the kernels for
// integers read storage buffers only.
func Strategies[A spec.Call](a A, t *spec.Target, in, out []tensor.Desc) []string {
	if !HasTexels(in[0].DType) {
		return nil
	}
	return planner.FlatStrategies(a, t, in, out)
}

// SubgroupSuffix is the suffix of kernels whose invocations share rows: they do so by
// way of subgroups where the target has whole ones, and by way of workgroup memory
// elsewhere. Shuffles are for GPUs. CPU drivers make loops of them.
func SubgroupSuffix(t *spec.Target) string {
	if !t.CPU && t.SubgroupSize > 0 && t.SubgroupSize <= planner.SmallGroup {
		return ".subgroup"
	}
	return ""
}

// Room is how many elements of so many bytes a binding of the kernels for d surely
// holds, wherever they begin.
func Room(t *spec.Target, d tensor.DType, size int) int {
	return int(min((planner.MaxSpan(t, UsesTexels(t, d))-planner.WindowAlign(t)-planner.Pack)/int64(size), 1<<30))
}

// Unroll is how many packs of a row an invocation loads at once.
func Unroll(d tensor.DType) int {
	if d.Size() == 2 {
		return 2
	}
	return 4
}
