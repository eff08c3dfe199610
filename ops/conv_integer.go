package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/convolution"
	"github.com/lathe-gpu/lathe/internal/families/quantisation"
	"github.com/lathe-gpu/lathe/spec"
)

// ConvInteger is Conv of x − x_zero_point and w − w_zero_point, as I32. x and w are U8 or I8, each its own. x_zero_point is one
// number, and w_zero_point is one number or one for each channel of the result. Elements outside of x count as 0 after the
// subtraction. The result wraps. It is computed in F32, at most 256 products of an element at a time, for which F32 is exact. An
// element sums at most 524288 products.
type ConvInteger struct {
	Strides   []int  `attr:"strides" onnx:"strides" doc:"the steps along each spatial axis; empty means 1"`
	Pads      []int  `attr:"pads" onnx:"pads" doc:"the zeros before each spatial axis, then after each; empty means none"`
	Dilations []int  `attr:"dilations" onnx:"dilations" doc:"the steps from tap to tap; empty means 1"`
	Group     int    `attr:"group" onnx:"group" doc:"the number of groups of channels"`
	AutoPad   string `attr:"auto_pad" onnx:"auto_pad" doc:"NOTSET: as pads says; SAME_UPPER, SAME_LOWER: the result has the size of x over the strides, an odd zero is after or before; VALID: none"`
}

// Spec returns the declaration.
func (ConvInteger) Spec() *spec.Op { return convIntegerOp.Op() }

func (c *ConvInteger) attributes() convolution.Attributes {
	return convolution.Attributes{Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group, AutoPad: c.AutoPad}
}

var convIntegerOp = spec.Declaration{Define: func() *spec.Op {
	return quantisation.DefineConvInteger(quantisation.Conv[*ConvInteger]{
		Name: "conv_integer", ONNX: "ConvInteger",
		Doc:        "The convolution of integers of 8 bits, less their zero points, in integers of 32 bits.",
		Defaults:   &ConvInteger{Group: 1, AutoPad: convolution.NotSet},
		Attributes: (*ConvInteger).attributes,
		Padded:     func(pads []int) *ConvInteger { return &ConvInteger{Group: 1, AutoPad: convolution.NotSet, Pads: pads} },
		Calls: []*ConvInteger{
			{Group: 1, AutoPad: "NOTSET", Pads: []int{1, 1, 1, 1}}, {Group: 3, AutoPad: "NOTSET"},
			{Group: 2, AutoPad: "NOTSET", Strides: []int{2, 3}, Pads: []int{0, 2, 1, 3}, Dilations: []int{1, 2}},
			{Group: 1, AutoPad: "SAME_LOWER", Dilations: []int{1, 2, 3}}, {Group: 1, AutoPad: "NOTSET", Pads: []int{9, 0}, Dilations: []int{7}},
		},
		Invalid: []*ConvInteger{
			{Group: -1, AutoPad: "NOTSET"}, {Group: 1, AutoPad: "NOTSET", Strides: []int{0, 1}}, {Group: 1, AutoPad: "NOTSET", Pads: []int{1}},
			{Group: 1, AutoPad: "SAME"}, {Group: 1, AutoPad: "VALID", Pads: []int{1, 1, 1, 1}},
		},
	})
}}
