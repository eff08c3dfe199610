package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/random"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// RandomUniform makes a tensor of uniform random numbers. Element i is Low + (High − Low)·u, where u is the
// upper 24 bits of the word that RandomBits makes there, divided by 2^24. So it is less than High, but rounding
// to the dtype may make it High.
type RandomUniform struct {
	Shape  []int        `attr:"shape,required" onnx:"shape" doc:"the shape"`
	DType  tensor.DType `attr:"dtype" onnx:"dtype" doc:"the element type: f32, f16 or bf16"`
	Low    float64      `attr:"low" onnx:"low" doc:"the least number, finite"`
	High   float64      `attr:"high" onnx:"high" doc:"the bound of all numbers, at least low"`
	Seed   int          `attr:"seed" onnx:"seed" doc:"chooses the numbers"`
	Stream int          `attr:"stream" doc:"chooses others"`
	Offset int          `attr:"offset" doc:"blocks of 4 to leave out"`
}

// Spec returns the declaration.
func (RandomUniform) Spec() *spec.Op { return randomUniformOp.Op() }

func (c *RandomUniform) source() random.Source {
	return random.Source{Seed: c.Seed, Stream: c.Stream, Offset: c.Offset}
}

var randomUniformOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkRandom()
	return spec.Define(spec.Definition[*RandomUniform]{
		Name: "random_uniform", Group: "random", Source: randomSource,
		Doc:      "Uniform random numbers from low to high.",
		Out:      []spec.Arg{{Name: "out", Doc: "the numbers"}},
		Traits:   spec.Traits{ONNX: []string{"RandomUniform"}},
		Defaults: &RandomUniform{Shape: []int{64, 64}, DType: tensor.F32, High: 1},
		Kernels:  random.Kernels("random/random_uniform", random.DTypes),
		Shape: func(c *RandomUniform, _ []tensor.Desc) ([]tensor.Desc, error) {
			if err := random.Supported(c.DType); err != nil {
				return nil, err
			}
			if !(c.Low <= c.High) {
				return nil, planner.Invalid("low %v and high %v (want low at most high)", c.Low, c.High)
			}
			if c.High-c.Low > math.MaxFloat32 {
				return nil, planner.Invalid("low %v and high %v (want a difference that f32 can hold)", c.Low, c.High)
			}
			return random.Made(c.DType, c.Shape, max(math.Abs(c.Low), math.Abs(c.High)))
		},
		Plan: func(c *RandomUniform, t *spec.Target, _, out []tensor.Desc) (*spec.Plan, error) {
			return random.Plan(t, "random/random_uniform", c.source(), c.High-c.Low, c.Low, nil, out[0])
		},
		Reference: func(c *RandomUniform, _, out []*tensor.Host) {
			values := make([]float64, out[0].Elems())
			for i := range values {
				values[i] = c.Low + (c.High-c.Low)*c.source().Unit(i)
			}
			out[0].SetFloats(values)
		},
		Tolerance: func(c *RandomUniform, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return planner.ElementTolerance(d, 1, 2*(math.Abs(c.Low)+math.Abs(c.High)), "products and sums are rounded")
		},
		Cost: func(c *RandomUniform, _ []tensor.Desc) spec.Cost {
			return spec.Cost{Bytes: tensor.Contiguous(c.DType, c.Shape...).Bytes()}
		},
		Cases: spec.CasesOf[*RandomUniform]{
			DTypes: random.DTypes,
			Calls: func() []*RandomUniform {
				calls := []*RandomUniform{{Shape: []int{64, 64}, DType: tensor.F32, High: 1}}
				for i, s := range random.Shapes {
					for _, d := range random.DTypes {
						calls = append(calls, &RandomUniform{Shape: s, DType: d, Low: float64(i - 4), High: float64(2*i + 1), Seed: i, Stream: i - 5, Offset: 1 << i})
					}
				}
				return calls
			}(),
			Inputs: func(*RandomUniform, tensor.DType, []int) []tensor.Desc { return []tensor.Desc{} },
			Bench: planner.BenchCalls(func(d tensor.DType, rows, columns int) (spec.Call, []tensor.Desc) {
				return RandomUniform{Shape: []int{rows, columns}, DType: d, High: 1}, nil
			}),
			Invalid: []*RandomUniform{
				{Shape: []int{2}, DType: tensor.F32, Low: 1, High: 0.5}, {Shape: []int{2}, DType: tensor.F32, High: math.NaN()}, {Shape: []int{2}, DType: tensor.F16, High: 1e6},
				{Shape: []int{2}, DType: tensor.F32, Low: -3e38, High: 3e38}, {Shape: []int{-1}, DType: tensor.F32, High: 1}, {Shape: []int{2}, DType: tensor.DType(99), High: 1},
			},
		},
	})
}}
