package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// AdamUpdate is one step of the optimiser Adam, for each element:
//
//	m = β1·m + (1−β1)·g
//	v = β2·v + (1−β2)·g²
//	p = p − lr · m/(1−β1ᵗ) / (√(v/(1−β2ᵗ)) + ε)
//
// where t is Step. All four tensors have one dtype and shape; in F16 and BF16
// the moments are stored as such, and small ones vanish there.
// spec.WithDefaults(AdamUpdate{LR: 0.01, Step: n}) has the usual β1, β2 and ε.
type AdamUpdate struct {
	LR    float64 `attr:"lr,required" doc:"learning rate, any finite number, 0 too"`
	Beta1 float64 `attr:"beta1" doc:"decay of the first moment, at least 0 and below 1"`
	Beta2 float64 `attr:"beta2" doc:"decay of the second moment, at least 0 and below 1"`
	Eps   float64 `attr:"eps" doc:"added to the root, at least 0"`
	Step  int     `attr:"step,required" doc:"number of this step, from 1 on"`
}

// Spec returns the declaration.
func (AdamUpdate) Spec() *spec.Op { return adamUpdateOp }

const adamShader = "nn/adam_update"

type adamUpdateParams struct {
	Count        uint32
	Rate, Root   [2]float32
	Eps          [2]float32
	Beta1, Beta2 [2]float32
	Rest1, Rest2 [2]float32
}

// pair is a number as the sum of two floats.
func pair(x float64) [2]float32 {
	high := float32(x)
	if math.IsInf(float64(high), 0) {
		return [2]float32{high, 0}
	}
	return [2]float32{high, float32(x - float64(high))}
}

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
			return invalid("adam_update", "%s (got %v)", a.name, a.v)
		}
	}
	if c.Step < 1 {
		return invalid("adam_update", "step (got %d, want 1 or more: the first step is 1)", c.Step)
	}
	return nil
}

func (c AdamUpdate) params(count int) adamUpdateParams {
	t := float64(c.Step)
	return adamUpdateParams{
		Count: uint32(count),
		Rate:  pair(c.LR / -math.Expm1(t*math.Log(c.Beta1))),
		Root:  pair(1 / math.Sqrt(-math.Expm1(t*math.Log(c.Beta2)))),
		Eps:   pair(c.Eps), Beta1: pair(c.Beta1), Beta2: pair(c.Beta2),
		Rest1: pair(1 - c.Beta1), Rest2: pair(1 - c.Beta2),
	}
}

func adamKernels() []spec.Kernel {
	ks := dtypeVariants(adamShader, adamUpdateParams{}, floats, func(d tensor.DType) bool { return d != tensor.F64 })
	for _, d := range floats {
		ks = append(ks, spec.Kernel{Name: adamShader + "." + d.String() + ".separate", Params: adamUpdateParams{}})
	}
	return ks
}

var adamDefaults = AdamUpdate{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: 1}

var adamArgs = []spec.Arg{
	{Name: "param", Doc: "the parameters, of any shape"},
	{Name: "grad", Doc: "their gradient"},
	{Name: "m", Doc: "the first moment, 0 before the first step"},
	{Name: "v", Doc: "the second moment, 0 before the first step, never below"},
}

