package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/families/position"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// RotaryEmbedding rotates pairs of elements of rows, x [..., s,d], by the angles of their positions. Element i of the first half of a row
// and element i of the second half are a pair, as in Llama. If Interleaved is set, elements 2i and 2i+1 are. With c and t the cosine and the sine of pair i:
//
//	first  = x1·c − x2·t
//	second = x2·c + x1·t
//
// RotaryDim is how many of the first elements of a row rotate. The others stay as they are. cos_cache and sin_cache are [positions, RotaryDim/2], F32,
// or F64 for an x of F64. position_ids, I32 or I64, says which of their rows belongs to a row of x. Its shape is [s], or [batch,s] with the first
// dimension of x, and each size may be 1, which is one position for all. The ids are read on the device. One that is out of range is an error of the next
// Sync or Read, and the output stays as it was.
//
// Products and sums are rounded one by one, and the result is rounded to the dtype of x. So for F32 the result has the bits of four calls of mul, a sub and an add. The
// operation of ONNX has x [batch, heads, s, d] and caches of the dtype of x.
type RotaryEmbedding struct {
	Interleaved bool `attr:"interleaved" onnx:"interleaved" doc:"neighbours are pairs"`
	RotaryDim   int  `attr:"rotary_dim" onnx:"rotary_embedding_dim" doc:"elements that rotate, even; 0: all"`
}

// Spec returns the declaration.
func (RotaryEmbedding) Spec() *spec.Op { return rotaryEmbeddingOp.Op() }

// Gradient declares the gradient of x: that of the result, rotated back. Positions and caches have none.
func (c RotaryEmbedding) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	if t.Needs(2) || t.Needs(3) {
		t.Refuse("caches of angles (want values that nothing trains)")
		return
	}
	t.SetGradient(0, t.Call(c, dy, t.In(1), t.In(2), minus(t, t.In(3))))
}

func (c *RotaryEmbedding) rotary() position.Rotary {
	return position.Rotary{Rotated: c.RotaryDim, Interleaved: c.Interleaved}
}

var rotaryEmbeddingOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	spirv.LinkNN()
	angles := []tensor.DType{tensor.F32, tensor.F64}
	return spec.Define(spec.Definition[*RotaryEmbedding]{
		Name: "rotary_embedding", Aliases: []string{"rope"}, Group: "nn",
		Doc:    "Rotates pairs of elements by their positions. One out of range is an error.",
		Source: "Su and others, RoFormer, 2021",
		In: []spec.Arg{
			{Name: "x", Doc: "[..., s,d]", DTypes: planner.Floats},
			{Name: "position_ids", Doc: "[s] or [batch,s]; sizes may be 1", DTypes: indexing.DTypes},
			{Name: "cos_cache", Doc: "[positions,rotary_dim/2]; f64 if x is", DTypes: angles},
			{Name: "sin_cache", Doc: "as cos_cache", DTypes: angles},
		},
		Out:     []spec.Arg{{Name: "out", Doc: "the shape of x"}},
		Traits:  spec.Traits{Class: spec.AxisWise, ONNX: []string{"RotaryEmbedding"}},
		Kernels: position.RotaryKernels(),
		Shape: func(c *RotaryEmbedding, in []tensor.Desc) ([]tensor.Desc, error) {
			if err := c.rotary().Check(in); err != nil {
				return nil, err
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
		},
		PlanAt: func(c *RotaryEmbedding, t *spec.Target, in, out []spec.Place) (*spec.Plan, error) {
			return c.rotary().Plan(t, in, out)
		},
		Reference: func(c *RotaryEmbedding, in, out []*tensor.Host) {
			x, ids, cos, sin := in[0].Floats(), in[1].Floats(), in[2].Floats(), in[3].Floats()
			shape := in[0].Shape
			s, d := shape[len(shape)-2], shape[len(shape)-1]
			n := c.RotaryDim
			if n == 0 {
				n = d
			}
			wide := in[1].Shape[len(in[1].Shape)-1]
			batches := len(ids) / max(wide, 1)
			y := slices.Clone(x)
			for row := range len(x) / max(d, 1) {
				batch := row / (len(x) / d / batches)
				angles := int(ids[batch*wide+min(row%s, wide-1)]) * (n / 2)
				for i := range n / 2 {
					a, b := row*d+i, row*d+i+n/2
					if c.Interleaved {
						a, b = row*d+2*i, row*d+2*i+1
					}
					y[a] = x[a]*cos[angles+i] - x[b]*sin[angles+i]
					y[b] = x[b]*cos[angles+i] + x[a]*sin[angles+i]
				}
			}
			out[0].SetFloats(y)
		},
		Tolerance: func(_ *RotaryEmbedding, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return planner.ElementTolerance(d, 1, 2, "products and sums are rounded")
		},
		Cost: func(_ *RotaryEmbedding, in []tensor.Desc) spec.Cost {
			cost := spec.Cost{Flops: 3 * int64(in[0].Elems()), Bytes: 2*in[0].Bytes() + in[1].Bytes()}
			cost.Bytes += 2 * int64(in[1].Elems()) * int64(in[2].Shape[1]*in[2].DType.Size())
			return cost
		},
		Cases: rotaryCases(),
	})
}}

