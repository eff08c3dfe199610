package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/convolution"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Conv is the convolution of networks, which does not turn the filter round: with S the strides, D
// the dilations and P the pads at the beginning of each axis,
//
//	out[n, k, o] = bias[k] + Σ x[n, c, o·S + r·D − P]·w[k, c, r]
//
// over the taps r and the channels c of the group of k. x is [N,C,...] with one, two or three
// spatial axes, w is [K,C/Group,...] and the bias is [K]. Elements outside of x are zeros, which
// are multiplied as all others are: an infinite weight there gives NaN. Sums are made in F32, or in
// F64 for F64. Each spatial size is at least 1. Strides and dilations are at most 65535.
//
// The gradients are ConvInputGrad and ConvFilterGrad. That of the bias is ReduceSum of the gradient
// of the result, over all dimensions but the second one.
type Conv struct {
	Strides   []int  `attr:"strides" onnx:"strides" doc:"the steps along each spatial axis; empty means 1"`
	Pads      []int  `attr:"pads" onnx:"pads" doc:"the zeros before each spatial axis, then after each; empty means none"`
	Dilations []int  `attr:"dilations" onnx:"dilations" doc:"the steps from tap to tap; empty means 1"`
	Group     int    `attr:"group" onnx:"group" doc:"the number of groups of channels"`
	AutoPad   string `attr:"auto_pad" onnx:"auto_pad" doc:"NOTSET: as pads says; SAME_UPPER, SAME_LOWER: the result has the size of x over the strides, an odd zero is after or before; VALID: none"`
}

// Spec returns the declaration.
func (Conv) Spec() *spec.Op { return convOp.Op() }

// Gradient declares the gradients, by ConvInputGrad and ConvFilterGrad, and the sum of dy of each channel for the bias.
func (c Conv) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	x, w := t.Shape(t.In(0)), t.Shape(t.In(1))
	pads, err := c.attributes().Padding(x[2:], w[2:])
	if err != nil {
		return // Shape has refused it.
	}
	if t.Needs(0) {
		t.SetGradient(0, t.Call(ConvInputGrad{Size: x[2:], Strides: c.Strides, Pads: pads, Dilations: c.Dilations, Group: c.Group}, dy, t.In(1)))
	}
	if t.Needs(1) {
		t.SetGradient(1, t.Call(ConvFilterGrad{KernelShape: w[2:], Strides: c.Strides, Pads: pads, Dilations: c.Dilations, Group: c.Group}, t.In(0), dy))
	}
	if t.Needs(2) {
		rest, _ := channels(x)
		t.SetGradient(2, t.Call(ReduceSum{Dims: rest}, dy))
	}
}

func (c *Conv) attributes() convolution.Attributes {
	return convolution.Attributes{Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group, AutoPad: c.AutoPad}
}