var adamUpdateOp = spec.Register(&spec.Op{
	Name: "adam_update", Aliases: []string{"adam"}, Group: "nn",
	Doc:      "One step of the optimiser Adam: new moments and parameters from a gradient.",
	Source:   "Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015, algorithm 1",
	In:       adamArgs,
	Out:      []spec.Arg{{Name: "param", Doc: "the new parameters"}, {Name: "m", Doc: "the new first moment"}, {Name: "v", Doc: "the new second moment"}},
	Defaults: adamDefaults,
	InPlace:  []int{0, 2, 3},
	Kernels:  adamKernels(),
	Shape: func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := c.(AdamUpdate).check(); err != nil {
			return nil, err
		}
		if err := check(&spec.Op{Name: "adam_update", In: adamArgs}, in, floats...); err != nil {
			return nil, err
		}
		for i, d := range in[1:] {
			if d.DType != in[0].DType || !slices.Equal(d.Shape, in[0].Shape) {
				return nil, invalid("adam_update", "%s (got %v, want param's %v)", adamArgs[i+1].Name, d, in[0])
			}
		}
		d := tensor.Contiguous(in[0].DType, in[0].Shape...)
		return []tensor.Desc{d, d, d}, nil
	},
	Plan: func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		return planAdam(c.(AdamUpdate), t, in, out)
	},
	Strategies: byFirst, SizeClass: byElements,
	Reference: func(call spec.Call, in, out []*tensor.Host) {
		c := call.(AdamUpdate)
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
	Tolerance: func(_ spec.Call, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
		tol := spec.Tolerance{Abs: 16*workEpsilon(d) + tiny(d), Rel: 16 * workEpsilon(d),
			Why: "a root, a quotient and a handful of products and sums of numbers of about 1 are rounded"}
		if d.Size() == 2 {
			tol.Rel += epsilon(d)
		}
		return tol
	},
	Cost: func(_ spec.Call, in []tensor.Desc) spec.Cost {
		n := int64(in[0].Elems())
		return spec.Cost{Flops: 14 * n, Bytes: 7 * n * int64(in[0].DType.Size())}
	},
	Cases: spec.Cases{
		DTypes: floats,
		Calls: []spec.Call{adamDefaults, AdamUpdate{LR: 0.1, Beta1: spec.Given(0.0), Beta2: 0.99, Eps: 1e-4, Step: 7},
			AdamUpdate{LR: -0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: 1_000_000}},
		Dims: []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 256}}},
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc {
			x := tensor.Contiguous(d, dims...)
			return []tensor.Desc{x, x, x, x}
		},
		Bench: benchCases(adamDefaults, 4),
		Low:   -1, High: 1, Specials: true,
		Range: func(_ spec.Call, i int, _ []tensor.Desc) (low, high float64) {
			if i == 3 {
				return 0.01, 1
			}
			return -1, 1
		},
		Invalid: []spec.Call{
			AdamUpdate{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}, AdamUpdate{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: -1},
			AdamUpdate{LR: 1e-3, Beta1: 1, Beta2: 0.999, Eps: 1e-8, Step: 1}, AdamUpdate{LR: 1e-3, Beta1: 0.9, Beta2: -0.1, Eps: 1e-8, Step: 1},
			AdamUpdate{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: -1e-8, Step: 1}, AdamUpdate{LR: math.NaN(), Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: 1},
			AdamUpdate{LR: math.Inf(1), Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: 1}, AdamUpdate{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: math.NaN(), Step: 1},
			AdamUpdate{LR: 0.01, Step: 1}, // decays and eps forgotten
		},
	},
})

func planAdam(c AdamUpdate, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
	d := in[0].DType
	if err := checkTarget("adam_update", t, in[0]); err != nil {
		return nil, err
	}
	for _, x := range append(slices.Clone(in), out...) {
		if !x.IsContiguous() {
			return nil, unsupported("adam_update", "strides")
		}
	}
	plan := &spec.Plan{}
	k := flatVariant(t, adamShader, d)
	k.params = func(_, count int) any { return c.params(count) }
	operands := []flatOperand{{spec.In(1), d}, {spec.Out(0), d}, {spec.Out(1), d}, {spec.Out(2), d}}
	sources := []flatOperand{{spec.In(0), d}, {spec.In(2), d}, {spec.In(3), d}}
	switch {
	case k.texel:
		k.packs = 2
		operands = append(operands, sources...)
	case t.MaxBindings >= 7:
		k.name += ".separate"
		operands = append(operands, sources...)
	default:
		// Four buffers: in place, after a copy, which is one onto itself where
		// the caller works in place.
		for i, s := range sources {
			if err := movement.AddFlatCopy(plan, t, in[0].Bytes(), s.ref, 0, operands[1+i].ref, 0); err != nil {
				return nil, err
			}
		}
	}
	return plan, addFlat(plan, t, k, in[0].Elems(), operands...)
}