func rotaryCases() spec.CasesOf[*RotaryEmbedding] {
	f32 := func(shape ...int) tensor.Desc { return tensor.Contiguous(tensor.F32, shape...) }
	i32 := func(shape ...int) tensor.Desc { return tensor.Contiguous(tensor.I32, shape...) }
	return spec.CasesOf[*RotaryEmbedding]{
		DTypes: planner.Floats,
		Calls:  []*RotaryEmbedding{{}, {Interleaved: true}, {RotaryDim: 2}, {RotaryDim: 6, Interleaved: true}},
		Dims: []spec.Dim{{Name: "batch"}, {Name: "heads", Only: []int{3, 1}}, {Name: "rows"}, {Name: "pairs", Tiles: []int{4, 8}},
			{Name: "rest", Only: []int{0, 1, 3}}, {Name: "positions", Only: []int{31, 1, 1000}}, {Name: "ids", Only: []int{2, 1, 3, 4}}},
		// Rows longer than a pack, tensors longer than small limits, and one row of many batches.
		Sizes: [][]int{{2, 3, 4099, 32, 0, 1000, 2}, {3, 1, 31, 8000, 1, 3, 1}, {60_000, 1, 1, 3, 1, 31, 1}, {1, 8, 1, 64, 0, 256, 3}},
		Inputs: func(c *RotaryEmbedding, d tensor.DType, dims []int) []tensor.Desc {
			n := 2 * dims[3]
			width := n + dims[4]
			if c.RotaryDim == 0 {
				width = n
			} else {
				n = c.RotaryDim
			}
			ids := map[int]tensor.Desc{1: i32(dims[0], dims[2]), 2: tensor.Contiguous(tensor.I64, dims[2]), 3: i32(1), 4: tensor.Contiguous(tensor.I64, dims[0], 1)}[dims[6]]
			if n > width || width > position.MostColumns || ids.Elems() > planner.MostFew || int64(dims[0]*dims[1]*dims[2])*int64(width) > 1<<22 {
				return nil
			}
			if int64(ids.Elems())*int64(n) > 1<<16 || int64(dims[5])*int64(n) > 1<<16 { // They must fit a small binding.
				return nil
			}
			x, wide := tensor.Contiguous(d, dims[0], dims[1], dims[2], width), planner.Accumulator(d)
			cache := tensor.Contiguous(wide, dims[5], n/2)
			return []tensor.Desc{x, ids, cache, cache}
		},
		Bench: func(d tensor.DType) []spec.BenchCase {
			var cases []spec.BenchCase
			cache := tensor.Contiguous(planner.Accumulator(d), 512, 32)
			for _, n := range []int{32, 1024, 8192} {
				cases = append(cases, spec.BenchCase{Call: RotaryEmbedding{}, In: []tensor.Desc{tensor.Contiguous(d, n/32, 8, 32, 64), i32(32), cache, cache}})
			}
			return cases
		},
		Low: -1, High: 1, Specials: true,
		Range: func(_ *RotaryEmbedding, i int, in []tensor.Desc) (float64, float64) {
			if i == 1 {
				return 0, float64(in[2].Shape[0] - 1)
			}
			return -1, 1
		},
		Invalid: []*RotaryEmbedding{{RotaryDim: 3}, {RotaryDim: -2}, {RotaryDim: 1 << 20}},
		Refused: [][]tensor.Desc{
			{f32(4), i32(1), f32(5, 2), f32(5, 2)}, {f32(3, 4), i32(3), f32(5, 4), f32(5, 4)}, {f32(3, 4), i32(3), f32(5, 2), f32(6, 2)}, {f32(3, 5), i32(3), f32(5, 2), f32(5, 2)},
			{f32(3, 4), i32(2), f32(5, 2), f32(5, 2)}, {f32(2, 3, 4), i32(3, 3), f32(5, 2), f32(5, 2)}, {f32(3, 4), i32(1, 3), f32(5, 2), f32(5, 2)}, {f32(3, 4), i32(), f32(5, 2), f32(5, 2)},
			{f32(3, 4), f32(3), f32(5, 2), f32(5, 2)}, {tensor.Contiguous(tensor.F16, 3, 4), i32(3), tensor.Contiguous(tensor.F64, 5, 2), tensor.Contiguous(tensor.F64, 5, 2)},
			{f32(1, position.MostColumns+2), i32(1), f32(1, position.MostColumns/2+1), f32(1, position.MostColumns/2+1)},
		},
		Faults: func(d tensor.DType) [][]*tensor.Host {
			var sets [][]*tensor.Host
			for _, bad := range []struct {
				id    tensor.DType
				value float64
			}{{tensor.I32, -1}, {tensor.I32, 7}, {tensor.I64, -1}, {tensor.I64, 7}, {tensor.I64, 1<<40 + 3}} {
				ids, cache := tensor.NewHost(tensor.Contiguous(bad.id, 5)), tensor.NewHost(tensor.Contiguous(planner.Accumulator(d), 7, 2))
				ids.SetFloats([]float64{0, 6, 2, bad.value, 1})
				sets = append(sets, []*tensor.Host{tensor.NewHost(tensor.Contiguous(d, 2, 5, 4)), ids, cache, cache})
			}
			return sets
		},
	}
}
