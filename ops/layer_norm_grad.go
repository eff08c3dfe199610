package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// LayerNormGrad is the gradient of LayerNorm. From the input of LayerNorm, gamma and the
// gradient dy of the result, it computes the gradients dx, dgamma and dbeta of the input,
// gamma and beta. With x̂ the normalised input and g = dy·gamma, each row of dx is
// (g − mean g − x̂·mean(x̂·g))/√(variance + eps). The sums of dy·x̂ and of dy over the rows
// are dgamma and dbeta. Gamma is 1 if it is left out: a tensor of the shape [0], or nil, stands for it, and dgamma and
// dbeta have its dtype, which is that of the input for nil. The scratch memory is as large as the inputs would be in the type of
// the arithmetic.
type LayerNormGrad struct {
	Eps float64 `attr:"eps,required" doc:"the eps of layer_norm, at least 0"`
}

// Spec returns the declaration.
func (LayerNormGrad) Spec() *spec.Op { return layerNormGradOp.Op() }

var layerNormGradIn = []spec.Arg{
	{Name: "in", Doc: "[..., n], the input of layer_norm", DTypes: planner.Floats},
	{Name: "gamma", Doc: "[n], of the dtype of in, or F32 if that has 16 bits; of the shape [0] or nil: 1", DTypes: planner.Floats, Skippable: true},
	{Name: "dy", Doc: "[..., n], the gradient of the result of layer_norm, of the dtype of in", DTypes: planner.Floats},
}

var layerNormGradOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMath()
	spirv.LinkMove()
	spirv.LinkNN()
	spirv.LinkReduce()
	return spec.Define(spec.Definition[*LayerNormGrad]{
		Name: "layer_norm_grad", Group: "nn",
		Doc: "The gradients of layer_norm with respect to its input, gamma and beta.",
		In:  layerNormGradIn,
		Out: []spec.Arg{
			{Name: "dx", Doc: "[..., n], of the dtype of in"},
			{Name: "dgamma", Doc: "[n], of the dtype of gamma"},
			{Name: "dbeta", Doc: "[n], of the dtype of gamma"},
		},
		Traits:   spec.Traits{Class: spec.AxisWise},
		Defaults: &LayerNormGrad{Eps: 1e-5},
		Kernels:  axiswise.LayerNormGradientKernels(),
		Shape: func(a *LayerNormGrad, in []tensor.Desc) ([]tensor.Desc, error) {
			return axiswise.LayerNormGradientShape(layerNormGradIn, a.Eps, in)
		},
		Plan: func(a *LayerNormGrad, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			return axiswise.LayerNormGradient(t, a.Eps, in)
		},
		Reference: func(a *LayerNormGrad, in, out []*tensor.Host) { axiswise.LayerNormGradientReference(a.Eps, in, out) },
		Tolerance: func(a *LayerNormGrad, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			return axiswise.LayerNormGradientTolerance(a.Eps, d, in[0].Shape)
		},
		Cost: func(_ *LayerNormGrad, in []tensor.Desc) spec.Cost {
			return spec.Cost{Flops: 16 * int64(in[0].Elems()), Bytes: 3*in[0].Bytes() + 3*in[1].Bytes()}
		},
		Cases: spec.CasesOf[*LayerNormGrad]{
			DTypes: planner.Floats, Calls: []*LayerNormGrad{{1e-5}, {0.5}},
			Dims:  []spec.Dim{{Name: "rows"}, {Name: "n", Tiles: []int{16}}, {Name: "gamma", Only: []int{1, 0}}},
			Sizes: [][]int{{2, 65535, 1}, {1, 65536, 0}, {3, 100000, 1}, {1, 1000000, 1}, {65535, 5, 1}, {65536, 8, 0}, {100000, 7, 1}},
			Inputs: func(_ *LayerNormGrad, d tensor.DType, dims []int) []tensor.Desc {
				return []tensor.Desc{tensor.Contiguous(d, dims[:2]...), tensor.Contiguous(d, dims[1]*dims[2]), tensor.Contiguous(d, dims[:2]...)}
			},
			Bench: planner.BenchCasesOf(LayerNormGrad{1e-5}, func(d tensor.DType, rows, columns int) []tensor.Desc {
				return []tensor.Desc{tensor.Contiguous(d, rows, columns), tensor.Contiguous(d, columns), tensor.Contiguous(d, rows, columns)}
			}),
			Low: -2, High: 2, Specials: true,
			Invalid: []*LayerNormGrad{{-1e-5}, {math.NaN()}, {math.Inf(1)}},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.F32)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 2), tensor.Contiguous(tensor.F32, 2, 3)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F32, 3, 2)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F16, 3), tensor.Contiguous(tensor.F32, 2, 3)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F16, 0), tensor.Contiguous(tensor.F32, 2, 3)},
			},
		},
	})
}}
