package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/random"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// RandomBits makes a tensor of random words, U32. Element i is word i mod 4 of block Offset + i/4 of the
// generator Philox 4×32-10. Seed is its key and Stream the upper half of its counter. Negative numbers stand for
// their bits in two's complement. All devices make the same words.
type RandomBits struct {
	Shape  []int `attr:"shape,required" doc:"the shape"`
	Seed   int   `attr:"seed" doc:"chooses the numbers"`
	Stream int   `attr:"stream" doc:"chooses others"`
	Offset int   `attr:"offset" doc:"blocks of 4 to leave out"`
}

// Spec returns the declaration.
func (RandomBits) Spec() *spec.Op { return randomBitsOp.Op() }

func (c *RandomBits) source() random.Source {
	return random.Source{Seed: c.Seed, Stream: c.Stream, Offset: c.Offset}
}

const (
	randomSource = "Salmon and others, Parallel random numbers: as easy as 1, 2, 3, 2011"
	bitsShader   = "random/random_bits"
)

var randomBitsOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkRandom()
	return spec.Define(spec.Definition[*RandomBits]{
		Name: "random_bits", Group: "random", Source: randomSource,
		Doc:      "Random words of the generator Philox 4×32-10.",
		Out:      []spec.Arg{{Name: "out", Doc: "the words, u32"}},
		Defaults: &RandomBits{Shape: []int{64, 64}},
		Kernels:  random.Kernels(bitsShader, []tensor.DType{tensor.U32}),
		Shape: func(c *RandomBits, _ []tensor.Desc) ([]tensor.Desc, error) {
			return random.Made(tensor.U32, c.Shape, 0)
		},
		Plan: func(c *RandomBits, t *spec.Target, _, out []tensor.Desc) (*spec.Plan, error) {
			return random.Plan(t, bitsShader, c.source(), 0, 0, nil, out[0])
		},
		Reference: func(c *RandomBits, _, out []*tensor.Host) {
			values := make([]float64, out[0].Elems())
			for i := range values {
				values[i] = float64(c.source().Word(i))
			}
			out[0].SetFloats(values)
		},
		Tolerance: func(*RandomBits, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "whole numbers"}
		},
		Cost: func(c *RandomBits, _ []tensor.Desc) spec.Cost {
			return spec.Cost{Bytes: tensor.Contiguous(tensor.U32, c.Shape...).Bytes()}
		},
		Cases: spec.CasesOf[*RandomBits]{
			DTypes: []tensor.DType{tensor.U32},
			Calls: func() []*RandomBits {
				calls := []*RandomBits{{Shape: []int{64, 64}}}
				for i, s := range random.Shapes {
					calls = append(calls, &RandomBits{Shape: s, Seed: i - 3, Stream: 1 - i, Offset: -i})
				}
				return calls
			}(),
			Inputs: func(*RandomBits, tensor.DType, []int) []tensor.Desc { return []tensor.Desc{} },
			Bench: planner.BenchCalls(func(_ tensor.DType, rows, columns int) (spec.Call, []tensor.Desc) {
				return RandomBits{Shape: []int{rows, columns}}, nil
			}),
			Invalid: []*RandomBits{{Shape: []int{-1}}},
		},
	})
}}
