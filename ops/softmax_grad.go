package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
)

// SoftmaxGrad is the gradient of Softmax, dx = y·(dy − Σ y·dy). The inputs are the result y of
// Softmax and its gradient dy. The sum is over the elements along the dimension.
type SoftmaxGrad struct {
	Dim int `attr:"dim,required" doc:"the dimension; a negative number counts from the end"`
}

// Spec returns the declaration.
func (SoftmaxGrad) Spec() *spec.Op { return softmaxGradOp.Op() }

// Gradient declares the gradients: with d the gradient of the result, y·(d − Σ y·d) of dy, and d·(dy − Σ y·dy) − dy·Σ y·d of y.
func (c SoftmaxGrad) Gradient(t *spec.Tape) {
	d, y, dy := t.Gradient(0), t.In(0), t.In(1)
	if d == spec.NoValue {
		return
	}
	total := func(v spec.Value) spec.Value {
		return t.Call(ReduceSum{Dims: []int{from(c.Dim, len(t.Shape(d)))}, KeepDims: true}, v)
	}
	if t.Needs(0) {
		t.SetGradient(0, difference(t, times(t, d, difference(t, dy, total(times(t, y, dy)))), times(t, dy, total(times(t, y, d)))))
	}
	if t.Needs(1) {
		t.SetGradient(1, t.Call(c, y, d))
	}
}

var softmaxGradOp = spec.Declaration{Define: func() *spec.Op {
	return axiswise.Define(axiswise.SoftmaxGradient(axiswise.AxisOp[*SoftmaxGrad]{
		Name: "softmax_grad",
		Doc:  "The gradient of softmax, y·(dy − Σ y·dy), with the sum along the dimension.",
		In: []spec.Arg{
			{Name: "y", Doc: "the result of softmax, of any shape but a scalar"},
			{Name: "dy", Doc: "the gradient of y, of the same dtype and shape"},
		},
		Call: func(dim int) *SoftmaxGrad { return &SoftmaxGrad{dim} },
		Dim:  func(a *SoftmaxGrad) int { return a.Dim },
		Low:  -1, High: 1, Flops: 4,
	}))
}}
