package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// AdamUpdate is one step of the optimiser Adam, for each element:
//
//	m = β1·m + (1−β1)·g
//	v = β2·v + (1−β2)·g²
//	p = p − lr · m/(1−β1ᵗ) / (√(v/(1−β2ᵗ)) + ε)
//
// where t is Step. All four tensors have the same dtype and shape. If the dtype is F16 or
// BF16, the moments have it too, and very small moments become 0.
// spec.WithDefaults(AdamUpdate{LR: 0.01, Step: n}) has the usual β1, β2 and ε.
type AdamUpdate struct {
	LR    float64 `attr:"lr,required" doc:"the learning rate, any finite number including 0"`
	Beta1 float64 `attr:"beta1" doc:"the decay of the first moment, at least 0 and below 1"`
	Beta2 float64 `attr:"beta2" doc:"the decay of the second moment, at least 0 and below 1"`
	Eps   float64 `attr:"eps" doc:"a number that is added to the root, at least 0"`
	Step  int     `attr:"step,required" doc:"the number of this step; the first one is 1"`
}

// Spec returns the declaration.
func (AdamUpdate) Spec() *spec.Op { return adamUpdateOp.Op() }

// check refuses attributes that are out of range.
func (c AdamUpdate) check() error {
	for _, a := range []struct {
		name string
		v    float64
		ok   bool
	}{
		{"lr", c.LR, true},
		{"beta1", c.Beta1, c.Beta1 >= 0 && c.Beta1 < 1},
		{"beta2", c.Beta2, c.Beta2 >= 0 && c.Beta2 < 1},
		{"eps", c.Eps, c.Eps >= 0},
	} {
		if math.IsNaN(a.v) || math.IsInf(a.v, 0) || !a.ok {
			return planner.Invalid("%s (got %v)", a.name, a.v)
		}
	}
	if c.Step < 1 {
		return planner.Invalid("step (got %d, want 1 or more: the first step is 1)", c.Step)
	}
	return nil
}

var adamDefaults = &AdamUpdate{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: 1}

var adamUpdateOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkNN()
	return spec.Define(spec.Definition[*AdamUpdate]{
		Name: "adam_update", Aliases: []string{"adam"}, Group: "nn",
		Doc:    "One step of the optimiser Adam: new moments and parameters from a gradient.",
		Source: "Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015, algorithm 1",
		In: []spec.Arg{
			{Name: "param", Doc: "the parameters, of any shape", DTypes: planner.Floats},
			{Name: "grad", Doc: "the gradient of the parameters", DTypes: planner.Floats},
			{Name: "m", Doc: "the first moment, 0 before the first step", DTypes: planner.Floats},
			{Name: "v", Doc: "the second moment, 0 before the first step and never negative", DTypes: planner.Floats},
		},
		Out: []spec.Arg{
			{Name: "param", Doc: "the new parameters", InPlace: []int{0}},
			{Name: "m", Doc: "the new first moment", InPlace: []int{2}},
			{Name: "v", Doc: "the new second moment", InPlace: []int{3}},
		},
		Traits:   spec.Traits{Class: spec.Elementwise},
		Defaults: adamDefaults,
		Kernels:  elementwise.AdamKernels(),
		Shape: func(c *AdamUpdate, in []tensor.Desc) ([]tensor.Desc, error) {
			if err := c.check(); err != nil {
				return nil, err
			}
			for i, name := range []string{"grad", "m", "v"} {
				if d := in[i+1]; d.DType != in[0].DType || !slices.Equal(d.Shape, in[0].Shape) {
					return nil, planner.Invalid("%s (got %v, want param's %v)", name, d, in[0])
				}
			}
			d := tensor.Contiguous(in[0].DType, in[0].Shape...)
			return []tensor.Desc{d, d, d}, nil
		},
		Plan: func(c *AdamUpdate, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			return elementwise.PlanAdam(elementwise.Adam(*c), t, in[0])
		},
		Strategies: planner.FlatStrategies[*AdamUpdate], SizeClass: planner.ElementCounts[*AdamUpdate],
		Reference: func(c *AdamUpdate, in, out []*tensor.Host) {
			p, g, m, v := in[0].Floats(), in[1].Floats(), in[2].Floats(), in[3].Floats()
			for i := range p {
				m[i] = c.Beta1*m[i] + (1-c.Beta1)*g[i]
				v[i] = c.Beta2*v[i] + (1-c.Beta2)*g[i]*g[i]
				mHat := m[i] / (1 - math.Pow(c.Beta1, float64(c.Step)))
				vHat := v[i] / (1 - math.Pow(c.Beta2, float64(c.Step)))
				p[i] -= c.LR * mHat / (math.Sqrt(vHat) + c.Eps)
			}
			out[0].SetFloats(p)
			out[1].SetFloats(m)
			out[2].SetFloats(v)
		},
		Tolerance: func(_ *AdamUpdate, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return planner.ElementTolerance(d, 16, 16, "a root, a quotient and a handful of products and sums of numbers of about 1 are rounded")
		},
		Cost: func(_ *AdamUpdate, in []tensor.Desc) spec.Cost {
			n := int64(in[0].Elems())
			return spec.Cost{Flops: 14 * n, Bytes: 7 * n * int64(in[0].DType.Size())}
		},
		Cases: spec.CasesOf[*AdamUpdate]{
			DTypes: planner.Floats,
			Calls: []*AdamUpdate{adamDefaults, {LR: 0.1, Beta1: spec.Given(0.0), Beta2: 0.99, Eps: 1e-4, Step: 7},
				{LR: -0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: 1_000_000}},
			Dims:   []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 256}}},
			Inputs: planner.SameInputs[*AdamUpdate](4),
			Bench:  planner.BenchCases(adamDefaults, 4),
			Low:    -1, High: 1, Specials: true,
			Range: func(_ *AdamUpdate, i int, _ []tensor.Desc) (low, high float64) {
				if i == 3 {
					return 0.01, 1
				}
				return -1, 1
			},
			Invalid: []*AdamUpdate{
				{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}, {LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: -1},
				{LR: 1e-3, Beta1: 1, Beta2: 0.999, Eps: 1e-8, Step: 1}, {LR: 1e-3, Beta1: 0.9, Beta2: -0.1, Eps: 1e-8, Step: 1},
				{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: -1e-8, Step: 1}, {LR: math.NaN(), Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: 1},
				{LR: math.Inf(1), Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: 1}, {LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: math.NaN(), Step: 1},
				{LR: 0.01, Step: 1}, // decays and eps forgotten
			},
		},
	})
}}
