package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/random"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Dropout sets elements to zero with probability Ratio, and divides the others by 1 − Ratio. Element i becomes
// zero if the uniform number that RandomUniform has there is below Ratio. So the gradient is the same call on the
// gradient of the result, and no mask is kept. Use another Stream or Offset for each step of a training.
type Dropout struct {
	Ratio  float64 `attr:"ratio" onnx:"ratio" doc:"the part of the elements that become zero, at least 0 and below 1"`
	Seed   int     `attr:"seed" onnx:"seed" doc:"chooses the elements"`
	Stream int     `attr:"stream" doc:"chooses others"`
	Offset int     `attr:"offset" doc:"blocks of 4 to leave out"`
}

// Spec returns the declaration.
func (Dropout) Spec() *spec.Op { return dropoutOp.Op() }

// Gradient declares the gradient: the same elements of dy.
func (c Dropout) Gradient(t *spec.Tape) {
	linear(t, 0, c)
}

const dropoutShader = "random/dropout"

var dropoutOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkRandom()
	return spec.Define(spec.Definition[*Dropout]{
		Name: "dropout", Group: "random", Source: "Srivastava and others, Dropout, 2014",
		Doc:      "Sets elements to zero at random and divides the others by 1 − ratio. The same call makes the gradient.",
		In:       []spec.Arg{{Name: "in", Doc: "a tensor of any shape", DTypes: random.DTypes}},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the same dtype and shape", InPlace: []int{0}}},
		Traits:   spec.Traits{ONNX: []string{"Dropout"}},
		Defaults: &Dropout{Ratio: 0.5},
		Kernels:  random.Kernels(dropoutShader, random.DTypes),
		Shape: func(c *Dropout, in []tensor.Desc) ([]tensor.Desc, error) {
			if !(c.Ratio >= 0 && c.Ratio < 1) {
				return nil, planner.Invalid("ratio (got %v, want at least 0 and below 1)", c.Ratio)
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
		},
		Plan: func(c *Dropout, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			return random.Plan(t, dropoutShader, random.Source{Seed: c.Seed, Stream: c.Stream, Offset: c.Offset}, 1/(1-c.Ratio), float64(float32(c.Ratio)), in, out[0])
		},
		Strategies: planner.FlatStrategies[*Dropout], SizeClass: planner.ElementCounts[*Dropout],
		Reference: func(c *Dropout, in, out []*tensor.Host) {
			s, values := random.Source{Seed: c.Seed, Stream: c.Stream, Offset: c.Offset}, in[0].Floats()
			for i := range values {
				if values[i] /= 1 - c.Ratio; s.Unit(i) < float64(float32(c.Ratio)) {
					values[i] = 0
				}
			}
			out[0].SetFloats(values)
		},
		Tolerance: func(_ *Dropout, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return planner.ElementTolerance(d, 2, 0, "factor and product are rounded")
		},
		Cost: func(_ *Dropout, in []tensor.Desc) spec.Cost { return spec.Cost{Bytes: 2 * in[0].Bytes()} },
		Cases: spec.CasesOf[*Dropout]{
			DTypes: random.DTypes, Calls: []*Dropout{{Ratio: 0.5}, {Ratio: 0.1, Seed: 3, Stream: -1}, {Ratio: spec.Given(0.0)}, {Ratio: 0.999, Offset: 77}},
			Dims:   []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 256}}},
			Inputs: planner.SameInputs[*Dropout](1), Bench: planner.BenchCases(Dropout{Ratio: 0.5}, 1),
			Low: -100, High: 100, Specials: true,
			Invalid: []*Dropout{{Ratio: 1}, {Ratio: -0.1}},
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.I32, 3)}, {tensor.Contiguous(tensor.F64, 3)}},
		},
	})
}}
