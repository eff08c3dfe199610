package ops

import (
	"fmt"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Embedding looks rows of a table up: out[i..., :] = weight[indices[i...], :].
// Indices are I32 or I64 of any shape, the weight is [V,d] of any dtype. An index
// that is negative or not below V is an error of the next Sync or Read, and
// leaves the output as it was.
type Embedding struct{}

// Spec returns the declaration.
func (Embedding) Spec() *spec.Op { return embeddingOp }

const embedding = "move/embedding"

type embeddingParams struct {
	Rows, Run, Packs, Pitch, IndexBase, IndexWords, First, Count, TableBase, DstBase uint32
}

var embeddingOp = newEmbedding()

func newEmbedding() *spec.Op {
	op := &spec.Op{
		Name: "embedding", Group: "move",
		Doc: "Rows of a table by their numbers. A number that is negative or too large is an error.",
		In: []spec.Arg{
			{Name: "indices", Doc: "i32 or i64 of any shape, each from 0 to V-1"},
			{Name: "weight", Doc: "[V,d], of any dtype"},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "the rows, [..., d], of the dtype of weight"}},
		Defaults: Embedding{},
		Kernels:  indexing.CheckKernels(),
	}
	for _, v := range []string{"u8", "u16", "u32", "u32.texel", "u128", "u128.texel"} {
		op.Kernels = append(op.Kernels, spec.Kernel{Name: embedding + "." + v, Params: embeddingParams{}})
	}
	op.Shape = func(_ spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in); err != nil {
			return nil, err
		}
		if !isIndex(in[0].DType) {
			return nil, unsupported(op.Name, "input indices is %v (want i32 or i64)", in[0])
		}
		if len(in[1].Shape) != 2 {
			return nil, invalid(op.Name, "input weight is %v (want [V,d])", in[1])
		}
		out := tensor.Contiguous(in[1].DType, append(slices.Clone(in[0].Shape), in[1].Shape[1])...)
		return []tensor.Desc{out}, out.Check()
	}
	op.Plan = planEmbedding
	op.Reference = func(_ spec.Call, in, out []*tensor.Host) {
		// Bytes, so that every bit counts.
		d := in[1].Shape[1]
		size := d * in[1].DType.Size()
		for i, index := range in[0].Floats() {
			for k := range d {
				from := (int(index)*in[1].ElementStrides()[0] + k*in[1].ElementStrides()[1]) * size / max(d, 1)
				copy(out[0].Data[i*size+k*size/d:i*size+(k+1)*size/d], in[1].Data[from:])
			}
		}
	}
	op.Tolerance = func(spec.Call, tensor.DType, []tensor.Desc) spec.Tolerance {
		return spec.Tolerance{Why: "bits are moved"}
	}
	op.Cost = func(_ spec.Call, in []tensor.Desc) spec.Cost {
		rows := int64(in[0].Elems())
		return spec.Cost{Bytes: rows*int64(in[0].DType.Size()) + 2*rows*int64(in[1].Shape[1]*in[1].DType.Size())}
	}
	op.Cases = spec.Cases{
		DTypes: tensor.DTypes(), Calls: []spec.Call{Embedding{}},
		Dims: []spec.Dim{{Name: "indices"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 16}}, {Name: "bits", Only: []int{32, 64}}},
		// A table of one column, a table and rows longer than forced limits.
		Sizes: [][]int{{300, 200_000, 1, 64}, {3, 2, 300_000, 32}, {70_000, 5, 3, 32}},
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc {
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
			var ws []spec.BenchCase
			for _, n := range []int{64, 1024, 8192} {
				ws = append(ws, spec.BenchCase{Call: Embedding{}, In: []tensor.Desc{tensor.Contiguous(tensor.I32, n), tensor.Contiguous(d, 4*n, 256)}})
			}
			return ws
		},
		Low: -100, High: 100,
		Range: func(_ spec.Call, i int, in []tensor.Desc) (float64, float64) {
			switch {
			case i == 0:
				return 0, float64(max(in[1].Shape[0]-1, 0))
			case in[1].DType == tensor.Bool:
				return 0, 1
			case in[1].DType == tensor.U8 || in[1].DType == tensor.U32:
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
	}
	return spec.Register(op)
}

// planEmbedding checks the indices, and copies rows for each part of the output
// from each part of the table.
func planEmbedding(_ spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
	for _, d := range []tensor.Desc{in[0], in[1], out[0]} {
		if !d.IsContiguous() {
			return nil, unsupported("embedding", "strides")
		}
	}
	plan := &spec.Plan{}
	rows, table, columns := in[0].Elems(), in[1].Shape[0], in[1].Shape[1]
	if rows == 0 {
		return plan, nil
	}
	if err := addIndexCheck(plan, t, "embedding", spec.In(0), in[0].DType, rows, table); err != nil {
		return nil, err
	}
	// Units as large as they tile a row, and how many make one.
	bytes, unit := columns*in[1].DType.Size(), 16
	for unit > 1 && (bytes%unit != 0 || unit == 8) {
		unit /= 2
	}
	pitch := bytes / unit
	local, each := smallGroup, 1
	name := fmt.Sprintf("%s.u%d", embedding, 8*unit)
	texel := unit >= 4 && usesTexels(t, texelGroup)
	if texel {
		name, local, each = name+".texel", texelGroup, 4
	}
	// Places are counted in bytes here.
	span := min(maxSpan(t, texel), planner.MaxWindow)
	index := strided{ref: spec.In(0), dtype: tensor.U8, steps: []int{in[0].DType.Size(), 0}}
	from := strided{ref: spec.In(1), dtype: tensor.U8, steps: []int{bytes, unit}}
	to := strided{ref: spec.Out(0), dtype: tensor.U8, steps: []int{bytes, unit}}
	oneRow := strided{ref: from.ref, dtype: tensor.U8, steps: []int{0, unit}}
	room := span - windowAlign(t) - 16
	err := boxes(t, span-16, []int{rows, pitch}, []strided{index, to, oneRow}, 1, func(b box) error {
		run := b.n[1]
		most := max(1, 1+(int(room)-run*unit)/bytes) // rows of the table at a time
		numbers, indexBase := index.window(t, b)
		dst, dstBase := to.window(t, b)
		packs := ceilDiv(run, each)
		total := int64(b.n[0]) * int64(packs)
		if per := 4 / unit; per > 1 {
			// All rows as one: the last dimension is cut only where one row is left.
			packs = ceilDiv(int(dstBase)%4/unit+b.n[0]*run, per)
			total = int64(packs)
		}
		groups, err := grid(t, ceilDiv(total, int64(local)))
		if err != nil {
			return err
		}
		for first := 0; first < table; first += most {
			count := min(most, table-first)
			src, srcBase := from.window(t, box{[]int{first, b.from[1]}, []int{count, run}})
			plan.Steps = append(plan.Steps, spec.Step{
				Kernel: name, Groups: groups, Bind: []spec.Bind{numbers, src, dst, {Buf: spec.Status(0)}},
				Params: embeddingParams{
					Rows: uint32(b.n[0]), Run: uint32(run), Packs: uint32(packs), Pitch: uint32(pitch),
					IndexBase: indexBase / 4, IndexWords: uint32(in[0].DType.Size() / 4), First: uint32(first), Count: uint32(count),
					TableBase: srcBase / uint32(unit), DstBase: dstBase / uint32(unit),
				},
			})
		}
		return nil
	})
	return plan, err
}
