package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/convolution"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ConvTranspose is the transposed convolution: with S the strides, D the dilations and P the pads
// at the beginning of each axis,
//
//	out[n, k, i] = bias[k] + Σ x[n, c, o]·w[c, k, r]
//
// over the channels c of the group of k and all o and r with o·S + r·D − P = i. If no o fits a tap,
// the tap is multiplied by 0. x is [N,C,...] with one, two or three spatial axes, w is
// [C,K/Group,...] and the bias is [K]. Along each axis, the result has (n − 1)·S + (taps − 1)·D + 1 +
// OutputPadding elements less the pads. OutputShape, SAME_UPPER and SAME_LOWER say another size, and
// the pads follow from it: the smaller half is at the beginning with SAME_UPPER, and else at the end. If
// that size is larger than what the taps reach, the bias fills it. Strides and dilations are at most
// 65535.
type ConvTranspose struct {
	Strides       []int  `attr:"strides" onnx:"strides" doc:"the steps of x in the result; empty means 1"`
	Pads          []int  `attr:"pads" onnx:"pads" doc:"the elements left out before each spatial axis, then after each; empty means none"`
	Dilations     []int  `attr:"dilations" onnx:"dilations" doc:"the steps from tap to tap; empty means 1"`
	Group         int    `attr:"group" onnx:"group" doc:"the number of groups of channels"`
	AutoPad       string `attr:"auto_pad" onnx:"auto_pad" doc:"NOTSET: as pads says; SAME_UPPER, SAME_LOWER: the result is as large as x times the strides; VALID: no pads"`
	OutputPadding []int  `attr:"output_padding" onnx:"output_padding" doc:"elements added after each spatial axis, less than its stride or dilation"`
	OutputShape   []int  `attr:"output_shape" onnx:"output_shape" doc:"the spatial sizes of the result, in place of pads"`
}

// Spec returns the declaration.
func (ConvTranspose) Spec() *spec.Op { return convTransposeOp.Op() }

// Gradient declares the gradients: of x by Conv, of w by ConvFilterGrad, and the sum of dy of each channel for the bias.
func (c ConvTranspose) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	x, w, y := t.Shape(t.In(0)), t.Shape(t.In(1)), t.Shape(dy)
	begin, err := c.attributes().TransposedPadding(x[2:], w[2:], c.OutputPadding, c.OutputShape)
	if err != nil {
		return // Shape has refused it.
	}
	if t.Needs(2) {
		rest, _ := channels(y)
		t.SetGradient(2, t.Call(ReduceSum{Dims: rest}, dy))
	}
	if !t.Needs(0) && !t.Needs(1) {
		return
	}
	// What the taps do not reach is cropped, so that a convolution of dy has the size of x.
	pads, crop := slices.Concat(begin, make([]int, len(begin))), make([]int, 2*len(y))
	for d := range begin {
		stride, dilation := 1, 1
		if len(c.Strides) > 0 {
			stride = c.Strides[d]
		}
		if len(c.Dilations) > 0 {
			dilation = c.Dilations[d]
		}
		more := (x[2+d]-1)*stride + (w[2+d]-1)*dilation + 1 - begin[d] - y[2+d]
		pads[len(begin)+d], crop[len(y)+2+d] = max(more, 0), min(more, 0)
	}
	if slices.Min(crop) < 0 {
		dy = t.Call(PadTensor{Pads: crop}, dy)
	}
	if t.Needs(0) {
		t.SetGradient(0, t.Call(Conv{Strides: c.Strides, Pads: pads, Dilations: c.Dilations, Group: c.Group}, dy, t.In(1)))
	}
	if t.Needs(1) {
		t.SetGradient(1, t.Call(ConvFilterGrad{KernelShape: w[2:], Strides: c.Strides, Pads: pads, Dilations: c.Dilations, Group: c.Group}, dy, t.In(0)))
	}
}

func (c *ConvTranspose) attributes() convolution.Attributes {
	return convolution.Attributes{Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group, AutoPad: c.AutoPad}
}

