package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// TensorScatter writes updates into a cache, from an index along dimension Axis on: cache[b, ..., write_indices[b]+i, ...] =
// update[b, ..., i, ...]. So a decoder appends the keys and values of its next positions. The first dimension is the batch, and Axis is another
// one. write_indices, I32 or I64, has an index for each b, of at most 65536, or one for all. It is read on the device, and may be a part of a larger tensor.
//
// In Mode "linear" all updates must lie in the cache: 0 ≤ write_indices[b] ≤ size − n, for n updates along Axis. In Mode "circular" an
// update beyond the end goes on from the beginning, and write_indices[b] is 0 to size − 1. An index that is out of range is an error of the
// next Sync or Read, and the cache stays as it was.
//
// In place, which Device.TensorScatter is, only the updates are moved, or the whole cache is walked once if its rows are no whole number of 4-byte words. If the result is another tensor, the rest of the cache is copied.
type TensorScatter struct {
	Axis int    `attr:"axis" onnx:"axis" doc:"the dimension of size, not 0"`
	Mode string `attr:"mode" onnx:"mode" doc:"linear (empty) or circular"`
}

// Spec returns the declaration.
func (TensorScatter) Spec() *spec.Op { return tensorScatterOp.Op() }

var tensorScatterOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return spec.Define(spec.Definition[*TensorScatter]{
		Name: "tensor_scatter", Group: "move",
		Doc: "Writes updates into a cache from indices on. One out of range is an error.",
		In: []spec.Arg{
			{Name: "cache", Doc: "[batch,...,size,...]"},
			{Name: "update", Doc: "[batch,...,n,...]"},
			{Name: "write_indices", Doc: "[batch] or [1]", DTypes: indexing.DTypes},
		},
		Out:      []spec.Arg{{Name: "cache", Doc: "as before", InPlace: []int{0}}},
		Traits:   spec.Traits{Class: spec.Indexing, ONNX: []string{"TensorScatter"}},
		Defaults: &TensorScatter{Axis: -2},
		Kernels:  indexing.TensorScatterKernels(),
		Shape: func(c *TensorScatter, in []tensor.Desc) ([]tensor.Desc, error) {
			if c.Mode != "" && c.Mode != "linear" && c.Mode != "circular" {
				return nil, planner.Invalid("mode %q (want linear or circular)", c.Mode)
			}
			if _, err := indexing.CheckTensorScatter(in, c.Axis); err != nil {
				return nil, err
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
		},
		PlanAt: func(c *TensorScatter, t *spec.Target, in, out []spec.Place) (*spec.Plan, error) {
			k, err := planner.Axis(c.Axis, len(in[0].Desc.Shape))
			if err != nil {
				return nil, err
			}
			return indexing.PlanTensorScatter(t, in, out, k, c.Mode == "circular")
		},
		Reference: func(c *TensorScatter, in, out []*tensor.Host) {
			size, axis := out[0].DType.Size(), c.Axis
			if axis < 0 {
				axis += len(out[0].Shape)
			}
			copyOf := func(from *tensor.Host, shift func(index []int)) {
				own := make([]int, len(out[0].Shape))
				from.Each(func(index []int, at int) {
					copy(own, index)
					shift(own)
					to := 0
					for k, stride := range out[0].ElementStrides() {
						to += own[k] * stride
					}
					copy(out[0].Data[to*size:(to+1)*size], from.Data[at*size:])
				})
			}
			copyOf(in[0], func([]int) {})
			first := in[2].Floats()
			copyOf(in[1], func(index []int) {
				index[axis] = (index[axis] + int(first[min(index[0], len(first)-1)])) % out[0].Shape[axis]
			})
		},
		Tolerance: func(*TensorScatter, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "bits are moved"}
		},
		Cost: func(_ *TensorScatter, in []tensor.Desc) spec.Cost {
			return spec.Cost{Bytes: 2*in[1].Bytes() + in[2].Bytes()}
		},
		Cases: spec.CasesOf[*TensorScatter]{
			DTypes: tensor.DTypes(),
			Calls:  []*TensorScatter{{Axis: -2}, {Axis: 1, Mode: "circular"}, {Axis: -1, Mode: "linear"}, {Axis: -2, Mode: "circular"}},
			Dims: []spec.Dim{{Name: "batch"}, {Name: "heads", Only: []int{1, 3}}, {Name: "size", Tiles: []int{4}}, {Name: "updates", Only: []int{1, 0, 2, 7}},
				{Name: "columns", Tiles: []int{4, 16}}, {Name: "bits", Only: []int{32, 64, 31}}},
			// Caches that are longer than small limits, and updates that are.
			Sizes: [][]int{{2, 3, 70_000, 7, 3, 32}, {1, 1, 100_003, 100_000, 5, 31}, {3, 1, 2, 1, 300_001, 64}, {2, 3, 5000, 4999, 64, 32}},
			Inputs: func(c *TensorScatter, d tensor.DType, dims []int) []tensor.Desc {
				cache := []int{dims[0], dims[1], dims[2], dims[4]}
				update, k := slices.Clone(cache), (c.Axis+4)%4
				update[k] = min(dims[3], cache[k])
				if cache[k] == 0 || dims[0] > planner.MostFew && dims[5] != 31 || int64(dims[0])*int64(dims[1])*int64(dims[2])*int64(dims[4]) > 1<<22 {
					return nil
				}
				index := tensor.Contiguous(tensor.I32, dims[0])
				switch dims[5] {
				case 31: // one for all
					index.Shape = []int{1}
				case 64:
					index.DType = tensor.I64
				}
				return []tensor.Desc{tensor.Contiguous(d, cache...), tensor.Contiguous(d, update...), index}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, n := range []int{64, 512, 4096} {
					cases = append(cases, spec.BenchCase{Call: TensorScatter{Axis: -2}, In: []tensor.Desc{
						tensor.Contiguous(d, 1, 8, 2*n, 32), tensor.Contiguous(d, 1, 8, n, 32), tensor.Contiguous(tensor.I32, 1),
					}})
				}
				return cases
			},
			Low: -100, High: 100,
			Range: func(c *TensorScatter, i int, in []tensor.Desc) (float64, float64) {
				switch d := in[i].DType; {
				case i == 2:
					k := (c.Axis + len(in[0].Shape)) % len(in[0].Shape)
					if c.Mode == "circular" {
						return 0, float64(in[0].Shape[k] - 1)
					}
					return 0, float64(in[0].Shape[k] - in[1].Shape[k])
				case d == tensor.Bool:
					return 0, 1
				case slices.Contains([]tensor.DType{tensor.U8, tensor.U16, tensor.U32, tensor.U64}, d):
					return 0, 255
				}
				return -100, 100
			},
			Invalid: []*TensorScatter{{Axis: -4}, {Axis: 4}, {Axis: -5}, {Axis: -2, Mode: "ring"}},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.I32, 3)},
				{tensor.Contiguous(tensor.F32, 3, 4, 5), tensor.Contiguous(tensor.F32, 3, 5, 5), tensor.Contiguous(tensor.I32, 3)},
				{tensor.Contiguous(tensor.F32, 3, 4, 5), tensor.Contiguous(tensor.F32, 3, 2, 4), tensor.Contiguous(tensor.I32, 3)},
				{tensor.Contiguous(tensor.F32, 3, 4, 5), tensor.Contiguous(tensor.F16, 3, 2, 5), tensor.Contiguous(tensor.I32, 3)},
				{tensor.Contiguous(tensor.F32, 3, 4, 5), tensor.Contiguous(tensor.F32, 3, 2, 5), tensor.Contiguous(tensor.I32, 2)},
				{tensor.Contiguous(tensor.F32, 3, 4, 5), tensor.Contiguous(tensor.F32, 3, 2, 5), tensor.Contiguous(tensor.I32)},
				{tensor.Contiguous(tensor.F32, 3, 4, 5), tensor.Contiguous(tensor.F32, 3, 2, 5), tensor.Contiguous(tensor.F32, 3)},
			},
			Faults: func(d tensor.DType) [][]*tensor.Host {
				var sets [][]*tensor.Host
				for _, bad := range []struct {
					index tensor.DType
					value float64
				}{{tensor.I32, -1}, {tensor.I32, 6}, {tensor.I32, math.MinInt32}, {tensor.I64, -1}, {tensor.I64, 7}, {tensor.I64, 1 << 32}, {tensor.I64, 1<<40 + 3}} {
					cache, update := tensor.NewHost(tensor.Contiguous(d, 3, 7, 3)), tensor.NewHost(tensor.Contiguous(d, 3, 2, 3))
					indices := tensor.NewHost(tensor.Contiguous(bad.index, 3))
					indices.SetFloats([]float64{0, 5, bad.value})
					sets = append(sets, []*tensor.Host{cache, update, indices})
				}
				return sets
			},
		},
	})
}}
