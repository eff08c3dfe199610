package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
)

// Softmax divides e^x of each element by the sum of e^x over all elements along a dimension.
// The largest element is subtracted first, so that nothing overflows. Elements of −Inf become
// 0. If all elements along the dimension are −Inf, all become 0. If one of them is +Inf or
// NaN, all become NaN.
type Softmax struct {
	Dim int `attr:"dim,required" onnx:"axis" doc:"the dimension; a negative number counts from the end"`
}

// Spec returns the declaration.
func (Softmax) Spec() *spec.Op { return softmaxOp.Op() }

// Gradient declares the gradient, by SoftmaxGrad.
func (c Softmax) Gradient(t *spec.Tape) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		t.SetGradient(0, t.Call(SoftmaxGrad(c), t.Out(0), dy))
	}
}

var softmaxOp = spec.Declaration{Define: func() *spec.Op {
	return axiswise.Define(axiswise.Softmax(axiswise.AxisOp[*Softmax]{
		Name: "softmax", ONNX: []string{"Softmax"},
		Doc:    "Softmax along a dimension: e^x over the sum of all e^x. Elements of −Inf become 0. If all elements along the dimension are −Inf, all become 0.",
		Source: "Milakov and Gimelshein, Online normalizer calculation for softmax, 2018",
		In:     []spec.Arg{{Name: "in", Doc: "a tensor of any shape but a scalar"}},
		Call:   func(dim int) *Softmax { return &Softmax{dim} },
		Dim:    func(a *Softmax) int { return a.Dim },
		Low:    -8, High: 8, Flops: 5,
	}))
}}
