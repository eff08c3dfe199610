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

// Embedding copies rows of a table: out[i..., :] = weight[indices[i...], :]. The indices are
// I32 or I64 and have any shape. The weight is [V,d] and has any dtype. If an index is
// negative, or V or more, the next Sync or Read returns an error and the output stays as it
// was.
type Embedding struct{}

// Spec returns the declaration.
func (Embedding) Spec() *spec.Op { return embeddingOp.Op() }

// Gradient declares the gradient of the weights, by ScatterAdd.
func (Embedding) Gradient(t *spec.Tape) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		t.SetGradient(1, t.Call(ScatterAdd{Size: t.Shape(t.In(1))[0]}, t.In(0), dy))
	}
}

var embeddingOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return spec.Define(spec.Definition[*Embedding]{
		Name: "embedding", Group: "move",
		Doc: "Copies the rows of a table whose indices are given. An index that is negative or too large is an error.",
		In: []spec.Arg{
			{Name: "indices", Doc: "i32 or i64 of any shape, each from 0 to V-1", DTypes: indexing.DTypes},
			{Name: "weight", Doc: "[V,d], of any dtype"},
		},
		Out:     []spec.Arg{{Name: "out", Doc: "the rows, [..., d], of the dtype of weight"}},
		Traits:  spec.Traits{Class: spec.Indexing},
		Kernels: slices.Concat(indexing.CheckKernels(), indexing.CheckFewKernels(), indexing.LookupKernels()),
		Shape: func(_ *Embedding, in []tensor.Desc) ([]tensor.Desc, error) {
			if len(in[1].Shape) != 2 {
				return nil, planner.Invalid("input weight is %v (want [V,d])", in[1])
			}
			return []tensor.Desc{tensor.Contiguous(in[1].DType, append(slices.Clone(in[0].Shape), in[1].Shape[1])...)}, nil
		},
		PlanAt: func(_ *Embedding, t *spec.Target, in, out []spec.Place) (*spec.Plan, error) {
			return indexing.PlanLookup(t, in, out)
		},
		Reference: func(_ *Embedding, in, out []*tensor.Host) {
			// Bytes, so that every bit counts.
			d := in[1].Shape[1]
			size := d * in[1].DType.Size()
			for i, index := range in[0].Floats() {
				for k := range d {
					from := (int(index)*in[1].ElementStrides()[0] + k*in[1].ElementStrides()[1]) * size / max(d, 1)
					copy(out[0].Data[i*size+k*size/d:i*size+(k+1)*size/d], in[1].Data[from:])
				}
			}
		},
		Tolerance: func(*Embedding, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "bits are moved"}
		},
		Cost: func(_ *Embedding, in []tensor.Desc) spec.Cost {
			rows := int64(in[0].Elems())
			return spec.Cost{Bytes: rows*int64(in[0].DType.Size()) + 2*rows*int64(in[1].Shape[1]*in[1].DType.Size())}
		},
		Cases: spec.CasesOf[*Embedding]{
			DTypes: tensor.DTypes(), Calls: []*Embedding{{}},
			Dims: []spec.Dim{{Name: "indices"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 16}}, {Name: "bits", Only: []int{32, 64}}},
			// A table of one column, a table and rows longer than forced limits.
			Sizes: [][]int{{300, 200_000, 1, 64}, {3, 2, 300_000, 32}, {70_000, 5, 3, 32}},
			Inputs: func(_ *Embedding, d tensor.DType, dims []int) []tensor.Desc {
				if dims[1] == 0 && dims[0] > 0 {
					return nil
				}
				index := tensor.I32
				if dims[3] == 64 {
					index = tensor.I64
				}
				shape := []int{dims[0]}
				if dims[0]%2 == 0 {
					shape = []int{dims[0] / 2, 2}
				}
				return []tensor.Desc{tensor.Contiguous(index, shape...), tensor.Contiguous(d, dims[1], dims[2])}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, n := range []int{64, 1024, 8192} {
					cases = append(cases, spec.BenchCase{Call: Embedding{}, In: []tensor.Desc{tensor.Contiguous(tensor.I32, n), tensor.Contiguous(d, 4*n, 256)}})
				}
				return cases
			},
			Low: -100, High: 100,
			Range: func(_ *Embedding, i int, in []tensor.Desc) (float64, float64) {
				switch {
				case i == 0:
					return 0, float64(max(in[1].Shape[0]-1, 0))
				case in[1].DType == tensor.Bool:
					return 0, 1
				case slices.Contains([]tensor.DType{tensor.U8, tensor.U16, tensor.U32, tensor.U64}, in[1].DType):
					return 0, 255
				}
				return -100, 100
			},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F32, 4, 5)},
				{tensor.Contiguous(tensor.I32, 3), tensor.Contiguous(tensor.F32, 4)},
				{tensor.Contiguous(tensor.I32, 3), tensor.Contiguous(tensor.F32, 4, 5, 6)},
			},
			Faults: func(d tensor.DType) [][]*tensor.Host {
				const v = 7
				weight := tensor.NewHost(tensor.Contiguous(d, v, 3))
				var sets [][]*tensor.Host
				for _, bad := range []struct {
					index tensor.DType
					value float64
				}{{tensor.I32, -1}, {tensor.I32, v}, {tensor.I32, math.MinInt32}, {tensor.I64, -1}, {tensor.I64, v}, {tensor.I64, 1 << 32}, {tensor.I64, 1<<40 + 3}} {
					indices := tensor.NewHost(tensor.Contiguous(bad.index, 5))
					indices.SetFloats([]float64{0, v - 1, 2, bad.value, 1})
					sets = append(sets, []*tensor.Host{indices, weight})
				}
				return sets
			},
		},
	})
}}