var convOp = spec.Declaration{Define: func() *spec.Op {
	return convolution.Define(convolution.Convolution[*Conv]{
		Name: "conv", Kind: convolution.Forward, ONNX: []string{"Conv"}, Source: "ONNX Conv",
		Doc: "The convolution of networks over one, two or three axes, with strides, dilations, pads, groups and a bias.",
		In: []spec.Arg{
			{Name: "x", Doc: "[N,C,...]", DTypes: planner.Floats},
			{Name: "w", Doc: "the filter, [K,C/group,...]", DTypes: planner.Floats},
			{Name: "bias", Doc: "[K], 0 if left out", DTypes: planner.Floats, Optional: true},
		},
		Out:        "[N,K,...]",
		Defaults:   &Conv{Group: 1, AutoPad: convolution.NotSet},
		Attributes: (*Conv).attributes,
		Cases: spec.CasesOf[*Conv]{
			Calls: []*Conv{
				{Group: 1, AutoPad: "NOTSET", Pads: []int{1, 1, 1, 1}}, {Group: 3, AutoPad: "NOTSET"},
				{Group: 2, AutoPad: "NOTSET", Strides: []int{2, 3}, Pads: []int{0, 2, 1, 3}, Dilations: []int{1, 2}},
				{Group: 1, AutoPad: "SAME_UPPER", Strides: []int{2}}, {Group: 1, AutoPad: "SAME_LOWER", Dilations: []int{1, 2, 3}},
				{Group: 1, AutoPad: "VALID", Strides: []int{3, 1, 2}}, {Group: 1, AutoPad: "NOTSET", Pads: []int{9, 0}, Dilations: []int{7}},
				{Group: 2, AutoPad: "NOTSET", Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}}, {Group: 1, AutoPad: "NOTSET", Pads: []int{0, 1, 1, 0, 1, 1}},
			},
			Dims: convolution.CaseDims, Sizes: convolution.CaseSizes,
			Inputs: func(c *Conv, d tensor.DType, dims []int) []tensor.Desc {
				x, w, _, bias, ok := convolution.Shapes(c.attributes(), d, dims)
				if !ok {
					return nil
				}
				if dims[0]%2 == 0 {
					return []tensor.Desc{x, w}
				}
				return []tensor.Desc{x, w, bias}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, s := range convolution.BenchSizes {
					x, w, _, bias, pads := convolution.BenchShapes(d, s)
					cases = append(cases, spec.BenchCase{Call: Conv{Group: 1, AutoPad: "NOTSET", Pads: pads}, In: []tensor.Desc{x, w, bias}})
				}
				cases = append(cases, spec.BenchCase{
					Call: Conv{Group: 128, AutoPad: "NOTSET", Pads: []int{1, 1, 1, 1}},
					In:   []tensor.Desc{tensor.Contiguous(d, 1, 128, 112, 112), tensor.Contiguous(d, 128, 1, 3, 3), tensor.Contiguous(d, 128)},
				})
				for _, s := range convolution.GPUBenchSizes {
					x, w, _, bias, pads := convolution.BenchShapes(d, s)
					cases = append(cases, spec.BenchCase{Call: Conv{Group: 1, AutoPad: "NOTSET", Pads: pads}, In: []tensor.Desc{x, w, bias}, GPU: true})
				}
				return cases
			},
			Invalid: []*Conv{
				{Group: -1, AutoPad: "NOTSET"}, {Group: 2, AutoPad: "NOTSET", Strides: []int{0, 1}}, {Group: 1, AutoPad: "NOTSET", Pads: []int{1}},
				{Group: 1, AutoPad: "NOTSET", Pads: []int{-1, 0, 0, 0}}, {Group: 1, AutoPad: "NOTSET", Dilations: []int{1, 1 << 16}},
				{Group: 1, AutoPad: "SAME"}, {Group: 1, AutoPad: "VALID", Pads: []int{1, 1, 1, 1}}, {Group: 1, AutoPad: "NOTSET", Strides: []int{1, 1, 1, 1}},
			},
			Refused: slices.Concat(
				shapes([]int{1, 2}, []int{1, 2}), shapes([]int{1, 2, 3}, []int{1, 2, 3, 3}), shapes([]int{1, 2, 3, 3, 3, 3}, []int{1, 2, 3, 3, 3, 3}),
				shapes([]int{1, 3, 4}, []int{1, 2, 3}), shapes([]int{1, 2, 4}, []int{1, 2, 5}), shapes([]int{1, 2, 0}, []int{1, 2, 0}),
				shapes([]int{1, 2, 4}, []int{3, 2, 3}, []int{2}), shapes([]int{1, 2, 4}, []int{3, 2, 3}, []int{3, 1}),
			),
		},
	})
}}

// shapes returns one list of F32 tensors of the shapes.
func shapes(list ...[]int) [][]tensor.Desc {
	var ds []tensor.Desc
	for _, s := range list {
		ds = append(ds, tensor.Contiguous(tensor.F32, s...))
	}
	return [][]tensor.Desc{ds}
}
