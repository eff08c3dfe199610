package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
)

// Softmax maps the elements along a dimension to e^x over the sum of all e^x,
// relative to the largest so that nothing overflows. Elements of −Inf become 0,
// and where there are no others all become 0. +Inf and NaN make NaN of all along
// with them.
type Softmax struct {
	Dim int `attr:"dim,required" onnx:"axis" doc:"the dimension, negative from the end"`
}

// Spec returns the declaration.
func (Softmax) Spec() *spec.Op { return softmaxOp }

var softmaxOp = axiswise.Define(axiswise.Softmax(axiswise.AxisOp[Softmax]{
	Name: "softmax", Gradient: "softmax_grad", ONNX: []string{"Softmax"},
	Doc:    "Softmax along a dimension: e^x over the sum of all e^x. Elements of −Inf become 0, and where there are no others all become 0.",
	Source: "Milakov and Gimelshein, Online normalizer calculation for softmax, 2018",
	In:     []spec.Arg{{Name: "in", Doc: "a tensor of any shape but a scalar"}},
	Call:   func(dim int) Softmax { return Softmax{dim} },
	Dim:    func(a Softmax) int { return a.Dim },
	Low:    -8, High: 8, Flops: 5,
}))
