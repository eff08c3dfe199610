package quantisation

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Narrow are the dtypes of weights as numbers.
var Narrow = []tensor.DType{tensor.F32, tensor.F16, tensor.BF16}

// dequantizeParams is the push-constant block of dequantize.comp.
type dequantizeParams struct{ Packs, Base, First uint32 }

func dequantizeKernels() []spec.Kernel {
	return kernelsOf("quant/dequantize", dequantizeParams{}, []string{".f32", ".f16", ".bf16"}, nil)
}

// DefineDequantize declares the operation that turns blocks into numbers, with attributes of type A. view
// returns the name of the format and the dtype of the result. call makes a call of both.
func DefineDequantize[A spec.Call](name, doc string, view func(A) (string, tensor.DType), call func(string, tensor.DType) A) *spec.Op {
	spirv.LinkQuant()
	shape := func(a A, in []tensor.Desc) (tensor.Desc, error) {
		name, to := view(a)
		f, err := formatOf(name)
		if err != nil {
			return tensor.Desc{}, err
		}
		if !slices.Contains(Narrow, to) {
			return tensor.Desc{}, planner.Invalid("dtype %v (want one of %v)", to, Narrow)
		}
		k, err := f.rowOf(in[0])
		if err != nil {
			return tensor.Desc{}, err
		}
		s := slices.Clone(in[0].Shape)
		s[len(s)-1] = k
		out := tensor.Contiguous(to, s...)
		return out, out.Check()
	}
	var calls []A
	for i, f := range formats {
		calls = append(calls, call(f.name, tensor.F32), call(f.name, Narrow[1+i%2]))
	}
	blocksOf := func(a A, rows, blocks int) []tensor.Desc {
		name, _ := view(a)
		f, err := formatOf(name)
		if err != nil {
			return nil
		}
		return []tensor.Desc{tensor.Contiguous(tensor.U8, rows, blocks*f.bytes)}
	}
	return spec.Define(spec.Definition[A]{
		Name: name, Group: "quant", Doc: doc, Source: "GGUF",
		In:       []spec.Arg{{Name: "blocks", Doc: "[..., bytes]: rows of whole blocks", DTypes: []tensor.DType{tensor.U8}}},
		Out:      []spec.Arg{{Name: "out", Doc: "[..., k], the weights"}},
		Traits:   spec.Traits{Class: spec.Other},
		Defaults: calls[0],
		Kernels:  dequantizeKernels(),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			out, err := shape(a, in)
			return []tensor.Desc{out}, err
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			plan := &spec.Plan{}
			name, _ := view(a)
			f, err := formatOf(name)
			if err != nil {
				return nil, err
			}
			return plan, f.addDequantize(plan, t, spec.In(0), 0, in[0].Elems()/f.bytes, spec.Out(0), out[0].DType)
		},
		Reference: func(a A, in, out []*tensor.Host) {
			name, _ := view(a)
			out[0].SetFloats(weightsOf(name, in[0]))
		},
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "a product of a scale and a number of a block is exact in f32, and so is its difference to a minimum but for one rounding; results are rounded to nearest even"}
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			out, err := shape(a, in)
			if err != nil {
				return spec.Cost{}
			}
			return spec.Cost{Flops: int64(out.Elems()), Bytes: in[0].Bytes() + out.Bytes()}
		},
		Cases: spec.CasesOf[A]{
			DTypes: []tensor.DType{tensor.U8}, Calls: calls,
			Dims:  []spec.Dim{{Name: "rows"}, {Name: "blocks", Tiles: []int{4, 8}}},
			Sizes: [][]int{{129, 257}, {1, 9000}, {9000, 1}},
			Inputs: func(a A, _ tensor.DType, dims []int) []tensor.Desc {
				if dims[0]*dims[1] > 20000 {
					return nil
				}
				return blocksOf(a, dims[0], dims[1])
			},
			Bench: func(tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, c := range calls {
					for _, rows := range []int{64, 1024, 4096} {
						if name, to := view(c); to == tensor.F32 {
							f, _ := formatOf(name)
							cases = append(cases, spec.BenchCase{Call: c, In: blocksOf(c, rows, 4096/f.weights)})
						}
					}
				}
				return cases
			},
			Settle: func(a A, _ int, _ tensor.Desc, values []float64) {
				name, _ := view(a)
				if f, err := formatOf(name); err == nil {
					f.settle(values)
				}
			},
			Invalid: []A{call("q4_1", tensor.F32), call("", tensor.F32), call("q4_0", tensor.I32), call("q8_0", tensor.F64)},
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.U8)}, {tensor.Contiguous(tensor.U8, 3, 17)}, {tensor.Contiguous(tensor.U8, 18, 3)}},
		},
	})
}

// addDequantize appends to a plan the launches that write the weights of count blocks of src, from block
// first on, to dst, as numbers of dtype d.
// Errors: *LimitError.
func (f format) addDequantize(plan *spec.Plan, t *spec.Target, src spec.Ref, first, count int, dst spec.Ref, d tensor.DType) error {
	pack := planner.Pack / d.Size()
	span := min(planner.MaxSpan(t, false), planner.MaxWindow) - planner.WindowAlign(t) - planner.Pack
	groups := int64(math.MaxInt32)
	for _, g := range t.MaxGroups {
		groups = min(groups*int64(g), math.MaxInt32)
	}
	most := max(int(min(span/int64(max(f.bytes, f.weights*d.Size())), groups*planner.SmallGroup*int64(pack)/int64(f.weights))), 1)
	for at := 0; at < count; at += most {
		n := min(most, count-at)
		p := dequantizeParams{Packs: uint32(n * f.weights / pack)}
		from, base := planner.Window(t, src, 1, int64(first+at)*int64(f.bytes), int64(n)*int64(f.bytes))
		to, begin := planner.Window(t, dst, d.Size(), int64(at)*int64(f.weights), int64(n)*int64(f.weights))
		p.Base, p.First = base, begin/uint32(pack)
		g, err := planner.Grid(t, planner.CeilDiv(int64(p.Packs), planner.SmallGroup))
		if err != nil {
			return err
		}
		plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel("quant/dequantize." + f.name + "." + d.String()), Params: p, Bind: []spec.Bind{from, to}, Groups: g})
	}
	return nil
}
