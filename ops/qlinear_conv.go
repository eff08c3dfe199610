package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/convolution"
	"github.com/lathe-gpu/lathe/internal/families/quantisation"
	"github.com/lathe-gpu/lathe/spec"
)

// QLinearConv is the convolution of two quantised tensors, quantised: ConvInteger plus the bias, in integers of 32 bits, which wrap,
// times w_scale and then x_scale in F32, as QuantizeLinear makes integers of it with y_scale and y_zero_point. x, w and the
// result are U8 or I8, each its own. w_scale and w_zero_point are each one number or one for each channel of the result. An
// element sums at most 524288 products.
type QLinearConv struct {
	Strides   []int  `attr:"strides" onnx:"strides" doc:"the steps along each spatial axis; empty means 1"`
	Pads      []int  `attr:"pads" onnx:"pads" doc:"the zeros before each spatial axis, then after each; empty means none"`
	Dilations []int  `attr:"dilations" onnx:"dilations" doc:"the steps from tap to tap; empty means 1"`
	Group     int    `attr:"group" onnx:"group" doc:"the number of groups of channels"`
	AutoPad   string `attr:"auto_pad" onnx:"auto_pad" doc:"NOTSET: as pads says; SAME_UPPER, SAME_LOWER: the result has the size of x over the strides, an odd zero is after or before; VALID: none"`
}

// Spec returns the declaration.
func (QLinearConv) Spec() *spec.Op { return qLinearConvOp.Op() }

func (c *QLinearConv) attributes() convolution.Attributes {
	return convolution.Attributes{Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group, AutoPad: c.AutoPad}
}

var qLinearConvOp = spec.Declaration{Define: func() *spec.Op {
	return quantisation.DefineQuantisedConv(quantisation.Conv[*QLinearConv]{
		Name: "qlinear_conv", ONNX: "QLinearConv",
		Doc:        "The convolution of two quantised tensors with a bias, quantised with a scale and a zero point of its own.",
		Defaults:   &QLinearConv{Group: 1, AutoPad: convolution.NotSet},
		Attributes: (*QLinearConv).attributes,
		Padded:     func(pads []int) *QLinearConv { return &QLinearConv{Group: 1, AutoPad: convolution.NotSet, Pads: pads} },
		Calls: []*QLinearConv{
			{Group: 1, AutoPad: "NOTSET", Pads: []int{1, 1, 1, 1}}, {Group: 3, AutoPad: "NOTSET"},
			{Group: 2, AutoPad: "NOTSET", Strides: []int{2, 3}, Pads: []int{0, 2, 1, 3}, Dilations: []int{1, 2}},
			{Group: 1, AutoPad: "SAME_UPPER", Strides: []int{2}}, {Group: 1, AutoPad: "VALID", Strides: []int{3, 1, 2}},
		},
		Invalid: []*QLinearConv{
			{Group: -1, AutoPad: "NOTSET"}, {Group: 1, AutoPad: "NOTSET", Dilations: []int{1, 1 << 16}}, {Group: 1, AutoPad: "NOTSET", Pads: []int{-1, 0, 0, 0}},
			{Group: 1, AutoPad: "SAME"}, {Group: 1, AutoPad: "VALID", Pads: []int{1, 1, 1, 1}},
		},
	})
}}
