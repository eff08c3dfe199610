package recurrent

import (
	"math"
	"strings"

	"github.com/lathe-gpu/lathe/internal/planner"
)

// activation is a function of lib/recurrent.glsl with its numbers.
type activation struct {
	kind        uint32
	alpha, beta float32
}

// kinds are the activations in the order of their numbers in the shader. Their names are those of ONNX.
var kinds = []struct {
	name        string
	numbers     int // how many of alpha and beta the function has
	alpha, beta float32
	f           func(x, alpha, beta float64) float64
}{
	{name: "Sigmoid", f: func(x, _, _ float64) float64 { return 1 / (1 + math.Exp(-x)) }},
	{name: "Tanh", f: func(x, _, _ float64) float64 { return math.Tanh(x) }},
	{name: "Relu", f: func(x, _, _ float64) float64 { return math.Max(x, 0) }},
	{name: "Affine", numbers: 2, alpha: 1, f: func(x, a, b float64) float64 { return a*x + b }},
	{name: "LeakyRelu", numbers: 1, alpha: 0.01, f: func(x, a, _ float64) float64 {
		if x < 0 {
			return a * x
		}
		return x
	}},
	{name: "ThresholdedRelu", numbers: 1, alpha: 1, f: func(x, a, _ float64) float64 {
		if x > a || math.IsNaN(x) {
			return x
		}
		return 0
	}},
	{name: "ScaledTanh", numbers: 2, alpha: 1, beta: 1, f: func(x, a, b float64) float64 { return a * math.Tanh(b*x) }},
	{name: "HardSigmoid", numbers: 2, alpha: 0.2, beta: 0.5, f: func(x, a, b float64) float64 { return math.Max(0, math.Min(1, a*x+b)) }},
	{name: "Elu", numbers: 1, alpha: 1, f: func(x, a, _ float64) float64 {
		if x < 0 {
			return a * math.Expm1(x)
		}
		return x
	}},
	{name: "Softsign", f: func(x, _, _ float64) float64 {
		if math.IsInf(x, 0) {
			return math.Copysign(1, x)
		}
		return x / (1 + math.Abs(x))
	}},
	{name: "Softplus", f: func(x, _, _ float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }},
}

// of returns the value of the activation in float64.
func (c activation) of(x float64) float64 {
	return kinds[c.kind].f(x, float64(c.alpha), float64(c.beta))
}

// activations returns those of all directions, a.count of each. The numbers of the attributes are
// used up in the order of the functions that have some. What is left out is the default.
// Errors: ErrInvalidArgument.
func (a Attributes) activations(k *kind, directions int) ([]activation, error) {
	names := a.Activations
	if len(names) == 0 {
		for range directions {
			names = append(names, k.activations...)
		}
	}
	if len(names) != directions*len(k.activations) {
		return nil, planner.Invalid("activations (got %d, want %d)", len(names), directions*len(k.activations))
	}
	alphas, betas := a.Alpha, a.Beta
	next := func(list *[]float64, value float32) float32 {
		if len(*list) > 0 {
			value, *list = float32((*list)[0]), (*list)[1:]
		}
		return value
	}
	var all []activation
	for _, name := range names {
		which := -1
		for i, c := range kinds {
			if strings.EqualFold(name, c.name) {
				which = i
			}
		}
		if which < 0 {
			return nil, planner.Invalid("activation %q (want Sigmoid, Tanh, Relu, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign or Softplus)", name)
		}
		c := activation{kind: uint32(which), alpha: kinds[which].alpha, beta: kinds[which].beta}
		if kinds[which].numbers > 0 {
			c.alpha = next(&alphas, c.alpha)
		}
		if kinds[which].numbers > 1 {
			c.beta = next(&betas, c.beta)
		}
		for _, v := range []float32{c.alpha, c.beta} {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, planner.Invalid("activation_alpha and activation_beta (got %v and %v, want finite numbers of f32)", a.Alpha, a.Beta)
			}
		}
		all = append(all, c)
	}
	if len(alphas)+len(betas) > 0 {
		return nil, planner.Invalid("activation_alpha and activation_beta (got %v and %v, which are more than the activations have)", a.Alpha, a.Beta)
	}
	return all, nil
}
