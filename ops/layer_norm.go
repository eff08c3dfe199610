package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// LayerNorm normalises the last dimension: (x − mean)/√(variance + eps)·gamma + beta, with
// the population variance. Gamma and beta have the shape [n] and the dtype of the input. If
// that dtype has 16 bits, both may be F32 instead. Gamma is 1 and beta is 0 if they are left
// out. A tensor of the shape [0], or nil, stands for gamma if there is only beta.
type LayerNorm struct {
	Eps float64 `attr:"eps,required" onnx:"epsilon" doc:"a number that is added to the variance, at least 0"`
}

// Spec returns the declaration.
func (LayerNorm) Spec() *spec.Op { return layerNormOp.Op() }

// Gradient declares the gradients, by LayerNormGrad.
func (c LayerNorm) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	for i, d := range t.Calls(LayerNormGrad(c), t.In(0), t.In(1), dy) {
		t.SetGradient(i, d)
	}
}

// Numbers of inputs in cases, past those that there can be: gamma is left out before beta, which is of the dtype of the
// input or of its accumulators.
const (
	leftGamma = iota + 4
	leftGammaWide
)

var layerNormOp = spec.Declaration{Define: func() *spec.Op {
	return axiswise.DefineNorm(axiswise.LayerNorm(axiswise.Norm[*LayerNorm]{
		Name: "layer_norm", ONNX: []string{"LayerNormalization"},
		Doc:    "Normalises the last dimension: (x − mean)/√(variance + eps)·gamma + beta, with the population variance.",
		Source: "Ba, Kiros and Hinton, Layer normalization, 2016",
		In: []spec.Arg{
			{Name: "in", Doc: "[..., n]"},
			{Name: "gamma", Doc: "[n]; of the shape [0] or left out: 1; of the dtype of in, or F32 if that has 16 bits", Optional: true, Skippable: true},
			{Name: "beta", Doc: "[n]; of the shape [0] or left out: 0; of the dtype of gamma", Optional: true, Skippable: true},
		},
		Defaults: &LayerNorm{Eps: 1e-5},
		Eps:      func(a *LayerNorm) float64 { return a.Eps },
		Axis:     func(*LayerNorm) int { return -1 },
		Cases: spec.CasesOf[*LayerNorm]{
			Calls: []*LayerNorm{{1e-5}, {1e-3}},
			Dims:  []spec.Dim{{Name: "rows"}, {Name: "n", Tiles: []int{16}}, {Name: "inputs", Only: []int{3, 1, 2, leftGamma, leftGammaWide}}},
			Sizes: [][]int{{1, 65535, 3}, {1, 65536, 3}, {3, 100000, 3}, {1, 1000000, 3}, {65535, 3, 3}, {65536, 4, 3}, {100000, 2, 3}, {600, 1024, 3}, {600, 1000, 3}, {1000, 201, 3}},
			Inputs: func(_ *LayerNorm, d tensor.DType, dims []int) []tensor.Desc {
				columns := tensor.Contiguous(d, dims[1])
				in := []tensor.Desc{tensor.Contiguous(d, dims[:2]...), columns, columns}
				switch dims[2] {
				case leftGammaWide:
					in[2] = tensor.Contiguous(planner.Accumulator(d), dims[1])
					fallthrough
				case leftGamma:
					in[1] = tensor.Contiguous(d, 0)
					return in
				}
				return in[:dims[2]]
			},
			// The rows of the second call are far from zero.
			Range: func(a *LayerNorm, i int, _ []tensor.Desc) (low, high float64) {
				if i == 0 && a.Eps == 1e-3 {
					return 1e4 - 1, 1e4 + 1
				}
				return -2, 2
			},
			Invalid: []*LayerNorm{{-1e-5}, {math.NaN()}, {math.Inf(1)}},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 2)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 1, 3)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F16, 3)},
				{tensor.Contiguous(tensor.F16, 2, 3), tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F16, 3)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 0), tensor.Contiguous(tensor.F32, 2)},
				{tensor.Contiguous(tensor.F16, 2, 3), tensor.Contiguous(tensor.F16, 0), tensor.Contiguous(tensor.BF16, 3)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F16, 0), tensor.Contiguous(tensor.F32, 3)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 0, 3), tensor.Contiguous(tensor.F32, 3)},
			},
		},
	}))
}}
