// Package reduction plans operations that combine many elements into one, such as sums
// and maxima. Their shaders include lib/reduce.glsl. The package declares the operations
// that reduce a tensor along dimensions. Operations along an axis, such as softmax, use
// its reducers for the statistics of their rows.
//
// A reducer keeps running values in an accumulator. The elements are divided into chunks,
// and each chunk is reduced to one accumulator. Later launches merge the accumulators
// until one is left.
package reduction

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Params is the push-constant block of lib/reduce.glsl, which explains each field.
type Params struct {
	Outer, N, Inner, Base, Last, Chunks, Chunk, Lanes, OutBase, First, Carry, Divisor uint32
	Sign, OutSign                                                                     float32
}

// Reducer describes the kernels of a shader that includes lib/reduce.glsl.
type Reducer struct {
	// Shader is the name of the kernels, "group/name", without dtype and variant.
	Shader string
	// Values is the number of values in an accumulator. The shader calls it REALS.
	Values int
	// Indexed says that an accumulator also holds an index.
	Indexed bool
	// RowsOnly says that the shader only has kernels for rows, which are views with Inner
	// 1.
	RowsOnly bool
	// ColumnsOnly says that the shader has no kernels for rows.
	ColumnsOnly bool
	// Sign multiplies the elements before they are reduced and the results afterwards. 0
	// means 1.
	Sign float32
	// Sum64 says that accumulators are sums of 64 bits of integers of any size. The shader includes lib/sum64.glsl, or the
	// elements have 64 bits. Unsigned says that they have no sign.
	Sum64, Unsigned bool
	// Merger names the kernels that merge accumulators. Empty means those of Shader.
	Merger string
	// Mean says that results are divided by Divisor. Without it, Divisor is ignored.
	Mean    bool
	Divisor int
}

// Kernels lists the kernels of the reducer for dtypes.
func (f Reducer) Kernels(dtypes ...tensor.DType) []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range dtypes {
		name := f.Shader + "." + d.String()
		forms := []string{".rows", ".cols", ".odd"}
		if f.RowsOnly {
			forms = forms[:1]
		}
		if f.ColumnsOnly {
			forms = forms[1:]
		} else {
			ks = append(ks, spec.Kernel{Name: name + ".rows.subgroup", Params: Params{}})
		}
		if d == tensor.F32 {
			if !f.ColumnsOnly {
				ks = append(ks, spec.Kernel{Name: name + ".rows.quad", Params: Params{}}, spec.Kernel{Name: name + ".few", Params: Params{}})
			}
			if !f.RowsOnly {
				ks = append(ks, spec.Kernel{Name: name + ".cols.lanes", Params: Params{}}, spec.Kernel{Name: name + ".merge.lanes", Params: Params{}})
			}
		}
		for _, v := range forms {
			ks = append(ks, spec.Kernel{Name: name + v, Params: Params{}})
			if HasTexels(d) {
				ks = append(ks, spec.Kernel{Name: name + v + ".texel", Params: Params{}})
			}
		}
		if f.accumulator(d) == d {
			ks = append(ks, spec.Kernel{Name: name + ".merge", Params: Params{}})
		}
	}
	return ks
}

// accumulator returns the dtype of an accumulator for elements of d.
func (f Reducer) accumulator(d tensor.DType) tensor.DType {
	if f.Sum64 {
		return tensor.I64
	}
	return planner.Accumulator(d)
}

// AccumulatorBytes returns the size in bytes of an accumulator for elements of d.
func (f Reducer) AccumulatorBytes(d tensor.DType) int {
	b := f.Values * f.accumulator(d).Size()
	if f.Indexed {
		b += 4
	}
	return b
}

// HasTexels reports whether reducers have texel kernels for elements of d.
func HasTexels(d tensor.DType) bool {
	return d == tensor.F32 || d == tensor.F16 || d == tensor.BF16
}

// UsesTexels reports whether to launch the texel kernels for elements of d.
func UsesTexels(t *spec.Target, d tensor.DType) bool {
	return HasTexels(d) && planner.UsesTexels(t, planner.TexelGroup)
}

// Strategies is planner.FlatStrategies for operations that reduce. They have no choice
// for integers, whose kernels only read storage buffers.
func Strategies[A spec.Call](a A, t *spec.Target, in, out []tensor.Desc) []string {
	if !HasTexels(in[0].DType) {
		return nil
	}
	return planner.FlatStrategies(a, t, in, out)
}

// UsesQuads reports whether to launch the kernels for rows whose four invocations read
// neighbouring elements, on devices whose invocations are lanes of a vector.
func UsesQuads(t *spec.Target, d tensor.DType) bool {
	return t.HostVectors && d == tensor.F32 && t.SubgroupSize == 4 && !UsesTexels(t, d)
}

// SubgroupSuffix returns the suffix of kernels in which several invocations share a row.
// On a GPU with subgroups that divide a workgroup, they exchange values by subgroup
// operations, and elsewhere through workgroup memory. CPU drivers turn subgroup
// operations into loops.
func SubgroupSuffix(t *spec.Target) string {
	if !t.CPU && t.SubgroupSize > 0 && t.SubgroupSize <= planner.SmallGroup {
		return ".subgroup"
	}
	return ""
}

// Room returns how many elements of size bytes fit a binding of the kernels for d, at
// whatever element the range begins.
func Room(t *spec.Target, d tensor.DType, size int) int {
	return int(min((planner.MaxSpan(t, UsesTexels(t, d))-planner.WindowAlign(t)-planner.Pack)/int64(size), 1<<30))
}

// Unroll returns how many packs of a row an invocation loads at once.
func Unroll(d tensor.DType) int {
	return min(d.Size(), 4)
}