var convTransposeOp = spec.Declaration{Define: func() *spec.Op {
	return convolution.Define(convolution.Convolution[*ConvTranspose]{
		Name: "conv_transpose", Kind: convolution.Transposed, ONNX: []string{"ConvTranspose"}, Source: "ONNX ConvTranspose",
		Doc: "The transposed convolution over one, two or three axes, with strides, dilations, pads, groups and a bias.",
		In: []spec.Arg{
			{Name: "x", Doc: "[N,C,...]", DTypes: planner.Floats},
			{Name: "w", Doc: "the filter, [C,K/group,...]", DTypes: planner.Floats},
			{Name: "bias", Doc: "[K], 0 if left out", DTypes: planner.Floats, Optional: true},
		},
		Out:        "[N,K,...]",
		Defaults:   &ConvTranspose{Group: 1, AutoPad: convolution.NotSet},
		Attributes: (*ConvTranspose).attributes,
		Sizes:      func(c *ConvTranspose) (sizes, padding []int) { return c.OutputShape, c.OutputPadding },
		Cases: spec.CasesOf[*ConvTranspose]{
			Calls: []*ConvTranspose{
				{Group: 1, AutoPad: "NOTSET", Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}, OutputPadding: []int{1, 1}}, {Group: 3, AutoPad: "NOTSET"},
				{Group: 2, AutoPad: "NOTSET", Strides: []int{2, 3}, Pads: []int{0, 1, 1, 0}, Dilations: []int{1, 2}},
				{Group: 1, AutoPad: "SAME_UPPER", Strides: []int{2}}, {Group: 1, AutoPad: "SAME_LOWER", Dilations: []int{1, 2, 3}},
				{Group: 1, AutoPad: "NOTSET", Strides: []int{3, 2}, OutputShape: []int{9, 40}}, {Group: 1, AutoPad: "VALID", Strides: []int{1, 1, 2}},
			},
			Dims: convolution.CaseDims, Sizes: convolution.CaseSizes,
			Inputs: func(c *ConvTranspose, d tensor.DType, dims []int) []tensor.Desc {
				x, w, bias, ok := convolution.TransposedShapes(c.attributes(), c.OutputPadding, c.OutputShape, d, dims)
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
				for _, s := range [][]int{{1, 16, 16, 32}, {1, 64, 32, 56}, {4, 128, 64, 56}} {
					cases = append(cases, spec.BenchCase{
						Call: ConvTranspose{Group: 1, AutoPad: "NOTSET", Strides: []int{2, 2}},
						In:   []tensor.Desc{tensor.Contiguous(d, s[0], s[1], s[3], s[3]), tensor.Contiguous(d, s[1], s[2], 2, 2), tensor.Contiguous(d, s[2])},
					})
				}
				return cases
			},
			Invalid: []*ConvTranspose{
				{Group: -1, AutoPad: "NOTSET"}, {Group: 1, AutoPad: "NOTSET", Strides: []int{0, 1}}, {Group: 1, AutoPad: "NOTSET", Pads: []int{1}},
				{Group: 1, AutoPad: "NOTSET", OutputPadding: []int{1, 1}}, {Group: 1, AutoPad: "NOTSET", OutputShape: []int{1}}, {Group: 1, AutoPad: "SAME"},
				{Group: 1, AutoPad: "NOTSET", OutputShape: []int{0, 4}}, {Group: 1, AutoPad: "NOTSET", Pads: []int{500, 500, 500, 500}},
			},
			Refused: [][]tensor.Desc{
				shapes([]int{1, 2}, []int{2, 2})[0], shapes([]int{1, 2, 3}, []int{2, 2, 3, 3})[0], shapes([]int{1, 3, 4}, []int{2, 2, 3})[0],
				shapes([]int{1, 2, 0}, []int{2, 2, 3})[0], shapes([]int{1, 2, 4}, []int{2, 3, 3}, []int{2})[0],
			},
		},
	})
}}
