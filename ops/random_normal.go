package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/random"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// RandomNormal makes a tensor of normal random numbers of a mean and a standard deviation. Elements 2j and
// 2j + 1 are Mean + Scale·r·cos(a) and Mean + Scale·r·sin(a), with r = √(−2 ln(u + 2^-24)) and a = 2πv. Here u and v
// are the uniform numbers that RandomUniform has at these places. No number is more than 5.8 deviations
// from the mean.
type RandomNormal struct {
	Shape  []int        `attr:"shape,required" onnx:"shape" doc:"the shape"`
	DType  tensor.DType `attr:"dtype" onnx:"dtype" doc:"the element type: f32, f16 or bf16"`
	Mean   float64      `attr:"mean" onnx:"mean" doc:"the mean, finite"`
	Scale  float64      `attr:"scale" onnx:"scale" doc:"the standard deviation, at least 0 and finite"`
	Seed   int          `attr:"seed" onnx:"seed" doc:"chooses the numbers"`
	Stream int          `attr:"stream" doc:"chooses others"`
	Offset int          `attr:"offset" doc:"blocks of 4 to leave out"`
}

// Spec returns the declaration.
func (RandomNormal) Spec() *spec.Op { return randomNormalOp.Op() }

func (c *RandomNormal) source() random.Source {
	return random.Source{Seed: c.Seed, Stream: c.Stream, Offset: c.Offset}
}

var randomNormalOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkRandom()
	return spec.Define(spec.Definition[*RandomNormal]{
		Name: "random_normal", Group: "random", Source: "Box and Muller, A note on the generation of random normal deviates, 1958; " + randomSource,
		Doc:      "Normal random numbers.",
		Out:      []spec.Arg{{Name: "out", Doc: "the numbers"}},
		Traits:   spec.Traits{ONNX: []string{"RandomNormal"}},
		Defaults: &RandomNormal{Shape: []int{64, 64}, DType: tensor.F32, Scale: 1},
		Kernels:  random.Kernels("random/random_normal", random.DTypes),
		Shape: func(c *RandomNormal, _ []tensor.Desc) ([]tensor.Desc, error) {
			if err := random.Supported(c.DType); err != nil {
				return nil, err
			}
			if !(c.Scale >= 0) {
				return nil, planner.Invalid("scale (got %v, want at least 0)", c.Scale)
			}
			return random.Made(c.DType, c.Shape, math.Abs(c.Mean)+6*c.Scale)
		},
		Plan: func(c *RandomNormal, t *spec.Target, _, out []tensor.Desc) (*spec.Plan, error) {
			return random.Plan(t, "random/random_normal", c.source(), c.Scale, c.Mean, nil, out[0])
		},
		Reference: func(c *RandomNormal, _, out []*tensor.Host) {
			values := make([]float64, out[0].Elems())
			for i := range values {
				values[i] = c.Mean + c.Scale*c.source().Deviate(i)
			}
			out[0].SetFloats(values)
		},
		Tolerance: func(c *RandomNormal, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return planner.ElementTolerance(d, 1, 2*math.Abs(c.Mean)+60*c.Scale, "root and cosine err by ten units in the last place together")
		},
		Cost: func(c *RandomNormal, _ []tensor.Desc) spec.Cost {
			return spec.Cost{Bytes: tensor.Contiguous(c.DType, c.Shape...).Bytes()}
		},
		Cases: spec.CasesOf[*RandomNormal]{
			DTypes: random.DTypes,
			Calls: func() []*RandomNormal {
				calls := []*RandomNormal{{Shape: []int{64, 64}, DType: tensor.F32, Scale: 1}}
				for i, s := range random.Shapes {
					for _, d := range random.DTypes {
						calls = append(calls, &RandomNormal{Shape: s, DType: d, Mean: float64(3 - i), Scale: float64(i+1) / 3, Seed: i, Stream: i - 5, Offset: 1 << i})
					}
				}
				return calls
			}(),
			Inputs: func(*RandomNormal, tensor.DType, []int) []tensor.Desc { return []tensor.Desc{} },
			Bench: planner.BenchCalls(func(d tensor.DType, rows, columns int) (spec.Call, []tensor.Desc) {
				return RandomNormal{Shape: []int{rows, columns}, DType: d, Scale: 1}, nil
			}),
			Invalid: []*RandomNormal{
				{Shape: []int{2}, DType: tensor.F32, Scale: -1}, {Shape: []int{2}, DType: tensor.F32, Scale: math.NaN()}, {Shape: []int{2}, DType: tensor.F16, Scale: 2e4},
				{Shape: []int{2}, DType: tensor.F32, Mean: math.Inf(1), Scale: 1}, {Shape: []int{-1}, DType: tensor.F32, Scale: 1}, {Shape: []int{2}, DType: tensor.DType(99), Scale: 1},
			},
		},
	})
}}
